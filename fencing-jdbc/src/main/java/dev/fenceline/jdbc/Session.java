package dev.fenceline.jdbc;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.UnfencedWriteException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.postgresql.PGConnection;
import org.postgresql.core.TransactionState;
import org.postgresql.jdbc.AutoSave;
import org.postgresql.jdbc.PgConnection;

/**
 * A connection on loan, given back as it came.
 *
 * @param <C> what work is given
 */
final class Session<C> implements AutoCloseable {

    /** Gives a connection back. */
    interface Return {
        void run() throws Exception;
    }

    /** Undoes what work has changed on a connection, when no transaction is open any more. */
    interface Restoring {
        void restore(Connection connection) throws SQLException;
    }

    private final Connection connection;
    private final C context;
    private final Return giveBack;
    private final boolean autoCommit;
    private Restoring restoring = unchanged -> {};
    private int firstNetworkTimeoutMillis = -1;
    private int networkTimeoutMillis;
    private boolean limited;
    private volatile boolean closed;

    private Session(Connection connection, C context, boolean autoCommit, Return giveBack) {
        this.connection = connection;
        this.context = context;
        this.autoCommit = autoCommit;
        this.giveBack = giveBack;
    }

    /** Takes the loan, or gives it back at once if it is of no use. */
    static <C> Session<C> of(Connection connection, C context, Return giveBack) throws SQLException {
        try {
            requireDriver(connection);
            requireConformingStrings(connection);
            TransactionState state = transactionState(connection);
            if (state != TransactionState.IDLE) {
                throw new UnfencedWriteException(
                        "A connection with a transaction already " + state
                                + " refused: what it has read may be older than"
                                + " the claim, and the claim could not commit by itself. Give the fence a data source"
                                + " outside of the surrounding transaction.",
                        null);
            }
            return new Session<>(connection, context, connection.getAutoCommit(), giveBack);
        } catch (SQLException | RuntimeException e) {
            try {
                giveBack.run();
            } catch (Exception onReturn) {
                e.addSuppressed(onReturn);
            }
            throw e;
        }
    }

    static void requireDriver(Connection connection) throws SQLException {
        if (!connection.isWrapperFor(PgConnection.class)) {
            throw new BackendMisconfiguredException(
                    "A connection of " + connection.getMetaData().getDriverName()
                            + " refused: this fence knows the PostgreSQL JDBC driver only. Give it a data source of"
                            + " org.postgresql, pooled or not.",
                    null);
        }
    }

    /**
     * Refuses a session in which a backslash can hide the end of quoted text: what statements do is read from their text here, and would
     * be read differently by the server. Known without asking it.
     */
    static void requireConformingStrings(Connection connection) throws SQLException {
        if (!connection.unwrap(PgConnection.class).getStandardConformingStrings()) {
            throw new BackendMisconfiguredException(
                    "A session with standard_conforming_strings = off refused: a backslash could hide the end of quoted text, and"
                            + " with it what a statement does. Set it on for this role or database, and write E'…' where a"
                            + " backslash is meant.",
                    null);
        }
    }

    /** Tells, without asking the server, what it said last about the transaction. */
    static TransactionState transactionState(Connection connection) throws SQLException {
        return connection.unwrap(PgConnection.class).getTransactionState();
    }

    /** Tells whether the driver is in auto-commit mode, whatever a pool believes that set it otherwise. */
    static boolean commitsByItself(Connection connection) throws SQLException {
        return connection.unwrap(PgConnection.class).getAutoCommit();
    }

    /** Tells whether the driver goes on after a failed statement as if it had never been sent. */
    static boolean rollsBackEachFailure(Connection connection) throws SQLException {
        return connection.unwrap(PGConnection.class).getAutosave() == AutoSave.ALWAYS;
    }

    /** Tells whether the session has ended, whatever the wrapper of a pool says. */
    static boolean isGone(Connection connection) {
        try {
            return connection.isClosed()
                    || connection.unwrap(PgConnection.class).isClosed();
        } catch (SQLException taken) {
            // A pool takes a broken connection away, and its wrapper leads nowhere.
            return true;
        }
    }

    /** Tells whether the session goes on, and no transaction is open in it. */
    static boolean isIdle(Connection connection) {
        try {
            return !isGone(connection) && transactionState(connection) == TransactionState.IDLE;
        } catch (SQLException taken) {
            return false;
        }
    }

    Connection connection() {
        return connection;
    }

    C context() {
        return context;
    }

    /** Has something undone at the end that this session does not know of. */
    void restoreWith(Restoring next) {
        restoring = next;
    }

    /** Has the network's bound restored at the end also where the work sets one before we do. */
    void keepNetwork() throws SQLException {
        firstNetworkTimeoutMillis = connection.getNetworkTimeout();
    }

    /** Bounds each wait for the network from now on, since a server may be silent and not gone. */
    void limitNetwork(Duration limit) throws SQLException {
        if (!limited) {
            networkTimeoutMillis = connection.getNetworkTimeout();
            limited = true;
            if (firstNetworkTimeoutMillis < 0) {
                firstNetworkTimeoutMillis = networkTimeoutMillis;
            }
        }
        connection.setNetworkTimeout(Runnable::run, GuardSql.millis(limit));
    }

    /** Takes the bound away again, for what is not ours to limit. */
    void restoreNetwork() throws SQLException {
        if (limited) {
            limited = false;
            connection.setNetworkTimeout(Runnable::run, networkTimeoutMillis);
        }
    }

    /** Tells whether the connection was given back. */
    boolean isOver() {
        return closed;
    }

    /** Rolls back what is open, restores what was changed, and gives the connection back. Idempotent; never throws. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        try {
            if (!connection.isClosed()) {
                restore();
            }
        } catch (SQLException broken) {
            // What became of the work is decided already and must not be hidden by this. The pool finds out by itself.
        }
        try {
            giveBack.run();
        } catch (Exception broken) {
            // Likewise.
        }
    }

    private void restore() throws SQLException {
        try {
            if (!connection.getAutoCommit()) {
                connection.rollback();
            }
            restoring.restore(connection);
            connection.setAutoCommit(autoCommit);
        } finally {
            if (firstNetworkTimeoutMillis >= 0) {
                connection.setNetworkTimeout(Runnable::run, firstNetworkTimeoutMillis);
            }
        }
    }
}
