package dev.fenceline.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.sql.DataSource;
import org.postgresql.PGConnection;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The two sessions of the matrix, on a few connections that stay open, and who watches them. What is awaited is that one session
 * waits for the other, as the server itself tells it.
 */
final class MatrixStage implements AutoCloseable {

    /** Whose connection it is; the rival's first, since the other may still wait for it. */
    enum Side {
        RIVAL,
        SUBJECT
    }

    /**
     * A connection of one side.
     *
     * @param source always hands out the same connection
     * @param pid of its server process
     */
    record Link(Connection connection, DataSource source, int pid) {

        static Link on(Connection connection) throws SQLException {
            return new Link(
                    connection,
                    new BoundSource(connection).source(),
                    connection.unwrap(PGConnection.class).getBackendPID());
        }
    }

    /**
     * What the session under test does in its own thread.
     *
     * @param <T> what it has in the end
     */
    final class Attempt<T> {

        private final Future<T> running;
        private final Link subject;

        private Attempt(Future<T> running, Link subject) {
            this.running = running;
            this.subject = subject;
        }

        /** Returns when the subject waits for the rival and for nobody else. */
        void awaitBlockedBy(Link rival) throws SQLException {
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (!isBlocked(subject, rival)) {
                if (running.isDone()) {
                    throw new AssertionError("The session under test was to wait, and " + ending());
                }
                if (System.nanoTime() - deadline > 0) {
                    throw new AssertionError(
                            "Within 20 s it did not come true that the session under test waits for its rival");
                }
                Thread.onSpinWait();
            }
        }

        T result() throws Exception {
            try {
                return running.get(20, TimeUnit.SECONDS);
            } catch (ExecutionException e) {
                if (e.getCause() instanceof Exception said) {
                    throw said;
                }
                throw e;
            } catch (TimeoutException e) {
                throw new AssertionError("The session under test did not end within 20 s", e);
            }
        }

        private String ending() {
            try {
                return "ended with " + running.get(20, TimeUnit.SECONDS);
            } catch (ExecutionException e) {
                return "failed with " + e.getCause();
            } catch (InterruptedException | TimeoutException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private final TestDatabase database;
    private final Map<Side, Map<Isolation, Link>> links = new EnumMap<>(Side.class);
    private final Connection observer;
    private final PreparedStatement blocked;
    private final ExecutorService thread = Executors.newSingleThreadExecutor();

    MatrixStage(TestDatabase database) throws SQLException {
        this.database = database;
        for (Side side : Side.values()) {
            Map<Isolation, Link> levels = new EnumMap<>(Isolation.class);
            for (Isolation isolation : Isolation.values()) {
                levels.put(isolation, Link.on(source(side, isolation).getConnection()));
            }
            links.put(side, levels);
        }
        observer = database.sourceNamed("matrix-observer").getConnection();
        blocked = observer.prepareStatement("SELECT pg_blocking_pids(?) = ARRAY[?]");
    }

    /** Opens a connection beside the shared ones, for what would spoil them. */
    PGSimpleDataSource source(Side side, Isolation isolation) {
        PGSimpleDataSource source = database.sourceNamed("matrix-" + side);
        source.setOptions("-c default_transaction_isolation="
                + isolation.sql().toLowerCase(Locale.ROOT).replace(" ", "\\ "));
        return source;
    }

    Link link(Side side, Isolation isolation) {
        return links.get(side).get(isolation);
    }

    /** Reads what is committed. */
    Connection observer() {
        return observer;
    }

    <T> Attempt<T> start(Link subject, Callable<T> steps) {
        return new Attempt<>(thread.submit(steps), subject);
    }

    /** Ends whatever a session that failed has left open. */
    void reset() throws SQLException {
        for (Map<Isolation, Link> levels : links.values()) {
            for (Link link : levels.values()) {
                if (!link.connection().getAutoCommit()) {
                    link.connection().rollback();
                    link.connection().setAutoCommit(true);
                }
            }
        }
    }

    private boolean isBlocked(Link subject, Link rival) throws SQLException {
        blocked.setInt(1, subject.pid());
        blocked.setInt(2, rival.pid());
        try (ResultSet row = blocked.executeQuery()) {
            row.next();
            return row.getBoolean(1);
        }
    }

    @Override
    public void close() throws SQLException {
        thread.shutdownNow();
        for (Map<Isolation, Link> levels : links.values()) {
            for (Link link : levels.values()) {
                link.connection().close();
            }
        }
        observer.close();
    }
}
