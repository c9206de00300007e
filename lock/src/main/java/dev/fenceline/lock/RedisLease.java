package dev.fenceline.lock;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineEvent;
import dev.fenceline.Lease;
import dev.fenceline.LeaseLostException;
import dev.fenceline.LeaseLostException.Reason;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.lock.LockTransport.ReleaseReply;
import dev.fenceline.lock.LockTransport.RenewReply;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A lease as this process believes in it.
 *
 * <p>The belief rests on the newest proof: the two clocks of this machine, read before the request that the server
 * acknowledged. The server's lease began after that, so it ends after {@code proof + lease}, and we stop believing a little
 * earlier, since the clocks of two machines do not run at one speed. The monotonic clock may stand still while the machine
 * is suspended; then the wall clock runs ahead of it, and the lease counts as lost.
 *
 * <p>One task on the scheduler serves renewal and deadline. An ending is final and comes once.
 */
class RedisLease implements Lease {

    /** The clocks before a request. */
    record Proof(long nano, long wallMicros) {

        static Proof now(LockClock clock) {
            // Monotonic first here and last in lossNow(): a thread that is held up between the two readings then seems
            // to
            // have lost time on the monotonic side, never to have been suspended.
            long nano = clock.nanoTime();
            return new Proof(nano, clock.wallMicros());
        }
    }

    /** Whether a request of this holder may still be on its way; it would then make the lock ours behind our release. */
    enum Requests {
        ALL_ANSWERED,
        ONE_UNANSWERED
    }

    /** What was granted to whom; the token of an efficiency lock is 0. */
    record Grant(UUID holder, long token, Requests requests, Transfers transfers) {}

    private record Ending(Reason reason, Duration held) {}

    private final ConnectedLocks locks;
    private final LockKey lock;
    private final UUID holder;
    private final Requests requests;
    private final Transfers transfers;
    private final Timing timing;
    private final Instant since;
    private final AtomicReference<@Nullable Ending> ending = new AtomicReference<>();
    private final AtomicBoolean closed = new AtomicBoolean();
    private final Renewal renewal;

    private volatile Proof proof;

    /** From when on the lock may be free after a release, by the monotonic clock. */
    private volatile long freeAt;

    private final ReentrantLock guard = new ReentrantLock();
    private final List<Consumer<LeaseLostException>> callbacks = new ArrayList<>();

    /** What follows from the options, in nanoseconds. */
    record Timing(long grantedAt, long lease, long drift, long maxHold) {

        /** How long a lease lasts for its holder, whose clock may run faster than that of the server. */
        long validity() {
            return lease - drift;
        }

        static Timing of(LockOptions options, long grantedAt) {
            long lease = options.lease().toNanos();
            return new Timing(
                    grantedAt, lease, lease / 100 + 2_000_000, options.maxHold().toNanos());
        }
    }

    RedisLease(ConnectedLocks locks, LockKey lock, Grant grant, Proof first) {
        this.locks = locks;
        this.lock = lock;
        this.holder = grant.holder();
        this.requests = grant.requests();
        this.transfers = grant.transfers();
        this.timing = Timing.of(locks.options(), first.nano());
        this.proof = first;
        this.freeAt = first.nano();
        this.since = Instant.EPOCH.plus(first.wallMicros(), ChronoUnit.MICROS);
        this.renewal = new Renewal(locks, this);
    }

    /** Makes the kind of lease that the lock hands out. It is renewed once the keeper has it. */
    static RedisLease granted(ConnectedLocks locks, LockKey lock, Grant grant, Proof proof) {
        return lock.kind() == LockKind.FENCED
                ? new RedisFencedLease(locks, lock, grant, proof)
                : new RedisLease(locks, lock, grant, proof);
    }

    Renewal renewal() {
        return renewal;
    }

    /** When this process was granted the lock, by its wall clock. */
    Instant since() {
        return since;
    }

    boolean isFor(LockKey other) {
        return lock.equals(other);
    }

    @Override
    public LockName lock() {
        return lock.name();
    }

    @Override
    public boolean isHeld() {
        return ended() == null;
    }

