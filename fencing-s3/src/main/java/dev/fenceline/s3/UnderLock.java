package dev.fenceline.s3;

import dev.fenceline.Action;
import dev.fenceline.Exclusion;
import dev.fenceline.FencedLease;
import dev.fenceline.FencedLock;
import dev.fenceline.FencelineException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.Work;
import java.time.Duration;
import java.util.Optional;

/**
 * A fence together with a lock: acquires, claims, runs work on the object and releases.
 *
 * <p><b>Guarantees:</b> what the work has written was accepted when its method returned, whether or not the lease runs on. The lock is
 * released whatever happens. There is one grant and one claim, and no retry: after a failure, call again. A refusal that the work
 * has swallowed is thrown again at its end.
 *
 * <p><b>Not guaranteed:</b> that several writes of one work are accepted together: each is by itself. To change several objects at
 * once, take {@link S3Fence#pointer()}.
 *
 * <p><b>Blocking:</b> for the lock as long as {@link #waitAtMost} says, then for the claim at most what is left of the lease.
 *
 * <p><b>Interruption:</b> while waiting for the lock; nothing is held then. Later the flag is left to the work.
 *
 * <p><b>Thread-safety:</b> immutable.
 *
 * @param <C> what work is given
 */
public final class UnderLock<C extends ObjectClaim> {

    private static final Duration LONGEST_WAIT = Duration.ofDays(366);

    private final ObjectFence<C> fence;
    private final FencedLock lock;
    private final String key;
    private final Optional<Duration> maxWait;

    UnderLock(ObjectFence<C> fence, FencedLock lock, String key, Optional<Duration> maxWait) {
        this.fence = fence;
        this.lock = lock;
        this.key = key;
        this.maxWait = maxWait;
    }

    /**
     * Limits the wait for the lock. Without it, the options of the locks do.
     *
     * @param limit from zero, which tries once, to 366 days
     * @return a copy with this limit
     * @throws IllegalArgumentException when the limit is out of range
     */
    public UnderLock<C> waitAtMost(Duration limit) {
        if (limit.isNegative() || limit.compareTo(LONGEST_WAIT) > 0) {
            throw new IllegalArgumentException("waitAtMost of " + limit.toMillis()
                    + " ms is not between zero, which tries once, and " + LONGEST_WAIT.toDays() + " days.");
        }
        return new UnderLock<>(fence, lock, key, Optional.of(limit));
    }

    /**
     * Runs work under the lock.
     *
     * <p><b>Errors:</b> those of {@link Exclusion#acquire()}, {@link ObjectFence#claim(FencedLease, String)} and
     * {@link ObjectClaim}.
     *
     * @param work reads, computes and writes through the claim, which is good until it ends
     * @param <T> the result
     * @param <X> what the work may throw
     * @return what the work returned
     * @throws X as the work did
     * @throws InterruptedException when interrupted while waiting for the lock
     * @throws StaleTokenException when a newer holder has claimed; the next acquisition of this lock in this process passes its token
     */
    public <T, X extends Exception> T call(Work<? super C, T, X> work) throws X, InterruptedException {
        FencedLease lease = maxWait.isPresent() ? lock.acquireWithin(maxWait.get()) : lock.acquire();
        try (lease) {
            C claim = fence.claim(lease, key);
            try {
                T result = work.with(claim);
                claim.session().requireNotOvertaken("Work");
                return result;
            } finally {
                claim.end();
            }
        } catch (StaleTokenException refused) {
            // Released by now. Work may have met another fence too, whose mark means nothing to this lock.
            if (refused.presented().equals(lease.token())) {
                raiseFloor(refused);
            }
            throw refused;
        }
    }

    /**
     * Runs work without a result under the lock; else as {@link #call}.
     *
     * @param action reads, computes and writes
     * @param <X> what the work may throw
     * @throws X as the work did
     * @throws InterruptedException when interrupted while waiting for the lock
     */
    public <X extends Exception> void run(Action<? super C, X> action) throws X, InterruptedException {
        this.<Boolean, X>call(claim -> {
            action.with(claim);
            return true;
        });
    }

    private void raiseFloor(StaleTokenException refused) {
        try {
            lock.raiseFloor(refused.newest());
        } catch (FencelineException e) {
            refused.addSuppressed(e);
        }
    }
}
