package dev.fenceline.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/** Reads what an {@link SQLException} says about the fate of its transaction. */
final class SqlFailure {

    static final String NOT_THE_MARK = "FL001";
    static final String STANDBY = "FL002";
    static final String ASYNCHRONOUS_COMMIT = "FL003";
    static final String FAR_FUTURE = "FL004";
    static final String OTHER_TRANSACTION = "FL006";
    static final String TOO_LATE = "FL007";
    static final String ENTERED_TOO_LATE = "FL010";
    static final String LOCK_TIMEOUT = "55P03";
    static final String IDLE_TIMEOUT = "25P03";
    static final String TRANSACTION_TIMEOUT = "25P04";

    private static final String QUERY_CANCELED = "57014";
    private static final String READ_ONLY = "25006";
    private static final String NO_RIGHT = "42501";

    // Serialization failure, deadlock, lock timeout: a new transaction may well succeed.
    private static final Set<String> RETRYABLE = Set.of("40001", "40P01", LOCK_TIMEOUT);
    // Schema, function and table not found.
    private static final Set<String> NO_SCHEMA = Set.of("3F000", "42883", "42P01");

    private SqlFailure() {}

    /** Pools wrap what the driver said, sometimes without its state. */
    static String state(@Nullable Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException sql && sql.getSQLState() != null) {
                return sql.getSQLState();
            }
        }
        return "";
    }

    static boolean has(@Nullable Throwable failure, String state) {
        return state(failure).equals(state);
    }

    /**
     * The session is gone, and with it whatever was not committed. After FATAL the server closes the connection, which the driver
     * notices before it throws. A server's ERROR of class 08 is about another connection (dblink, postgres_fdw), and the words
     * for a severity depend on lc_messages.
     */
    static boolean isConnectionLost(Throwable failure, Connection connection) {
        return Session.isGone(connection)
                || (state(failure).startsWith("08") && serverMessage(failure).isEmpty());
    }

    static boolean isRetryable(Throwable failure) {
        return RETRYABLE.contains(state(failure));
    }

    /** Waited longer than the session allows, be it for a lock or for the whole statement. */
    static boolean isTimeout(Throwable failure) {
        return has(failure, LOCK_TIMEOUT) || has(failure, QUERY_CANCELED);
    }

    static boolean isNoSchema(Throwable failure) {
        return NO_SCHEMA.contains(state(failure));
    }

    static boolean isNoRight(Throwable failure) {
        return has(failure, NO_RIGHT);
    }

    static boolean isReadOnly(Throwable failure) {
        return has(failure, READ_ONLY);
    }

    static boolean isBadCredentials(Throwable failure) {
        return state(failure).startsWith("28");
    }

    static boolean isNoDatabase(Throwable failure) {
        return has(failure, "3D000");
    }

    /**
     * The server itself answered that it refuses, and the session goes on. Anything else after a COMMIT was sent leaves its
     * fate open: the answer may have been lost on its way, or a shutdown may have come before or after the commit.
     */
    static boolean isRefusal(SQLException failure, Connection connection) {
        return serverMessage(failure).isPresent() && !state(failure).isEmpty() && Session.isIdle(connection);
    }

    static Optional<String> detail(SQLException failure) {
        return serverMessage(failure).map(ServerErrorMessage::getDetail);
    }

    /** Tells whether the server was inside of a function when it failed. */
    static boolean isWithin(SQLException failure, String function) {
        return serverMessage(failure)
                .map(ServerErrorMessage::getWhere)
                .filter(where -> where.contains(function))
                .isPresent();
    }

    /** Tells whether the trigger of a protected table refused; what else refuses a mark names no table in its fields. */
    static boolean isOfProtection(SQLException failure) {
        return has(failure, NOT_THE_MARK)
                && serverMessage(failure).map(ServerErrorMessage::getTable).isPresent();
    }

    /** Returns the name of the constraint, or of the unique index, that was violated. */
    static Optional<String> constraint(SQLException failure) {
        return serverMessage(failure).map(ServerErrorMessage::getConstraint);
    }

    /** What was said, without the stack of HINT, DETAIL and position lines. */
    static String text(Throwable failure) {
        String first = Objects.requireNonNullElse(failure.getMessage(), failure.toString())
                .lines()
                .findFirst()
                .orElse("");
        String state = state(failure);
        return state.isEmpty() ? first : first + " (SQLSTATE " + state + ")";
    }

    private static Optional<ServerErrorMessage> serverMessage(@Nullable Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof PSQLException said) {
                return Optional.ofNullable(said.getServerErrorMessage());
            }
        }
        return Optional.empty();
    }
}
