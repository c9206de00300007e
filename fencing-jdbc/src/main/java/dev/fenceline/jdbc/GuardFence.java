package dev.fenceline.jdbc;

import dev.fenceline.FencedLease;
import dev.fenceline.FencedLock;
import dev.fenceline.FencelineListener;
import dev.fenceline.FencingToken;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A fence in PostgreSQL that protects any SQL: one guard row per lock keeps the newest token, and a fenced transaction commits
 * only while that is its own.
 *
 * <p><b>Guarantees:</b> after a claim was admitted, no transaction of an earlier claim commits, whatever pauses, retries, clocks or
 * the lock service do. Two transactions under one lock never run at the same time.
 *
 * <p><b>Not guaranteed:</b> anything about writers that do not go through a fence, or take another lock for the same rows. After
 * the promotion of an asynchronous standby, claims and writes may be lost together.
 *
 * <p><b>Blocking:</b> a claim waits for the transaction that holds the guard row, at most for the claim timeout. A paused or
 * dead holder keeps it for no longer than was left of its lease when it entered; the server ends it then. A network that falls
 * silent is given up after that time and 5 s, at each step of the fence; the work's own statements wait as long as the data source
 * says. To reach the database takes as long as the data source allows: set its connection timeout. A second connection is never needed while one is held, so
 * a pool of one is enough.
 *
 * <p><b>Thread-safety:</b> immutable; the methods that set something return a copy.
 *
 * @param <C> what work is given: {@code java.sql.Connection}, or Jdbi's {@code Handle}
 */
public abstract sealed class GuardFence<C> permits PostgresFence, JdbiFence {

    private final ConnectionSource<C> source;
    private final FenceSettings settings;
    // A setting of the database is worth one event, not one for each claim.
    private final AtomicBoolean settingsTold = new AtomicBoolean();

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
     * Sets who hears of claims, writes and refusals, in place of the listener that logs.
     *
     * @param listener hears of everything; see {@link FencelineListener#and} to keep the log
     * @return a copy with this listener
     */
    public abstract GuardFence<C> listener(FencelineListener listener);

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
     * @throws dev.fenceline.LeaseLostException when the lease is over; nothing was sent
     * @throws dev.fenceline.StaleTokenException when a newer token was claimed already
     * @throws dev.fenceline.RetryableConflictException when the guard row was blocked for too long; names the blocker
     * @throws dev.fenceline.TokenRejectedException when the token is more than 25 h ahead of the server's clock
     * @throws dev.fenceline.BackendMisconfiguredException when the server is a standby, synchronous_commit is off, the schema is
     *     missing or of another version, or the role has no right to use it
     * @throws dev.fenceline.BackendUnavailableException when the database cannot be reached
     */
    public final Claim<C> claim(FencedLease lease) {
        return claim(lease.token(), lease);
    }

    /**
     * Raises the mark to a token that came from elsewhere; else as {@link #claim(FencedLease)}. A sender does not choose what it may
     * write: compare the lock with the resource's own name first, with {@link FencingToken#requireLock}.
     *
     * @param token of a lease that somebody else keeps
     * @return the right to write
     */
    public final Claim<C> claim(FencingToken token) {
        return claim(token, null);
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
        Claim<C> claim = new Claim<>(source, settings, Objects.requireNonNull(token, "token"), null);
        Resuming.check(source, claim);
        return claim;
    }

    /**
     * Joins this fence with a lock, for work that is done in one transaction.
     *
     * @param lock the lock that protects what the work reads and writes
     * @return acquires, claims, commits and releases
     */
    public final UnderLock<C> under(FencedLock lock) {
        return new UnderLock<>(this, Objects.requireNonNull(lock, "lock"), Optional.empty());
    }

    private Claim<C> claim(FencingToken token, @Nullable FencedLease lease) {
        new ClaimStep<>(source, settings, settingsTold, Objects.requireNonNull(token, "token"), lease).run();
        return new Claim<>(source, settings, token, lease);
    }
}
