package dev.fenceline.migrations;

import java.time.Instant;
import java.util.Optional;

/**
 * A session that keeps a claim of a lock waiting: it works under the mark, or stands before us in the queue for it.
 *
 * <p>What PostgreSQL shows of other roles' sessions to members of {@code pg_read_all_stats} alone is empty for everybody else.
 *
 * <p><b>Thread-safety:</b> immutable.
 *
 * @param pid the process of the session on the server, for {@code pg_terminate_backend}
 * @param application its application_name; may be empty
 * @param state what it does, as {@code idle in transaction}
 * @param transactionSince when its transaction began
 * @param stateSince since when it is in that state
 * @param queryStart when its last statement began
 */
public record Blocker(
        int pid,
        String application,
        Optional<String> state,
        Optional<Instant> transactionSince,
        Optional<Instant> stateSince,
        Optional<Instant> queryStart) {

    /** Returns one line for people. */
    @Override
    public String toString() {
        return "pid " + pid + " (application '" + application + "'"
                + state.map(text -> ", " + text)
                        .orElse("; its state and times are shown to members of pg_read_all_stats alone")
                + stateSince.map(at -> " since " + at).orElse("")
                + transactionSince.map(at -> ", in a transaction since " + at).orElse("") + ")";
    }
}
