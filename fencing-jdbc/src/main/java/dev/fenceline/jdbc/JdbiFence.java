package dev.fenceline.jdbc;

import dev.fenceline.FencedLock;
import dev.fenceline.FencedLocks;
import dev.fenceline.FencelineListener;
import dev.fenceline.FencingToken;
import dev.fenceline.UnfencedWriteException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;
import org.jdbi.v3.core.spi.JdbiPlugin;
import org.jdbi.v3.core.statement.Update;
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
 * <p>The handle refuses {@code begin}, {@code commit} and {@code rollback}; savepoints are fine. For code that begins and commits by
 * itself there is {@link #unit(FencedLock)}.
 */
public final class JdbiFence extends GuardFence<Handle> {

    private JdbiFence(ConnectionSource<Handle> source, FenceSettings settings) {
        super(source, settings);
    }

    /**
     * Makes a fence. Installs a plugin, and wraps the transaction handler; both touch only the handles which this fence opens, and take
     * note of the others. Nothing is sent yet.
     *
     * @param jdbi opens connections of the PostgreSQL driver to the primary, outside of any surrounding transaction
     * @return a fence with the defaults
     */
    public static JdbiFence on(Jdbi jdbi) {
        // Idempotent: Jdbi keeps one of each plugin.
        Objects.requireNonNull(jdbi, "jdbi").installPlugin(FenceConnections.PLUGIN);
        JdbiBoundaries.installOn(jdbi);
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
    public JdbiFence isolation(Isolation isolation) {
        return new JdbiFence(source(), settings().withIsolation(isolation));
    }

    @Override
    public JdbiFence concurrent() {
        return new JdbiFence(source(), settings().with(FenceSettings.Choice.CONCURRENT));
    }

    @Override
    public JdbiFence recorded() {
        return new JdbiFence(source(), settings().with(FenceSettings.Choice.RECORDED));
    }

    @Override
    public JdbiFence evictBlockers() {
        return new JdbiFence(source(), settings().with(FenceSettings.Choice.EVICT_BLOCKERS));
    }

    @Override
    public JdbiFence listener(FencelineListener listener) {
        return new JdbiFence(source(), settings().withListener(listener));
    }

    /**
     * Puts a transaction that somebody else manages under the fence: Spring's, a container's, one's own. For whom
     * {@link GuardFence#under} and {@link Claim#inTransaction} are no fit; those do more.
     *
     * <pre>{@code
     * Claim<Handle> claim = fence.claim(lease);
     * jdbi.useTransaction(handle -> {
     *     fence.enter(handle, claim.token());                 // first
     *     ... read, compute, write ...
     * });
     * }</pre>
     *
     * <p>Else as {@link PostgresFence#enter}, which says what is not noticed: reads that a savepoint has undone.
     *
     * @param handle in a transaction that has read and written nothing yet; settings may come before
     * @param token what was claimed, in a transaction of its own before this one began
     * @param more further locks to enter
     * @throws dev.fenceline.StaleTokenException when a newer holder has claimed
     * @throws dev.fenceline.TokenRejectedException when a token was never claimed here
     * @throws dev.fenceline.RetryableConflictException when the transaction lost a race, or waited too long; the claim is still good
     * @throws UnfencedWriteException when the connection is in auto-commit mode or of {@code autosave=always}, when the transaction
     *     has used a table or failed before, or when a savepoint was set before
     * @throws dev.fenceline.BackendMisconfiguredException as when claiming
     * @throws dev.fenceline.BackendUnavailableException when the connection was lost
     * @throws IllegalArgumentException when two tokens are of one lock
     * @throws IllegalStateException when this thread is inside a fenced transaction of the same lock on another connection
     */
    public void enter(Handle handle, FencingToken token, FencingToken... more) {
        JoinedTransaction.enter(source(), settings(), handle.getConnection(), token, more);
    }

    /**
     * Runs one INSERT, UPDATE, DELETE or (from PostgreSQL 17 on) MERGE in one round trip, bound and rendered by Jdbi; else as
     * {@link Claim#update}.
     *
     * <pre>{@code
     * long changed = fence.update(claim, "UPDATE account SET balance = balance - :amount WHERE id = :id", update ->
     *     update.bind("amount", 10).bind("id", 42));
     * }</pre>
     *
     * @param claim a claim of this fence or of another
     * @param sql the statement, as Jdbi's {@code createUpdate} takes it
     * @param binding binds the parameters, and does not execute
     * @return how many rows it changed
     * @throws IllegalArgumentException as {@link Claim#update}, when the rendered statement is none that can be fenced by itself
     * @throws JdbiException Jdbi's own, for a statement that the database refuses
     */
    public long update(Claim<Handle> claim, String sql, Consumer<? super Update> binding) {
        if (claim.settings().isolation().isPresent()) {
            return claim.inTransaction(handle -> (long) execute(handle, sql, binding));
        }
        return claim.single((session, held) -> execute(session.context(), sql, binding));
    }

    private static int execute(Handle handle, String sql, Consumer<? super Update> binding) {
        try (Update update = handle.createUpdate(sql)) {
            binding.accept(update);
            return update.execute();
        }
    }

    /**
     * Joins this fence with a lock, for a unit of work in code that has a handle and begins and ends transactions on it.
     *
     * <pre>{@code
     * fence.unit(locks.fenced(LockName.of("account", 42))).run(handle -> {
     *     Accounts accounts = handle.attach(Accounts.class);      // @Transaction methods, begin and commit: as they are
     *     accounts.save(accounts.find(42).plus(5));
     * });
     * }</pre>
     *
     * <p><b>Guarantees:</b> a unit is one fenced transaction. Those that are begun on its handle, by {@code begin}, {@code inTransaction},
     * {@code @Transaction} or {@code Transactional}, are part of it: they are counted, and nothing is sent where they begin and end. One
     * that is rolled back, that an exception leaves, or that nobody commits undoes the whole, and the unit says so by
     * {@link dev.fenceline.TransactionRolledBackException} even if that exception was swallowed; a savepoint undoes its part alone.
     * Another handle of the same Jdbi, {@code onDemand} too, is refused to the thread of the unit: it would write beside the fence.
     *
     * <p><b>Not guaranteed:</b> anything for handles that other threads open. An inner transaction that is to be read-only is not kept from writing, since what is beside it may write. The transaction handler of the Jdbi is not asked in a
     * unit, except about savepoints.
     *
     * <p><b>Errors:</b> those of {@link Unit#call}, {@link GuardFence#claim} and {@link Claim#inTransaction}. A thread that has a handle
     * of this Jdbi in a transaction is refused before a lock is taken, since what that has read is older than the claim. {@code afterCommit} and
     * {@code afterRollback} are refused: Jdbi runs them at an inner commit. A stricter isolation than the transaction has can be asked for
     * by the first inner transaction only.
     *
     * @param lock the lock that protects what the unit reads and writes
     * @return acquires, claims, runs one transaction, commits and releases
     */
    public Unit<Handle> unit(FencedLock lock) {
        return new Unit<>(new JoinedUnits(this), Locking.of(lock), Optional.empty());
    }

    /**
     * Joins this fence with several locks, for a unit of work: a transfer between two accounts. Else as {@link #unit(FencedLock)}.
     *
     * @param locks the locks that protect what the unit reads and writes
     * @return acquires all, claims all, runs one transaction, commits and releases
     */
    public Unit<Handle> unit(FencedLocks locks) {
        return new Unit<>(new JoinedUnits(this), Locking.of(locks), Optional.empty());
    }

    /**
     * Returns the claim of the unit that this thread is in, over the Jdbi of this fence.
     *
     * @return empty outside of units, and on threads that a unit has started
     */
    public Optional<Claim<Handle>> current() {
        return JoinedUnits.open(source().origin()).map(JoinedUnits.Open::claim);
    }

    /**
     * Returns the handle of the unit that this thread is in, over the Jdbi of this fence: for code deep inside that was not given it.
     *
     * @return empty outside of units, and on threads that a unit has started
     */
    public Optional<Handle> handle() {
        return JoinedUnits.open(source().origin()).map(OpenUnit::context);
    }

    /**
     * Returns the Jdbi that this fence was made on. Handles that it opens itself are not fenced.
     *
     * @return the Jdbi
     */
    public Jdbi jdbi() {
        return (Jdbi) source().origin();
    }

    /** The guard of whoever is opening this very handle for a fence. */
    static Optional<TransactionGuard> opening(Handle handle) {
        return Optional.ofNullable(FenceConnections.OPENING.get())
                .map(opening -> opening.guard)
                .filter(guard -> GuardedConnection.isGuardedBy(handle.getConnection(), guard));
    }

    private record FromJdbi(Jdbi jdbi) implements ConnectionSource<Handle> {

        @Override
        public Session<Handle> open(TransactionGuard guard) throws SQLException {
            Opening opening = new Opening(guard);
            Handle handle;
            // Again, since the user may have set a handler meanwhile.
            JdbiBoundaries.installOn(jdbi);
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
        public Connection connection(Handle context) {
            return context.getConnection();
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

        boolean isTaken() {
            return raw != null;
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
            // The first connection only: a plugin may open further handles on this thread before ours has come out.
            return opening == null || opening.isTaken() ? connection : opening.guarded(connection);
        }
    }
}
