package dev.fenceline.jdbc;

import java.sql.SQLException;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** How a connection answers that can be used no more: quietly to those who tidy up, as frameworks do after a failure. */
final class EndedConnection {

    // Of the connection, and with nothing to answer.
    private static final Set<String> TIDYING = Set.of(
            "setReadOnly",
            "setTransactionIsolation",
            "setHoldability",
            "setNetworkTimeout",
            "clearWarnings",
            "getWarnings");
    private static final Set<String> ENDING = Set.of("setAutoCommit", "rollback", "abort");

    private EndedConnection() {}

    /** Tells whether a call only tidies up, in whatever state. */
    static boolean isQuiet(JdbcCall call) {
        return call.name().equals("close") || (call.isOfConnection() && TIDYING.contains(call.name()));
    }

    /**
     * Answers a call.
     *
     * @param why what to throw where it was not closed by its user
     */
    static @Nullable Object answer(JdbcCall call, boolean autoCommit, Optional<? extends RuntimeException> why)
            throws SQLException {
        if (isQuiet(call) || (call.isOfConnection() && ENDING.contains(call.name()))) {
            return null;
        }
        return switch (call.name()) {
            case "isClosed" -> true;
            case "isValid" -> false;
            case "getAutoCommit" -> autoCommit;
            default -> {
                if (why.isPresent()) {
                    throw why.get();
                }
                throw new SQLException("This connection has been closed.", "08003");
            }
        };
    }
}
