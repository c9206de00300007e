package dev.fenceline.jdbc;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineException;
import dev.fenceline.LockName;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.UnfencedWriteException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Says in our words what PostgreSQL said, for failures after which nothing has happened. */
final class Refusals {

    private Refusals() {}

    static String resource(LockName lock) {
        return "PostgreSQL guard '" + lock + "'";
    }

    /** No session could be opened. */
    static FencelineException notOpened(String step, String resource, SQLException e) {
        if (SqlFailure.isBadCredentials(e)) {
            return new BackendMisconfiguredException(
                    step + " on " + resource + " failed: PostgreSQL refuses the connection: " + SqlFailure.text(e)
                            + ". Check the user and the password of the data source.",
                    e);
        }
        if (SqlFailure.isNoDatabase(e)) {
            return new BackendMisconfiguredException(
                    step + " on " + resource + " failed: " + SqlFailure.text(e)
                            + ". Check the database name of the data source.",
                    e);
        }
        return new BackendUnavailableException(
                step + " on " + resource + " failed, no connection: " + SqlFailure.text(e)
                        + ". Check that the server runs and is reachable from here, then try again.",
                e);
    }

    /** The server refused the step itself. */
    static FencelineException refused(String step, String resource, SQLException e, Connection connection) {
        return misconfigured(step, resource, e, connection)
                .<FencelineException>map(found -> found)
                .orElseGet(() -> new BackendUnavailableException(
                        step + " on " + resource + " failed: " + SqlFailure.text(e) + ". Nothing happened; try again.",
                        e));
    }

    /** The session ended while the step was under way. */
    static BackendUnavailableException lost(String step, String resource, String consequence, Throwable cause) {
        return new BackendUnavailableException(
                step + " on " + resource + " failed, the connection was lost: " + SqlFailure.text(cause) + ". "
                        + consequence + timeoutRemedy(cause),
                cause);
    }

    /** A timeout that we set ourselves strikes again when the same work is run again. */
    private static String timeoutRemedy(Throwable cause) {
        if (SqlFailure.has(cause, SqlFailure.IDLE_TIMEOUT)) {
            return " The work left the connection idle for longer than was left of the lease when it began: do what is slow"
                    + " outside of the transaction, or set a longer lease (LockOptions.lease).";
        }
        if (SqlFailure.has(cause, SqlFailure.TRANSACTION_TIMEOUT)) {
            return " The transaction lasted longer than the fence allows: make it shorter, or set transactionTimeout.";
        }
        return "";
    }

    static RetryableConflictException conflict(String step, String resource, String why, Throwable cause) {
        return new RetryableConflictException(
                step + " on " + resource + " rolled back: " + why
                        + ". The claim is still good; run a new transaction under it, from its first read on.",
                cause);
    }

    /** A protected table refused a write that was under another lock than its own. */
    static UnfencedWriteException unfenced(String step, String resource, Throwable cause) {
        return new UnfencedWriteException(
                step + " on " + resource + " rolled back: " + SqlFailure.text(cause)
                        + ". Nothing of it happened. Take the lock of every row that the work writes (fencedAll for several).",
                cause);
    }

    private static Optional<BackendMisconfiguredException> misconfigured(
            String step, String resource, SQLException e, Connection connection) {
        String remedy = remedy(e, connection);
        return remedy == null
                ? Optional.empty()
                : Optional.of(new BackendMisconfiguredException(
                        step + " on " + resource + " refused: " + SqlFailure.text(e) + ". " + remedy, e));
    }

    private static @Nullable String remedy(SQLException e, Connection connection) {
        if (SqlFailure.isNoSchema(e)) {
            return schemaRemedy(connection);
        }
        if (SqlFailure.isNoRight(e)) {
            String role = role(connection);
            return "The role '" + role + "' may not use the fence schema; run FenceMigrations.on(owner).grantTo(\""
                    + role + "\") as the owner of the schema.";
        }
        if (SqlFailure.has(e, SqlFailure.STANDBY)) {
            return "A standby lags behind, and its marks with it; connect to the primary (targetServerType=primary).";
        }
        if (SqlFailure.has(e, SqlFailure.ASYNCHRONOUS_COMMIT)) {
            return "Set synchronous_commit = on for this role or database.";
        }
        if (SqlFailure.isReadOnly(e)) {
            return "The session is read-only; set default_transaction_read_only = off for this role, and readOnly=false in"
                    + " the data source.";
        }
        return null;
    }

    private static String schemaRemedy(Connection connection) {
        String install = "run FenceMigrations.on(owner).install() of this release once";
        try {
            // The statement before has failed; a transaction that it left aborted would answer nothing.
            if (!connection.getAutoCommit()) {
                connection.rollback();
            }
            return GuardSql.installedVersion(connection)
                    .map(version -> "The fence schema of this database has version " + version
                            + ", and this release calls version " + GuardSql.VERSION + "; " + install + ".")
                    .orElse("This database has no fence schema; " + install + ".");
        } catch (SQLException unanswered) {
            return "The fence schema is missing or of another version; " + install + ".";
        }
    }

    private static String role(Connection connection) {
        try {
            return connection.getMetaData().getUserName();
        } catch (SQLException unanswered) {
            return "of this connection";
        }
    }
}
