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
import javax.sql.DataSource;

/**
 * The fence in PostgreSQL for plain JDBC. Make one per data source and keep it.
 *
 * <pre>{@code
 * PostgresFence fence = PostgresFence.on(dataSource);
 * fence.under(locks.fenced(LockName.of("account", 42))).run(connection -> {
 *     // read, compute, write
 * });
 * }</pre>
 */
public final class PostgresFence extends GuardFence<Connection> {

    private PostgresFence(ConnectionSource<Connection> source, FenceSettings settings) {
        super(source, settings);
    }

    /**
     * Makes a fence. The schema is installed by the module {@code fenceline-migrations}; nothing is sent yet.
     *
     * @param dataSource hands out connections of the PostgreSQL driver to the primary, pooled or not, outside of any surrounding
     *     transaction
     * @return a fence with the defaults
     */
    public static PostgresFence on(DataSource dataSource) {
        DataSource given = Objects.requireNonNull(dataSource, "dataSource");
        // The fence's own transactions are never a unit's.
        DataSource origin = given instanceof FencedDataSource fenced ? fenced.origin() : given;
        return new PostgresFence(new FromDataSource(origin), FenceSettings.defaults());
    }

    @Override
    public PostgresFence claimTimeout(Duration timeout) {
        return new PostgresFence(source(), settings().withClaimTimeout(timeout));
    }

    @Override
    public PostgresFence transactionTimeout(Duration timeout) {
        return new PostgresFence(source(), settings().withTransactionTimeout(timeout));
    }

    @Override
    public PostgresFence isolation(Isolation isolation) {
        return new PostgresFence(source(), settings().withIsolation(isolation));
    }

    @Override
    public PostgresFence concurrent() {
        return new PostgresFence(source(), settings().with(FenceSettings.Choice.CONCURRENT));
    }

    @Override
    public PostgresFence recorded() {
        return new PostgresFence(source(), settings().with(FenceSettings.Choice.RECORDED));
    }

    @Override
    public PostgresFence evictBlockers() {
        return new PostgresFence(source(), settings().with(FenceSettings.Choice.EVICT_BLOCKERS));
    }

    @Override
    public PostgresFence listener(FencelineListener listener) {
        return new PostgresFence(source(), settings().withListener(listener));
    }

    /**
     * Puts a transaction that somebody else manages under the fence: Spring's, a container's, one's own. For whom
     * {@link GuardFence#under} and {@link Claim#inTransaction} are no fit; those do more.
     *
     * <pre>{@code
     * Claim<Connection> claim = fence.claim(lease);
     * transactions.execute(status -> {                        // some framework's
     *     fence.enter(connection, claim.token());             // first
     *     ... read, compute, write ...
     * });
     * }</pre>
     *
     * <p><b>Guarantees:</b> when this returns, each mark equals its token and stays so until the transaction ends; nobody can claim
     * in between. Protected tables ({@code fenceline.protect}) then accept writes to the rows of these locks. Several locks are
     * entered in one order and one statement. A refusal leaves the transaction failed, so that who swallows it writes nothing; only
     * in auto-commit mode and with the driver's {@code autosave=always} there is none that could fail.
     *
     * <p><b>Not guaranteed:</b> what a fenced unit looks at when it ends. A statement that fails and whose exception is swallowed
     * makes the commit roll everything back, and the driver does not say so. A commit whose answer is lost is not settled. After
     * a commit or rollback in the middle, the rest is unfenced, and only protected tables refuse it. Rolling back to a savepoint is
     * fine if it was set after entering. A table that was read before is noticed by the lock that reading it left, and a rollback to a
     * savepoint gives that back: what was read inside may be older than the claim and is not noticed. {@link #isolation} and {@link #concurrent} are for units: this transaction has the level that
     * it was given, and keeps others of its claim out.
     *
     * <p><b>Blocking:</b> waits for another transaction under the same lock, 10 s at most. Until it ends, the transaction keeps
     * shorter timeouts: 10 s for each lock that it waits for and for lying idle, and {@link #transactionTimeout} in all.
     *
     * @param connection in a transaction that has read and written nothing yet; settings may come before
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
    public void enter(Connection connection, FencingToken token, FencingToken... more) {
        JoinedTransaction.enter(source(), settings(), connection, token, more);
    }

    /**
     * Returns the connections of this fence as a data source, for repositories and frameworks that begin and end their transactions
     * themselves. Build them on it once, and keep them: inside of a {@link #unit unit} of the calling thread a connection is fenced, and
     * outside of units it is as the data source below gives it.
     *
     * <p><b>Errors:</b> inside of the work of {@link GuardFence#under}, {@link Claim#inTransaction} or {@link Claim#readOnly}, outside of
     * a unit, no connection is given: {@link UnfencedWriteException}, since it would be in none of these. Nor may one be used there
     * that was taken before.
     *
     * @return over the data source that this fence was made on; equal to every other one over it
     */
    public DataSource dataSource() {
        return new FencedDataSource(source().origin());
    }

    /**
     * Joins this fence with a lock, for a unit of work through {@link #dataSource()}.
     *
     * @param lock the lock that protects what the unit reads and writes
     * @return acquires, claims, runs and releases
     */
    public Unit<Claim<Connection>> unit(FencedLock lock) {
        return new Unit<>(new OwnTransactions(this), Locking.of(lock), Optional.empty());
    }

    /**
     * Joins this fence with several locks, for a unit of work through {@link #dataSource()}: a transfer between two accounts.
     *
     * @param locks the locks that protect what the unit reads and writes
     * @return acquires all, claims all, runs and releases
     */
    public Unit<Claim<Connection>> unit(FencedLocks locks) {
        return new Unit<>(new OwnTransactions(this), Locking.of(locks), Optional.empty());
    }

    /**
     * Returns the claim of the unit that this thread is in, over the data source of this fence.
     *
     * @return empty outside of units, and on threads that a unit has started
     */
    public Optional<Claim<Connection>> current() {
        return OwnTransactions.open(source().origin()).map(OpenUnit::context);
    }

    private record FromDataSource(DataSource dataSource) implements ConnectionSource<Connection> {

        @Override
        public Session<Connection> open(TransactionGuard guard) throws SQLException {
            Connection connection = dataSource.getConnection();
            return Session.of(connection, GuardedConnection.around(connection, guard), connection::close);
        }

        @Override
        public Connection connection(Connection context) {
            return context;
        }

        @Override
        public Object origin() {
            return dataSource;
        }

        @Override
        public Optional<SQLException> driverFailure(Throwable escaped) {
            return escaped instanceof SQLException failure ? Optional.of(failure) : Optional.empty();
        }
    }
}
