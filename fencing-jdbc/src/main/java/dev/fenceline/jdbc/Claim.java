package dev.fenceline.jdbc;

import dev.fenceline.Action;
import dev.fenceline.FencelineEvent.StaleRefused;
import dev.fenceline.FencingToken;
import dev.fenceline.Hold;
import dev.fenceline.StaleTokenException;
import dev.fenceline.Work;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The right to write under one token, or under those of several locks, for as long as nobody newer has claimed.
 *
 * <p><b>Guarantees:</b> each transaction commits only if every mark equals its token from the first statement to the commit; so
 * of all accepted transactions under a lock, each saw what the one before it wrote. Transactions of one claim run one after
 * another too, whichever threads they run on, unless the fence is {@link GuardFence#concurrent() concurrent}.
 *
 * <p><b>Not guaranteed:</b> that the lease still runs. It need not: the fence decides, not the lease.
 *
 * <p><b>Thread-safety:</b> any thread.
 *
 * @param <C> what work is given: {@code java.sql.Connection}, or Jdbi's {@code Handle}
 */
public final class Claim<C> {

    private final ConnectionSource<C> source;
    private final FenceSettings settings;
    private final Tokens tokens;
    private final @Nullable Hold lease;
    private final AtomicReference<@Nullable FencingToken> overtakenBy = new AtomicReference<>();
    private final AtomicInteger committed = new AtomicInteger();
    private final AtomicInteger connections = new AtomicInteger();
    private volatile boolean unsettled;
    private volatile OffsetDateTime lastAnswer = OffsetDateTime.MIN;

    Claim(ConnectionSource<C> source, FenceSettings settings, Tokens tokens, @Nullable Hold lease) {
        this.source = source;
        this.settings = settings;
        this.tokens = tokens;
        this.lease = lease;
    }

    /**
     * Returns the token that was claimed, to be handed on to whoever resumes this work elsewhere.
     *
     * @return the token
     * @throws IllegalStateException when several locks were claimed; see {@link #tokens()}
     */
    public FencingToken token() {
        if (tokens.areSeveral()) {
            throw new IllegalStateException("This claim has " + tokens.all().size()
                    + " tokens, and which one is meant is not said; use tokens().");
        }
        return tokens.all().get(0);
    }

    /**
     * Returns the tokens that were claimed, one for each lock.
     *
     * @return in the order of the locks' names
     */
    public List<FencingToken> tokens() {
        return tokens.all();
    }

    /**
     * Returns how many transactions of this claim, made through this object, are known to be committed. For whoever thinks of doing the
     * work again: what these wrote stays, whatever became of the one that failed.
     *
     * @return zero or more; single statements are among them, and what only read is not
     */
    public int committed() {
        return committed.get();
    }

    /**
     * Tells whether something of this claim, made through this object, is committed or may be: what {@link #committed()} counts, a
     * commit whose outcome is unknown, and what was committed past the fence. Only where it is not, doing the work again from its
     * beginning can do nothing twice.
     *
     * @return false if it is certain that nothing was written
     */
    public boolean mayHaveCommitted() {
        return unsettled || committed.get() > 0;
    }

    /**
     * Returns how many connections of {@code fence.dataSource()} were taken in the unit of this claim. Work that wrote and took none was
     * built on another data source, and wrote without the fence.
     *
     * @return zero or more; zero for a claim that has no such unit
     */
    public int connections() {
        return connections.get();
    }

    void connectionTaken() {
        connections.incrementAndGet();
    }

    /**
     * Runs work in one transaction that commits only while the tokens are the newest.
     *
     * <p><b>Guarantees:</b> when this returns, the work is committed. The transaction enters before the work's first statement, and waits
     * for another one of the same lock. Isolation and read-only may be chosen before that, with {@code SET TRANSACTION} or the
     * connection's methods; a transaction made read-only is as one of {@link #readOnly}, with the isolation that it has.
     *
     * <p><b>Blocking:</b> entering waits at most for what is left of the lease, or a second if it is lost, for each lock. The database
     * ends a session that then stays idle for as long.
     *
     * <p><b>Errors:</b> what the work throws comes out as it is, and the transaction is rolled back. Only where it is the driver's
     * own exception, for a lost connection or a lost race, one of those below takes its place, with it as the cause. Those that are about
     * entering come out of the work's first statement; whoever swallows them there gets them again at the end.
     *
     * @param work reads, computes and writes; may be run again under the same claim after a
     *     {@link dev.fenceline.RetryableConflictException}
     * @param <T> the result
     * @param <X> what the work may throw
     * @return what the work returned
     * @throws X as the work did
     * @throws IllegalStateException when this thread is inside another transaction of the same lock; nothing was sent
     * @throws StaleTokenException when a newer holder has claimed; nothing happened
     * @throws dev.fenceline.RetryableConflictException when the transaction lost a race; nothing happened
     * @throws dev.fenceline.TransactionRolledBackException when a statement failed and the work went on, or a constraint refused
     *     the commit; nothing happened
     * @throws dev.fenceline.UnfencedWriteException when the work tried to end the transaction, or did, in which
     *     case the message says what may be committed
     * @throws dev.fenceline.TokenRejectedException when a mark is older than its token; nothing happened
     * @throws dev.fenceline.BackendUnavailableException when the connection was lost before the commit was sent; nothing happened
     * @throws dev.fenceline.OutcomeUnknownException when the answer to the commit was lost, and asking did not settle
     *     it; or when the connection was lost, the work may have committed by itself, and the database does not answer
     */
    public <T, X extends Exception> T inTransaction(Work<C, T, X> work) throws X {
        return inTransaction(new TransactionGuard(tokens.resource()), work);
    }

    /** As {@link #inTransaction}, for work that may believe to begin and commit transactions itself. */
    <T, X extends Exception> T inTransaction(InnerTransactions inner, Work<C, T, X> work) throws X {
        return inTransaction(new TransactionGuard(tokens.resource(), inner), work);
    }

    private <T, X extends Exception> T inTransaction(TransactionGuard guard, Work<C, T, X> work) throws X {
        Entry entry = settings.has(FenceSettings.Choice.CONCURRENT) ? Entry.CONCURRENT : Entry.ALONE;
        FencedUnit<C> unit = new FencedUnit<>(source, settings, this, entry, guard);
        OpenTransactions.Ending open = OpenTransactions.begin(source, tokens, Optional.of(unit.guard()));
        try {
            return unit.run(work);
        } finally {
            open.end();
        }
    }

    /**
     * Runs work without a result in one transaction; else as {@link #inTransaction}.
     *
     * @param action reads, computes and writes
     * @param <X> what the work may throw
     * @throws X as the work did
     */
    public <X extends Exception> void useTransaction(Action<C, X> action) throws X {
        this.<Boolean, X>inTransaction(context -> {
            action.with(context);
            return true;
        });
    }

    /**
     * Runs work that only reads, and shows it one state of the data: that at which it entered.
     *
     * <p><b>Guarantees:</b> the marks were ours at that state, so everything is in it that was accepted before, and nothing of a newer
     * holder. Waits for nobody, and nobody waits for it.
     *
     * <p><b>Not guaranteed:</b> that the marks are still ours when this returns. What is written on the strength of it is written under the
     * same claim, and that decides.
     *
     * <p><b>Blocking:</b> as long as the work's own statements do.
     *
     * <p><b>Errors:</b> those of {@link #inTransaction}. A statement that writes fails with the driver's own exception (SQLSTATE 25006).
     *
     * @param work reads; REPEATABLE READ, or SERIALIZABLE if the fence is set to it
     * @param <T> the result
     * @param <X> what the work may throw
     * @return what the work returned
     * @throws X as the work did
     * @throws StaleTokenException when a newer holder had claimed
     * @throws dev.fenceline.TokenRejectedException when a mark is older than its token
     * @throws dev.fenceline.BackendUnavailableException when the connection was lost
     * @throws dev.fenceline.BackendMisconfiguredException when the server is a standby
     */
    public <T, X extends Exception> T readOnly(Work<C, T, X> work) throws X {
        return new FencedUnit<>(source, settings, this, Entry.READING).run(work);
    }

    /**
     * Runs one INSERT, UPDATE, DELETE or (from PostgreSQL 17 on) MERGE in one round trip. It is a transaction of its own, and commits only
     * while the tokens are the newest.
     *
     * <p><b>Guarantees:</b> as for a transaction. The statement sees what the transaction of the same claim wrote for which it had
     * to wait, unless that one was {@link GuardFence#concurrent() concurrent}. It may have a WITH clause that reads, and a semicolon at its end.
     *
     * <p><b>Not guaranteed:</b> to find out what happened after the answer was lost, unless the fence is {@link GuardFence#recorded()
     * recorded}.
     *
     * <p><b>Blocking:</b> waits for another one of the same lock at most for what is left of the lease, or a second if it is lost, for each
     * lock; the statement itself takes as long as the data source allows.
     *
     * <p>With an {@link GuardFence#isolation isolation} set, it is run as a transaction with all round trips of one.
     *
     * @param sql the statement, with {@code ?} for parameters
     * @param parameters as for {@code PreparedStatement.setObject}
     * @return how many rows it changed
     * @throws SQLException the driver's own, for a statement that the database refuses
     * @throws IllegalArgumentException when it is several statements, reads only, has a RETURNING clause, a WITH clause that writes,
     *     or another number of {@code ?} than there are values; nothing was sent
     * @throws IllegalStateException when this thread is inside a transaction of the same lock; nothing was sent
     * @throws StaleTokenException when a newer holder has claimed; nothing happened
     * @throws dev.fenceline.RetryableConflictException when it lost too many races, or waited for too long; nothing happened
     * @throws dev.fenceline.TokenRejectedException when a mark is older than its token; nothing happened
     * @throws dev.fenceline.UnfencedWriteException when a protected table refuses a row whose lock is none of this claim; nothing happened
     * @throws dev.fenceline.OutcomeUnknownException when the answer was lost and nothing can be asked for, or asking did not settle it
     * @throws dev.fenceline.BackendUnavailableException when there was no connection, or it is settled that nothing happened
     */
    public long update(String sql, @Nullable Object... parameters) throws SQLException {
        String statement = DmlText.checked(sql);
        PlainStatement.requireValues(statement, parameters.length, tokens.resource());
        if (settings.isolation().isPresent()) {
            return this.<Long, SQLException>inTransaction(
                    context -> PlainStatement.execute(source.connection(context), statement, parameters));
        }
        return single((session, held) -> held.execute(session.connection(), statement, parameters));
    }

    /** Runs one statement that holds the marks by itself. */
    <X extends Exception> long single(SingleStatement.Execution<C, X> execution) throws X {
        OpenTransactions.Ending open = OpenTransactions.begin(source, tokens, Optional.empty());
        try {
            return new SingleStatement<>(source, settings, this).run(execution);
        } finally {
            open.end();
        }
    }

    /** Another transaction of it is committed. */
    void countCommitted() {
        committed.incrementAndGet();
    }

    /** Of one it is unknown whether it is. */
    void countUnsettled() {
        unsettled = true;
    }

    FenceSettings settings() {
        return settings;
    }

    Tokens presented() {
        return tokens;
    }

    /** How long a transaction may wait at entering, and lie idle afterwards. */
    Duration patience() {
        return Patience.of(lease);
    }

    /** Keeps the last time that the server told, which is before anything that is sent from now on. */
    void answered(OffsetDateTime at) {
        lastAnswer = at;
    }

    OffsetDateTime lastAnswer() {
        return lastAnswer;
    }

    /** A stale session is over: marks only rise, so asking again could only give the same answer. */
    void refuseIfOvertaken(String step) {
        FencingToken newest = overtakenBy.get();
        if (newest != null) {
            throw stale(step, newest, null);
        }
    }

    /** Remembers that the session is over, and tells so once. */
    StaleTokenException overtaken(String step, FencingToken newest, @Nullable Throwable cause) {
        StaleTokenException stale = stale(step, newest, cause);
        if (overtakenBy.getAndSet(newest) == null) {
            settings.listener().tell(new StaleRefused(stale.resource(), stale.presented(), newest));
        }
        return stale;
    }

    private StaleTokenException stale(String step, FencingToken newest, @Nullable Throwable cause) {
        return new StaleTokenException(step, Refusals.resource(newest.lock()), tokens.of(newest.lock()), newest, cause);
    }
}
