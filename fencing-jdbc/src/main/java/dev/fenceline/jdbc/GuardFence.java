package dev.fenceline.jdbc;

import dev.fenceline.FencedLease;
import dev.fenceline.FencedLeases;
import dev.fenceline.FencedLock;
import dev.fenceline.FencedLocks;
import dev.fenceline.FencelineListener;
import dev.fenceline.FencingToken;
import dev.fenceline.Hold;
import java.time.Duration;
import java.util.Collection;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A fence in PostgreSQL that protects any SQL: one guard row per lock keeps the newest token, and a fenced transaction commits
 * only while that is its own.
 *
 * <p><b>Guarantees:</b> after a claim was admitted, no transaction of an earlier claim commits, whatever pauses, retries, clocks or
 * the lock service do. Two transactions under one lock never run at the same time, unless the fence is {@link #concurrent()}; those of
 * {@link Claim#readOnly} aside, which change nothing.
 *
 * <p><b>Not guaranteed:</b> anything about writers that do not go through a fence, or take another lock for the same rows. After
 * the promotion of an asynchronous standby, claims and writes may be lost together.
 *
 * <p><b>Blocking:</b> a claim waits for the transaction that holds the guard row, at most for the claim timeout. A paused or
 * dead holder keeps it for no longer than was left of its lease when it entered; the server ends it then. A network that falls
 * silent is given up after that time (for each lock that is entered) and 5 s, at each step of the fence; the work's own statements
 * wait as long as the data source says. To reach the database takes as long as the data source allows: set its connection timeout. A second connection is never needed while one is held, so
 * a pool of one is enough.
 *
 * <p><b>Thread-safety:</b> immutable; the methods that set something return a copy.
 *
 * @param <C> what work is given: {@code java.sql.Connection}, or Jdbi's {@code Handle}
 */
public abstract sealed class GuardFence<C> permits PostgresFence, JdbiFence {

    private final ConnectionSource<C> source;
    private final FenceSettings settings;

    GuardFence(ConnectionSource<C> source, FenceSettings settings) {
        this.source = source;
        this.settings = settings;
    }

    final FenceSettings settings() {
        return settings;
    }

    final ConnectionSource<C> source() {
        return source;
    }

    /**
     * Limits how long a claim waits for a transaction that holds the guard row. Without it, what is left of the lease, or 10 s for
     * a token without one.
     *
     * @param timeout from 1 ms to 1 h
     * @return a copy with this limit
     * @throws IllegalArgumentException when it is out of range
     */
    public abstract GuardFence<C> claimTimeout(Duration timeout);

    /**
     * Limits how long a fenced transaction may last, on PostgreSQL 17 and later. 10 min unless set, as long as a lease is renewed
     * by default.
     *
     * @param timeout from 100 ms to 1 day
     * @return a copy with this limit
     * @throws IllegalArgumentException when it is out of range
     */
    public abstract GuardFence<C> transactionTimeout(Duration timeout);

    /**
     * Sets the isolation of fenced transactions. Without it they have that of the session, READ COMMITTED as a rule. It holds for the
     * transaction alone, costs no round trip, and gives way to one that the work sets itself.
     *
     * @param isolation the level
     * @return a copy with this level
     */
    public abstract GuardFence<C> isolation(Isolation isolation);

    /**
     * Lets transactions of one claim run beside each other, for a holder that works in several threads on different rows.
     *
     * <p><b>Guarantees:</b> newer claims are kept out as before, until the last transaction that began before them has ended. None that
     * begins after a waiting claim gets in front of it, so it waits for the longest of those under way and not for their successors.
     *
     * <p><b>Not guaranteed:</b> that the holder's own threads, or a request that resumes the claim, do not lose updates to each other: this
     * does not serialise them. Two that read 100 and each write back 10 more leave 110. Nor do {@link Claim#update single statements}
     * and transactions above READ COMMITTED notice one of these that they waited for, even if they are not concurrent themselves.
     *
     * @return a copy with transactions beside each other
     */
    public abstract GuardFence<C> concurrent();

    /**
     * Has {@link Claim#update single statements} write down their operation, as transactions do, so that it can be found out whether one
     * happened whose answer was lost. Costs a row, and no round trip.
     *
     * @return a copy that records
     */
    public abstract GuardFence<C> recorded();

    /**
     * Lets a claim end the session that keeps it out, with {@code pg_terminate_backend}, when it has waited for the whole claim timeout, and
     * sends it once more. That frees the lock of a holder who is stopped in the middle of a large result, which no timeout of PostgreSQL
     * does. What that session had not committed is rolled back. The listener hears of each.
     *
     * <p><b>Guarantees:</b> only a session is ended that, looked at again at that moment, keeps the mark's row under an older token, in a
     * transaction that began before the wait.
     *
     * <p><b>Not guaranteed:</b> the same of row mode under this lock. A transaction in which {@link RowClaim#in} makes or removes its row
     * keeps the mark's row too, and is ended likewise; which token it brings is not to be seen before it commits, and may be a newer
     * one. It loses what it had not committed, and its claim goes on.
     *
     * <p><b>Errors:</b> a session of another role is left alone if ours has no right to end it; the claim then fails as without this.
     *
     * @return a copy that ends blockers
     */
    public abstract GuardFence<C> evictBlockers();

    /**
     * Sets who hears of claims, writes and refusals, in place of the listener that logs.
     *
     * @param listener hears of everything; see {@link FencelineListener#and} to keep the log
     * @return a copy with this listener
     */
    public abstract GuardFence<C> listener(FencelineListener listener);

    /**
     * Returns who hears of claims, writes and refusals, for whoever builds on this fence and has something to tell too.
     *
     * @return the listener that was set, or the one that logs
     */
    public final FencelineListener listener() {
        return settings.listener();
    }

    /**
     * Raises the mark to the token of a lease. Everything that is read under it afterwards is safe to base a write on; what was
     * read before is not.
     *
     * <p><b>Guarantees:</b> the claim is committed when this returns. It is repeated where its answer was lost.
     *
     * <p><b>Blocking:</b> for the claim timeout at most, once for each of up to three connections that break.
     *
     * @param lease a lease that is still held
     * @return the right to write
     * @throws IllegalStateException when this thread is inside a transaction of the same lock; nothing was sent
     * @throws dev.fenceline.LeaseLostException when the lease is over; nothing was sent
     * @throws dev.fenceline.StaleTokenException when a newer token was claimed already
     * @throws dev.fenceline.RetryableConflictException when the guard row was blocked for too long; names the blocker
     * @throws dev.fenceline.TokenRejectedException when the token is more than 25 h ahead of the server's clock
     * @throws dev.fenceline.BackendMisconfiguredException when the server is a standby, synchronous_commit is off, the schema is
     *     missing or of another version, or the role has no right to use it
     * @throws dev.fenceline.BackendUnavailableException when the database cannot be reached
     */
    public final Claim<C> claim(FencedLease lease) {
        return claim(Tokens.of(lease.token()), lease);
    }

    /**
     * Raises the marks of several locks in one step, before the first read: all, or none if one of them is refused. The exceptions name
     * the lock that was. Else as {@link #claim(FencedLease)}; a transaction under this claim enters all of them.
     *
     * @param leases all still held
     * @return the right to write under all of them
     */
    public final Claim<C> claim(FencedLeases leases) {
        return claim(Tokens.of(leases), leases);
    }

    /**
     * Raises the mark to a token that came from elsewhere; else as {@link #claim(FencedLease)}. A sender does not choose what it may
     * write: compare the lock with the resource's own name first, with {@link FencingToken#requireLock}.
     *
     * @param token of a lease that somebody else keeps
     * @return the right to write
     */
    public final Claim<C> claim(FencingToken token) {
        return claim(Tokens.of(Objects.requireNonNull(token, "token")), null);
    }

    /**
     * Raises the marks of several locks to tokens that came from elsewhere, in any order; else as {@link #claim(FencedLeases)} and
     * {@link #claim(FencingToken)}.
     *
     * @param tokens one of each lock
     * @return the right to write under all of them
     * @throws IllegalArgumentException when there is none, or two are of one lock
     */
    public final Claim<C> claim(Collection<FencingToken> tokens) {
        return claim(Tokens.of(tokens), null);
    }

    /**
     * Goes on under a claim that was made earlier, in another request or another process. Never raises the mark.
     *
     * @param token the token that was claimed; compare its lock with the resource's own name first
     * @return the right to write, if nobody has taken over in the meantime; each transaction checks that again
     * @throws dev.fenceline.StaleTokenException when a newer token was claimed
     * @throws dev.fenceline.TokenRejectedException when this token was never claimed here
     * @throws dev.fenceline.BackendMisconfiguredException as when claiming
     * @throws dev.fenceline.BackendUnavailableException when the database cannot be reached
     */
    public final Claim<C> resume(FencingToken token) {
        return resume(Tokens.of(Objects.requireNonNull(token, "token")));
    }

    /**
     * Goes on under a claim of several locks; else as {@link #resume(FencingToken)}.
     *
     * @param tokens those that were claimed, in any order
     * @return the right to write under all of them
     * @throws IllegalArgumentException when there is none, or two are of one lock
     */
    public final Claim<C> resume(Collection<FencingToken> tokens) {
        return resume(Tokens.of(tokens));
    }

    /**
     * Joins this fence with a lock, for work that is done in one transaction.
     *
     * @param lock the lock that protects what the work reads and writes
     * @return acquires, claims, commits and releases
     */
    public final UnderLock<C> under(FencedLock lock) {
        return new UnderLock<>(this, Locking.of(lock), Optional.empty());
    }

    /**
     * Joins this fence with several locks, for work that is done in one transaction: a transfer between two accounts.
     *
     * @param locks the locks that protect what the work reads and writes
     * @return acquires all, claims all, commits and releases
     */
    public final UnderLock<C> under(FencedLocks locks) {
        return new UnderLock<>(this, Locking.of(locks), Optional.empty());
    }

    Claim<C> claim(Tokens tokens, @Nullable Hold lease) {
        OpenTransactions.requireNone(source, tokens, "Claim");
        Claim<C> claim = new Claim<>(source, settings, tokens, lease);
        claim.answered(new ClaimStep<>(source, settings, tokens, lease).run());
        return claim;
    }

    private Claim<C> resume(Tokens tokens) {
        Claim<C> claim = new Claim<>(source, settings, tokens, null);
        Resuming.check(source, claim);
        return claim;
    }
}
