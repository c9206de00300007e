package dev.fenceline.lock;

import dev.fenceline.DistributedLock;
import dev.fenceline.FencelineEvent.AcquireEnded;
import dev.fenceline.FencelineEvent.AcquireOutcome;
import dev.fenceline.HolderProcess;
import dev.fenceline.Lease;
import dev.fenceline.LockName;
import dev.fenceline.LockNotAcquiredException;
import dev.fenceline.lock.LockTransport.ReleaseReply;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** What both kinds of lock do: wait for an {@link Acquisition}, and say how it ended. */
abstract class RedisLock<L extends Lease> implements DistributedLock<L> {

    /** As for what the options say; far below what nanoseconds in 64 bits can count. */
    private static final Duration LONGEST_WAIT = Duration.ofDays(366);

    private final ConnectedLocks locks;
    private final LockKey lock;

    RedisLock(ConnectedLocks locks, LockKey lock) {
        this.locks = locks;
        this.lock = lock;
    }

    /** The lease as the kind that this lock hands out. */
    abstract L own(RedisLease lease);

    final ConnectedLocks locks() {
        return locks;
    }

    @Override
    public final LockName name() {
        return lock.name();
    }

    @Override
    public final Optional<L> tryAcquire() {
        Ended ended = acquireUninterruptibly();
        return Optional.ofNullable(ended.lease()).map(this::own);
    }

    @Override
    public final L acquire() throws InterruptedException {
        return acquireWithin(locks.options().maxWait());
    }

    @Override
    public final L acquireWithin(Duration maxWait) throws InterruptedException {
        if (maxWait.isNegative()) {
            throw new IllegalArgumentException(
                    "maxWait of " + maxWait + " for lock '" + name() + "' is negative; zero tries once.");
        }
        if (maxWait.compareTo(LONGEST_WAIT) > 0) {
            throw new IllegalArgumentException("maxWait of " + maxWait + " for lock '" + name() + "' is beyond "
                    + LONGEST_WAIT.toDays() + " days. Wait for a shorter time, and again.");
        }
        if (Thread.interrupted()) {
            throw new InterruptedException("Interrupted before lock '" + name() + "' was asked for.");
        }
        Ended ended = acquire(maxWait);
        if (ended.lease() == null) {
            HolderProcess holder = ended.holder();
            throw holder != null && locks.holds(lock)
                    ? LockNotAcquiredException.heldByOurselves(name(), ended.waited(), holder)
                    : new LockNotAcquiredException(name(), ended.waited(), holder);
        }
        return own(ended.lease());
    }

    private record Ended(
            @Nullable RedisLease lease, @Nullable HolderProcess holder, Duration waited) {}

    private Ended acquire(Duration maxWait) throws InterruptedException {
        long start = locks.clock().nanoTime();
        Acquisition acquisition = locks.start(lock, maxWait);
        try {
            return ended(acquisition.await(), start);
        } catch (InterruptedException e) {
            giveUp(acquisition);
            locks.tell(new AcquireEnded(name(), AcquireOutcome.INTERRUPTED, since(start)));
            throw e;
        }
    }

    /** Tries once. The wait is one command timeout at most, so an interruption can wait too. */
    private Ended acquireUninterruptibly() {
        long start = locks.clock().nanoTime();
        Acquisition acquisition = locks.start(lock, Duration.ZERO);
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return ended(acquisition.await(), start);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private Ended ended(Acquisition.Outcome outcome, long start) {
        Duration waited = since(start);
        if (outcome instanceof Acquisition.Outcome.Granted granted) {
            locks.tell(new AcquireEnded(name(), AcquireOutcome.ACQUIRED, waited));
            return new Ended(granted.lease(), null, waited);
        }
        if (outcome instanceof Acquisition.Outcome.Failed failed) {
            locks.tell(new AcquireEnded(name(), AcquireOutcome.FAILED, waited));
            throw failed.why().get();
        }
        locks.tell(new AcquireEnded(name(), AcquireOutcome.NOT_ACQUIRED, waited));
        HolderProcess holder = outcome instanceof Acquisition.Outcome.Busy busy ? busy.holder() : null;
        return new Ended(null, holder, waited);
    }

    /** The answer and the end of the wait may cross; then there is a lease, and nobody else will release it. */
    private void giveUp(Acquisition acquisition) {
        acquisition.abandon();
        if (acquisition.result().join() instanceof Acquisition.Outcome.Granted granted) {
            RedisLease lease = granted.lease();
            CompletableFuture<ReleaseReply> acknowledged = lease.startClosing();
            if (acknowledged != null) {
                var unused = acknowledged.whenComplete((reply, thrown) -> {
                    if (thrown != null) {
                        lease.releaseFailed(SendFailure.of(thrown));
                    }
                });
            }
        }
    }

    private Duration since(long start) {
        return Duration.ofNanos(locks.clock().nanoTime() - start);
    }

    @Override
    public final String toString() {
        return "lock '" + name() + "' on " + locks.transport().server();
    }
}