    @Override
    public Duration remaining() {
        long left = deadline() - locks.clock().nanoTime();
        return ended() == null && left > 0 ? Duration.ofNanos(left) : Duration.ZERO;
    }

    @Override
    public void requireHeld() {
        Ending over = ended();
        if (over != null) {
            throw lost(over);
        }
    }

    @Override
    public void renew() {
        requireHeld();
        if (pastMaxHold()) {
            throw LeaseLostException.notRenewed(lock.name(), heldFor(), remaining());
        }
        CompletableFuture<RenewReply> answer = renewOnce().toCompletableFuture();
        RenewReply reply;
        try {
            reply = Uninterruptibly.await(answer, locks.options().commandTimeout());
        } catch (SendFailure failure) {
            requireHeld();
            throw new BackendUnavailableException(
                    "Lease of '" + lock.name() + "' not renewed: " + failure.getMessage() + ". It goes on for "
                            + remaining().toMillis() + " ms; renewal is tried again in the background.",
                    failure);
        }
        if (reply == RenewReply.REFUSED) {
            lose(Reason.REFUSED);
        }
        requireHeld();
    }

    @Override
    public void onLost(Consumer<LeaseLostException> callback) {
        guard.lock();
        try {
            callbacks.add(callback);
        } finally {
            guard.unlock();
        }
        Ending over = ended();
        if (over != null && over.reason() != Reason.CLOSED) {
            tellCallbacks(over);
        }
    }

    @Override
    public void close() {
        CompletableFuture<ReleaseReply> acknowledged = startClosing();
        if (acknowledged == null) {
            return;
        }
        try {
            ReleaseReply unused =
                    Uninterruptibly.await(acknowledged, locks.options().commandTimeout(), locks.transport()::silent);
        } catch (SendFailure failure) {
            releaseFailed(failure);
        }
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
        return AsyncClosing.of(locks, this);
    }

    /** Has the release keep the lock taken until so long from now: since the grant is known, it has been made at the server. */
    void keepAtLeast(Duration time) {
        freeAt = locks.clock().nanoTime() + time.toNanos();
    }

    /**
     * Ends the lease and sends the release; null when that was done before, or when there is nothing to release.
     *
     * <p>After a loss the release is sent too: a renewal whose answer we never saw may have prolonged the lock at the server.
     * Not after a refusal, by which the server itself says that the lock is not ours; only a request that was never answered
     * could make it ours again.
     */
    @Nullable CompletableFuture<ReleaseReply> startClosing() {
        if (!closed.compareAndSet(false, true)) {
            return null;
        }
        Duration margin = remaining();
        Ending now = new Ending(Reason.CLOSED, heldFor());
        boolean heldUntilNow = ended() == null && ending.compareAndSet(null, now);
        renewal.stop();
        locks.keeper().remove(this);
        if (heldUntilNow) {
            locks.tell(new FencelineEvent.LeaseClosed(lock.name(), now.held(), margin));
        }
        if (!mayBeOursAtTheServer()) {
            boolean unused = advanceQueue(null);
            return null;
        }
        return passOn();
    }

    /** Gives the lock to who is next in this process, or back to the server. */
    CompletableFuture<ReleaseReply> passOn() {
        if (requests == Requests.ONE_UNANSWERED) {
            Release.sendLater(locks, lock, holder, freeAt);
        }
        if (freeAt - locks.clock().nanoTime() > 0) {
            // Who is next here waits for that time like everybody else.
            CompletableFuture<ReleaseReply> kept = Release.send(locks, lock, holder, freeAt);
            boolean unused = advanceQueue(null);
            return kept;
        }
        Succession succession = Succession.ofLock(locks, lock, holder, transfers);
        return advanceQueue(succession) ? succession.acknowledged() : Release.send(locks, lock, holder);
    }

    private boolean advanceQueue(@Nullable Succession succession) {
        Acquisition next = locks.queues().ended(lock, this);
        if (next == null || locks.isClosed()) {
            return false;
        }
        next.contend(succession);
        return true;
    }

