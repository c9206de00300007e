package dev.fenceline.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

/**
 * What a transaction of the user's looks at.
 *
 * <p>Above READ COMMITTED that is one snapshot to its end. If it is older than the claim, the row has an older mark there or none, or
 * is not there at all, although the claim is good: the same as if the mark had been lost, and only a new transaction can tell. No SQL
 * compares a snapshot with a commit of another session. But a snapshot is not older than its transaction, whose age the server
 * measures, and this process knows how long ago the claim was acknowledged: two durations, so no clock is compared with another.
 *
 * @param isolation as PostgreSQL names it
 * @param age of the transaction
 */
record RowSnapshot(String isolation, Duration age) {

    private static final String READ = """
            SELECT pg_catalog.current_setting('transaction_isolation'),
                   CAST(EXTRACT(epoch FROM pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) pg_catalog.transaction_timestamp())
                        OPERATOR(pg_catalog.*) 1000000 AS bigint)""";

    static RowSnapshot of(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(READ);
                ResultSet row = statement.executeQuery()) {
            row.next();
            return new RowSnapshot(row.getString(1), Duration.ofNanos(Math.multiplyExact(row.getLong(2), 1000L)));
        }
    }

    /** Whether each statement sees what the others before it saw, and nothing newer. */
    boolean lasts() {
        return isolation.equals("repeatable read") || isolation.equals("serializable");
    }

    /** Whether it may be from before something that was acknowledged so long ago. False only if it certainly is not. */
    boolean mayPrecede(Duration ago) {
        return lasts() && age.compareTo(ago) >= 0;
    }
}
