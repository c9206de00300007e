package dev.fenceline.jdbc;

import dev.fenceline.Action;
import dev.fenceline.Exclusion;
import dev.fenceline.StaleTokenException;
import dev.fenceline.Work;
import java.time.Duration;
import java.util.Optional;

/**
 * A fence together with a lock, or with several: acquires, claims, runs one transaction and releases.
 *
 * <p><b>Guarantees:</b> when {@link #call} returns, the work is committed, and no newer holder had claimed. That holds too where the
 * lease was lost on the way: the fence decides, and the listener of the locks hears of the lost lease. The lock is released
 * whatever happens. There is one grant of each lock and one transaction, and no retry: after a failure, call again.
 *
 * <p><b>Blocking:</b> for the lock as long as {@link #waitAtMost} says, then for the claim at most the claim timeout.
 *
 * <p><b>Interruption:</b> while waiting for the lock; nothing is held then. Later the flag is left to the work.
 *
 * <p><b>Thread-safety:</b> immutable.
 *
 * @param <C> what work is given: {@code java.sql.Connection}, or Jdbi's {@code Handle}
 */
public final class UnderLock<C> {

    private final GuardFence<C> fence;
    private final Locking<?> locking;
    private final Optional<Duration> maxWait;

    UnderLock(GuardFence<C> fence, Locking<?> locking, Optional<Duration> maxWait) {
        this.fence = fence;
        this.locking = locking;
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
        return new UnderLock<>(fence, locking, Optional.of(Locking.checkedWait(limit)));
    }

    /**
     * Runs work under the lock, in one fenced transaction.
     *
     * <p><b>Errors:</b> those of {@link Exclusion#acquire()}, {@link GuardFence#claim} and
     * {@link Claim#inTransaction}.
     *
     * @param work reads, computes and writes
     * @param <T> the result
     * @param <X> what the work may throw
     * @return what the work returned
     * @throws X as the work did
     * @throws InterruptedException when interrupted while waiting for the lock
     * @throws IllegalStateException when this thread is inside a transaction of the same lock; nothing was acquired
     * @throws StaleTokenException when a newer holder has claimed; the next acquisition of this lock in this process passes its
     *     token
     */
    public <T, X extends Exception> T call(Work<C, T, X> work) throws X, InterruptedException {
        OpenTransactions.requireNone(fence.source(), locking.names(), "Acquiring the lock for work");
        return locking.call(
                maxWait, held -> fence.claim(held.tokens(), held.hold()).inTransaction(work));
    }

    /**
     * Runs work without a result under the lock; else as {@link #call}.
     *
     * @param action reads, computes and writes
     * @param <X> what the work may throw
     * @throws X as the work did
     * @throws InterruptedException when interrupted while waiting for the lock
     */
    public <X extends Exception> void run(Action<C, X> action) throws X, InterruptedException {
        this.<Boolean, X>call(context -> {
            action.with(context);
            return true;
        });
    }
}
