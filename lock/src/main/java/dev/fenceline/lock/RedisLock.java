package dev.fenceline.lock;

import dev.fenceline.DistributedLock;
import dev.fenceline.FencelineEvent.AcquireEnded;
import dev.fenceline.FencelineEvent.AcquireOutcome;
import dev.fenceline.FencelineEvent.AcquireStarted;
import dev.fenceline.HolderProcess;
import dev.fenceline.Lease;
import dev.fenceline.LockName;
import dev.fenceline.LockNotAcquiredException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** What both kinds of lock do: wait for an {@link Acquisition}, with a thread or with a future, and say how it ended. */
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
        tellStarted();
        return acquireUninterruptibly();
    }

    @Override
    public final L acquire() throws InterruptedException {
        return acquireWithin(locks.options().maxWait());
    }

    @Override
    public final L acquireWithin(Duration maxWait) throws InterruptedException {
        checkWait(maxWait);
        if (Thread.interrupted()) {
            throw new InterruptedException("Interrupted before lock '" + name() + "' was asked for.");
        }
        tellStarted();
        long start = locks.clock().nanoTime();
        Acquisition acquisition = locks.start(lock, maxWait);
        try {
            return leaseOrError(ended(acquisition.await(), start), since(start));
        } catch (InterruptedException e) {
            acquisition.abandon();
            Acquisitions.giveBack(acquisition.result().join());
            locks.tell(new AcquireEnded(name(), AcquireOutcome.INTERRUPTED, since(start)));
            throw e;
        }
    }

    @Override
    public final CompletableFuture<Optional<L>> tryAcquireAsync() {
        tellStarted();
        return Promise.of(locks, lock, Duration.ZERO, (outcome, waited) -> leaseIfFree(outcome));
    }

    @Override
    public final CompletableFuture<L> acquireAsync() {
        return acquireAsync(locks.options().maxWait());
    }

    @Override
    public final CompletableFuture<L> acquireAsync(Duration maxWait) {
        checkWait(maxWait);
        tellStarted();
        return Promise.of(locks, lock, maxWait, this::leaseOrError);
    }

    private void checkWait(Duration maxWait) {
        if (maxWait.isNegative()) {
            throw new IllegalArgumentException(
                    "maxWait of " + maxWait + " for lock '" + name() + "' is negative; zero tries once.");
        }
        if (maxWait.compareTo(LONGEST_WAIT) > 0) {
            throw new IllegalArgumentException("maxWait of " + maxWait + " for lock '" + name() + "' is beyond "
                    + LONGEST_WAIT.toDays() + " days. Wait for a shorter time, and again.");
        }
    }

    /** Tries once. The wait is one command timeout at most, so an interruption can wait too. */
    private Optional<L> acquireUninterruptibly() {
        long start = locks.clock().nanoTime();
        Acquisition acquisition = locks.start(lock, Duration.ZERO);
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return leaseIfFree(ended(acquisition.await(), start));
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

    private void tellStarted() {
        locks.tell(new AcquireStarted(name()));
    }

    private Acquisition.Outcome ended(Acquisition.Outcome outcome, long start) {
        locks.tell(new AcquireEnded(name(), Acquisitions.told(outcome), since(start)));
        return outcome;
    }

    private Optional<L> leaseIfFree(Acquisition.Outcome outcome) {
        if (outcome instanceof Acquisition.Outcome.Failed failed) {
            throw failed.why().get();
        }
        return outcome instanceof Acquisition.Outcome.Granted granted
                ? Optional.of(own(granted.lease()))
                : Optional.empty();
    }

    private L leaseOrError(Acquisition.Outcome outcome, Duration waited) {
        return leaseIfFree(outcome).orElseThrow(() -> notAcquired(outcome, waited));
    }

    private LockNotAcquiredException notAcquired(Acquisition.Outcome outcome, Duration waited) {
        HolderProcess holder = outcome instanceof Acquisition.Outcome.Busy busy ? busy.holder() : null;
        return holder != null && locks.holds(lock)
                ? LockNotAcquiredException.heldByOurselves(name(), waited, holder)
                : new LockNotAcquiredException(name(), waited, holder);
    }

    private Duration since(long start) {
        return Duration.ofNanos(locks.clock().nanoTime() - start);
    }

    @Override
    public final String toString() {
        return "lock '" + name() + "' on " + locks.transport().server();
    }
}
