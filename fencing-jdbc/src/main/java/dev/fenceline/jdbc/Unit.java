package dev.fenceline.jdbc;

import dev.fenceline.Action;
import dev.fenceline.Exclusion;
import dev.fenceline.StaleTokenException;
import dev.fenceline.Work;
import java.time.Duration;
import java.util.Optional;

/**
 * A unit of work for code that has its connections from elsewhere: everything that this thread reads and writes inside of it is under
 * one claim, whichever repositories, frameworks and transactions it goes through. What is fenced is the unit, from its first read to its
 * last write; two calls that are each fenced by themselves would protect nothing.
 *
 * <pre>{@code
 * fence.unit(locks.fenced(LockName.of("account", 42))).run(claim -> {
 *     Account account = accounts.find(42);        // written long ago, over fence.dataSource()
 *     account.add(5);
 *     accounts.save(account);
 * });
 * }</pre>
 *
 * <p><b>Guarantees:</b> the locks are acquired and claimed before the work begins, and released when it has ended, whatever happens. No
 * transaction inside commits after a newer holder has claimed. A {@link StaleTokenException} that the work swallows is thrown when it
 * ends. A unit of the same lock, or of some of the locks, inside of this one joins it: no new grant, no new claim and no release.
 *
 * <p><b>Not guaranteed:</b> anything for threads that the work starts or hands something to: they are not in the unit.
 *
 * <p><b>Blocking:</b> for the locks as long as {@link #waitAtMost} says, then for the claim at most the claim timeout.
 *
 * <p><b>Interruption:</b> while waiting for a lock; nothing is held then. Later the flag is left to the work.
 *
 * <p><b>Thread-safety:</b> immutable.
 *
 * @param <C> what work is given: a {@link Claim} of the unit, or Jdbi's {@code Handle}
 */
public final class Unit<C> {

    private final UnitKind<C> kind;
    private final Locking<?> locking;
    private final Optional<Duration> maxWait;

    Unit(UnitKind<C> kind, Locking<?> locking, Optional<Duration> maxWait) {
        this.kind = kind;
        this.locking = locking;
        this.maxWait = maxWait;
    }

    /**
     * Limits the wait for the locks. Without it, the options of the locks do. A unit that joins another waits for none.
     *
     * @param limit from zero, which tries once, to 366 days
     * @return a copy with this limit
     * @throws IllegalArgumentException when the limit is out of range
     */
    public Unit<C> waitAtMost(Duration limit) {
        return new Unit<>(kind, locking, Optional.of(Locking.checkedWait(limit)));
    }

    /**
     * Runs work in the unit.
     *
     * <p><b>Errors:</b> what the work throws comes out as it is. Those of {@link Exclusion#acquire()} and {@link GuardFence#claim} come
     * before it, and those of the transactions out of the calls that they refuse.
     *
     * @param work reads, computes and writes
     * @param <T> the result
     * @param <X> what the work may throw
     * @return what the work returned
     * @throws X as the work did
     * @throws InterruptedException when interrupted while waiting for a lock
     * @throws dev.fenceline.UnfencedWriteException when this thread is in a transaction already, or in a unit that does not have all of
     *     these locks; nothing was acquired
     * @throws IllegalStateException when this thread is inside a fenced transaction of the same lock; nothing was acquired
     * @throws StaleTokenException when a newer holder has claimed; the next acquisition of this lock in this process passes its
     *     token
     */
    public <T, X extends Exception> T call(Work<C, T, X> work) throws X, InterruptedException {
        Optional<OpenUnit<?>> open = OpenUnits.joined(kind.origin(), locking.names());
        if (open.isPresent()) {
            // Over one origin there are units of one kind only.
            @SuppressWarnings("unchecked")
            OpenUnit<C> mine = (OpenUnit<C>) open.get();
            return kind.join(mine, work);
        }
        kind.requireNothingRead(locking);
        return locking.call(maxWait, held -> kind.open(held, work));
    }

    /**
     * Runs work without a result in the unit; else as {@link #call}.
     *
     * @param action reads, computes and writes
     * @param <X> what the work may throw
     * @throws X as the work did
     * @throws InterruptedException when interrupted while waiting for a lock
     */
    public <X extends Exception> void run(Action<C, X> action) throws X, InterruptedException {
        this.<Boolean, X>call(context -> {
            action.with(context);
            return true;
        });
    }
}
