package dev.fenceline.jdbc;

import dev.fenceline.FencelineListener;
import dev.fenceline.UnfencedWriteException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;
import org.jdbi.v3.core.spi.JdbiPlugin;
import org.jspecify.annotations.Nullable;

/**
 * The fence in PostgreSQL for Jdbi: work gets a {@link Handle} with all plugins and settings of its {@link Jdbi}. Make one per
 * Jdbi and keep it.
 *
 * <pre>{@code
 * JdbiFence fence = JdbiFence.on(jdbi);
 * fence.under(locks.fenced(LockName.of("account", 42))).run(handle ->
 *     handle.execute("UPDATE account SET balance = balance + ? WHERE id = ?", amount, 42));
 * }</pre>
 *
 * <p>The handle refuses {@code begin}, {@code commit} and {@code rollback}; savepoints are fine.
 */
public final class JdbiFence extends GuardFence<Handle> {

    private JdbiFence(ConnectionSource<Handle> source, FenceSettings settings) {
        super(source, settings);
    }

    /**
     * Makes a fence. Installs a plugin that touches only the handles which this fence opens; nothing is sent yet.
     *
     * @param jdbi opens connections of the PostgreSQL driver to the primary, outside of any surrounding transaction
     * @return a fence with the defaults
     */
    public static JdbiFence on(Jdbi jdbi) {
        // Idempotent: Jdbi keeps one of each plugin.
        Objects.requireNonNull(jdbi, "jdbi").installPlugin(FenceConnections.PLUGIN);
        return new JdbiFence(new FromJdbi(jdbi), FenceSettings.defaults());
    }

    @Override
    public JdbiFence claimTimeout(Duration timeout) {
        return new JdbiFence(source(), settings().withClaimTimeout(timeout));
    }

    @Override
    public JdbiFence transactionTimeout(Duration timeout) {
        return new JdbiFence(source(), settings().withTransactionTimeout(timeout));
    }

    @Override
    public JdbiFence listener(FencelineListener listener) {
        return new JdbiFence(source(), settings().withListener(listener));
    }

    private record FromJdbi(Jdbi jdbi) implements ConnectionSource<Handle> {

        @Override
        public Session<Handle> open(TransactionGuard guard) throws SQLException {
            Opening opening = new Opening(guard);
            Handle handle;
            FenceConnections.OPENING.set(opening);
            try {
                handle = jdbi.open();
            } catch (JdbiException e) {
                throw e.getCause() instanceof SQLException cause ? cause : new SQLException(e.getMessage(), e);
            } finally {
                FenceConnections.OPENING.remove();
            }
            if (!GuardedConnection.isGuardedBy(handle.getConnection(), guard)) {
                try {
                    handle.close();
                } finally {
                    // Where the handle was exchanged, nobody else gives this one back.
                    opening.raw().close();
                }
                throw new UnfencedWriteException(
                        "A handle of Jdbi refused: its connection is not the one that this fence guards, so what is written"
                                + " with it would be written without the fence. A plugin has exchanged the handle or its"
                                + " connection, or opened another handle first: let it wrap what it is given, and open"
                                + " others later.",
                        null);
            }
            return Session.of(opening.raw(), handle, () -> {
                guard.returning();
                try {
                    handle.close();
                } finally {
                    guard.end();
                }
            });
        }

        @Override
        public Object origin() {
            return jdbi;
        }

        @Override
        public Optional<SQLException> driverFailure(Throwable escaped) {
            return escaped instanceof JdbiException && escaped.getCause() instanceof SQLException failure
                    ? Optional.of(failure)
                    : Optional.empty();
        }
    }

    /** A handle that is being opened for a fence, and the connection below it. */
    private static final class Opening {

        private final TransactionGuard guard;
        private @Nullable Connection raw;

        Opening(TransactionGuard guard) {
            this.guard = guard;
        }

        Connection guarded(Connection connection) {
            raw = connection;
            return GuardedConnection.around(connection, guard);
        }

        Connection raw() {
            return Objects.requireNonNull(raw, "Jdbi opened a handle without asking its plugins");
        }
    }

    /** Guards a connection only while a fence opens a handle on this thread. */
    private static final class FenceConnections implements JdbiPlugin {

        static final FenceConnections PLUGIN = new FenceConnections();
        static final ThreadLocal<Opening> OPENING = new ThreadLocal<>();

        @Override
        public Connection customizeConnection(Connection connection) {
            Opening opening = OPENING.get();
            if (opening == null) {
                return connection;
            }
            // The first connection only: a plugin may open further handles on this thread before ours has come out.
            OPENING.remove();
            return opening.guarded(connection);
        }
    }
}
