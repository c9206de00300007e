package dev.fenceline.lock;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.DistributedLock;
import dev.fenceline.FencelineEvent.AcquireEnded;
import dev.fenceline.FencelineEvent.AcquireOutcome;
import dev.fenceline.FencelineException;
import dev.fenceline.HolderProcess;
import dev.fenceline.Lease;
import dev.fenceline.LockName;
import dev.fenceline.LockNotAcquiredException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** What both kinds of lock do: wait for an {@link Acquisition}, and say how it ended. */
abstract class RedisLock<L extends Lease> implements DistributedLock<L> {

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
        // The wait is one command timeout at most, so the interruption can wait too.
        boolean interrupted = Thread.interrupted();
        try {
            while (true) {
                try {
                    Ended ended = acquire(Duration.ZERO);
                    return Optional.ofNullable(ended.lease()).map(this::own);
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
        if (Thread.interrupted()) {
            throw new InterruptedException("Interrupted before lock '" + name() + "' was asked for.");
        }
        Ended ended = acquire(maxWait);
        if (ended.lease() == null) {
            throw new LockNotAcquiredException(name(), ended.waited(), ended.holder());
        }
        return own(ended.lease());
    }

    private record Ended(
            @Nullable RedisLease lease, @Nullable HolderProcess holder, Duration waited) {}

    private Ended acquire(Duration maxWait) throws InterruptedException {
        long start = locks.clock().nanoTime();
        AcquireOutcome how = AcquireOutcome.FAILED;
        try {
            Acquisition.Outcome outcome = outcome(locks.start(lock, maxWait));
            if (outcome instanceof Acquisition.Outcome.Granted granted) {
                how = AcquireOutcome.ACQUIRED;
                return new Ended(granted.lease(), null, since(start));
            }
            how = AcquireOutcome.NOT_ACQUIRED;
            HolderProcess holder = outcome instanceof Acquisition.Outcome.Busy busy ? busy.holder() : null;
            return new Ended(null, holder, since(start));
        } catch (InterruptedException e) {
            how = AcquireOutcome.INTERRUPTED;
            throw e;
        } finally {
            locks.tell(new AcquireEnded(name(), how, since(start)));
        }
    }

    private Acquisition.Outcome outcome(Acquisition acquisition) throws InterruptedException {
        try {
            return acquisition.result().get(acquisition.nanosToHardStop(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            giveUp(acquisition);
            throw e;
        } catch (TimeoutException e) {
            acquisition.fail(acquisition.unavailable(
                    locks.transport().server() + " did not answer within "
                            + locks.options().commandTimeout().toMillis() + " ms",
                    e));
            return settled(acquisition);
        } catch (ExecutionException e) {
            throw failure(e);
        }
    }

    /** The answer and the end of the wait may cross; then there is a lease, and nobody else will release it. */
    private static void giveUp(Acquisition acquisition) {
        acquisition.abandon();
        var ignored = acquisition.result().thenAccept(outcome -> {
            if (outcome instanceof Acquisition.Outcome.Granted granted) {
                var unused = granted.lease().startClosing();
            }
        });
    }

    private static Acquisition.Outcome settled(Acquisition acquisition) throws InterruptedException {
        try {
            return acquisition.result().get();
        } catch (ExecutionException e) {
            throw failure(e);
        }
    }

    private static FencelineException failure(ExecutionException thrown) {
        if (thrown.getCause() instanceof FencelineException ours) {
            return ours;
        }
        return new BackendUnavailableException("Nothing is held; the client failed: " + thrown.getCause(), thrown);
    }

    private Duration since(long start) {
        return Duration.ofNanos(locks.clock().nanoTime() - start);
    }

    @Override
    public final String toString() {
        return "lock '" + name() + "' on " + locks.transport().server();
    }
}
