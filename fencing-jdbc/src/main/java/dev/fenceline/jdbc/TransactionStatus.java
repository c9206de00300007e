package dev.fenceline.jdbc;

import java.util.Locale;

/** What PostgreSQL knows of the transaction that entered. */
enum TransactionStatus {
    /** It is the one that is open on this connection. */
    OPEN,
    /** Its session has not ended it yet. */
    IN_PROGRESS,
    /** It is committed. */
    COMMITTED,
    /** It is rolled back. */
    ABORTED,
    /** It waits for COMMIT PREPARED, from any session. */
    PREPARED,
    /** It is so old that nobody knows any more. */
    TOO_OLD;

    static TransactionStatus of(String text) {
        return valueOf(text.toUpperCase(Locale.ROOT).replace(' ', '_'));
    }
}