    private boolean mayBeOursAtTheServer() {
        Ending over = ending.get();
        return requests == Requests.ONE_UNANSWERED || over == null || over.reason() != Reason.REFUSED;
    }

    void releaseFailed(SendFailure failure) {
        locks.tell(new FencelineEvent.ReleaseFailed(lock.name(), failure));
    }

    /** Ends a lease that nobody has seen, without a word. */
    void discard() {
        closed.set(true);
        ending.compareAndSet(null, new Ending(Reason.CLOSED, Duration.ZERO));
        renewal.stop();
        locks.keeper().remove(this);
    }

    /** Asks once, and takes the answer as a new proof. A refusal is left to the caller. */
    CompletionStage<RenewReply> renewOnce() {
        Proof before = Proof.now(locks.clock());
        return locks.transport().renew(lock, holder).thenApply(reply -> {
            if (reply == RenewReply.RENEWED) {
                Duration margin =
                        Duration.ofNanos(Math.max(0, deadline() - locks.clock().nanoTime()));
                prove(before);
                locks.notices().tell(new FencelineEvent.LeaseRenewed(lock.name(), margin));
            }
            return reply;
        });
    }

    private void prove(Proof fresh) {
        guard.lock();
        try {
            // Two renewals can answer in either order.
            if (fresh.nano() - proof.nano() > 0) {
                proof = fresh;
            }
        } finally {
            guard.unlock();
        }
    }

    /** When we stop to believe, by the monotonic clock. */
    long deadline() {
        return proof.nano() + timing.validity();
    }

    boolean pastMaxHold() {
        return locks.clock().nanoTime() - timing.grantedAt() >= timing.maxHold();
    }

    /** Looks at the clocks; true when the lease is over, for whatever reason. */
    boolean isOver() {
        return ended() != null;
    }

    void lose(Reason reason) {
        Ending over = new Ending(reason, heldFor());
        if (!ending.compareAndSet(null, over)) {
            return;
        }
        renewal.stop();
        if (mayBeOursAtTheServer()) {
            locks.forgetAfterItsTime(this);
            // The one who lost it has been told, or will be: who is next here need not wait for the server's own clock.
            boolean kept = freeAt - locks.clock().nanoTime() > 0;
            boolean unused = advanceQueue(kept ? null : Succession.ofLock(locks, lock, holder, transfers));
        } else {
            locks.keeper().remove(this);
            boolean unused = advanceQueue(null);
        }
        locks.notices().tell(new FencelineEvent.LeaseLost(lock.name(), reason, over.held()));
        tellCallbacks(over);
    }

    private @Nullable Ending ended() {
        Ending over = ending.get();
        if (over == null) {
            Reason reason = lossNow();
            if (reason != null) {
                lose(reason);
                over = ending.get();
            }
        }
        return over;
    }

    private @Nullable Reason lossNow() {
        Proof last = proof;
        long wall = locks.clock().wallMicros();
        long nano = locks.clock().nanoTime();
        if (nano - last.nano() >= timing.validity()) {
            return pastMaxHold() ? Reason.MAX_HOLD : Reason.DEADLINE_PASSED;
        }
        long wallAhead = (wall - last.wallMicros()) * 1_000 - (nano - last.nano());
        return wallAhead > timing.drift() ? Reason.SUSPENDED : null;
    }

    private void tellCallbacks(Ending over) {
        List<Consumer<LeaseLostException>> due;
        guard.lock();
        try {
            // Taken out under the lock, so that each callback runs once however many find the lease lost.
            due = List.copyOf(callbacks);
            callbacks.clear();
        } finally {
            guard.unlock();
        }
        for (Consumer<LeaseLostException> callback : due) {
            locks.notices().run(() -> callback.accept(lost(over)));
        }
    }

    private LeaseLostException lost(Ending over) {
        return new LeaseLostException(lock.name(), over.reason(), over.held());
    }

    private Duration heldFor() {
        return Duration.ofNanos(locks.clock().nanoTime() - timing.grantedAt());
    }

    @Override
    public String toString() {
        return "lease of '" + lock.name() + "'";
    }
}
