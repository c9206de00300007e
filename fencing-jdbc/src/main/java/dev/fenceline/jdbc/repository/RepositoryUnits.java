package dev.fenceline.jdbc.repository;

import dev.fenceline.Action;
import dev.fenceline.FencelineException;
import dev.fenceline.LockName;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.Work;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/**
 * Runs units of work with a repository: from the first read to the last write, under one grant of the lock. What a class without an
 * interface gets; an interface gets a {@link FencedRepository}, which also refuses writes outside of units.
 *
 * <pre>{@code
 * RepositoryUnits<LegacyAccounts> accounts = FencedRepository.of(LegacyAccounts.class, fence, locks)
 *         .delegate(new LegacyAccounts(fence.dataSource()))
 *         .buildUnits();
 * accounts.unit(LockName.of("account", 42), a -> {
 *     Account account = a.find(42);
 *     account.add(5);
 *     a.save(account);
 * });
 * }</pre>
 *
 * <p><b>Guarantees:</b> those of {@code PostgresFence.unit} or {@code JdbiFence.unit}, whichever fence it was built over.
 *
 * <p><b>Not guaranteed:</b> anything about what the class does outside of a unit. Only protected tables
 * ({@code fenceline.protect}) refuse that.
 *
 * <p><b>Blocking:</b> for the locks as long as {@link RepositoryBuilder#waitAtMost} says, then for the claim at most the claim
 * timeout; all of it once for each attempt.
 *
 * <p><b>Interruption:</b> while waiting for a lock; nothing is held then. Later the flag is left to the work.
 *
 * <p><b>Thread-safety:</b> any thread, if the delegate can be used by any. A unit is of the thread that runs it.
 *
 * @param <R> the repository's type
 */
public sealed class RepositoryUnits<R> permits FencedRepository {

    private final Delegates<R> delegates;
    private final UnitSettings settings;

    RepositoryUnits(Delegates<R> delegates, UnitSettings settings) {
        this.delegates = delegates;
        this.settings = settings;
    }

    /**
     * Runs work in a unit of one lock.
     *
     * <p><b>Not guaranteed:</b> anything about what was read before the unit and is saved in it. It is old, and nobody can see that: read
     * inside of the unit what you save in it. Over a data source a unit is not one transaction either: what the work throws undoes nothing
     * that one of its transactions has committed.
     *
     * <p><b>Errors:</b> what the work throws comes out as it is. Those of the fence's {@code unit} come besides.
     *
     * @param lock what the work reads and writes
     * @param work reads, computes and writes; run again from its beginning if {@link RepositoryBuilder#retries} says so
     * @param <X> what the work may throw
     * @throws X as the work did
     * @throws InterruptedException when interrupted while waiting for the lock
     * @throws dev.fenceline.UnfencedWriteException when this thread is in a unit that does not have this lock; nothing was acquired. Or
     *     when the repository turns out not to be built on the fence; what it wrote stays
     * @throws StaleTokenException when a newer holder has claimed
     */
    public final <X extends Exception> void unit(LockName lock, Action<R, X> work) throws X, InterruptedException {
        unit(List.of(lock), work);
    }

    /**
     * Runs work in a unit of several locks, all claimed before the work begins: a transfer between two accounts. Else as
     * {@link #unit(LockName, Action)}.
     *
     * @param locks what the work reads and writes, in any order
     * @param work reads, computes and writes
     * @param <X> what the work may throw
     * @throws X as the work did
     * @throws InterruptedException when interrupted while waiting for a lock
     * @throws IllegalArgumentException when there is no lock, or there are more than {@link RepositoryBuilder#lockAtMost} says
     */
    public final <X extends Exception> void unit(Collection<LockName> locks, Action<R, X> work)
            throws X, InterruptedException {
        this.<Boolean, X>inUnit(locks, repository -> {
            work.with(repository);
            return true;
        });
    }

    /**
     * Runs work with a result in a unit of one lock; else as {@link #unit(LockName, Action)}.
     *
     * @param lock what the work reads and writes
     * @param work reads, computes and writes
     * @param <T> the result
     * @param <X> what the work may throw
     * @return what the work returned
     * @throws X as the work did
     * @throws InterruptedException when interrupted while waiting for the lock
     */
    public final <T, X extends Exception> T inUnit(LockName lock, Work<R, T, X> work) throws X, InterruptedException {
        return inUnit(List.of(lock), work);
    }

    /**
     * Runs work with a result in a unit of several locks; else as {@link #unit(Collection, Action)}.
     *
     * @param locks what the work reads and writes, in any order
     * @param work reads, computes and writes
     * @param <T> the result
     * @param <X> what the work may throw
     * @return what the work returned
     * @throws X as the work did
     * @throws InterruptedException when interrupted while waiting for a lock
     */
    public final <T, X extends Exception> T inUnit(Collection<LockName> locks, Work<R, T, X> work)
            throws X, InterruptedException {
        List<LockName> sorted = new ArrayList<>(new TreeSet<>(locks));
        settings.requireNotTooMany(sorted, "A unit");
        return run(sorted, () -> within(work));
    }

    /** Gives the work what it calls inside of a unit. */
    <T, X extends Exception> T within(Work<R, T, X> work) throws X {
        T result = delegates.use(work);
        delegates.returned();
        return result;
    }

    final Delegates<R> delegates() {
        return delegates;
    }

    final UnitSettings settings() {
        return settings;
    }

    /** Runs a body in a unit: once, or again under a new grant where that can help and nothing of it stays. */
    final <T, X extends Exception> T run(List<LockName> locks, Delegates.Body<T, X> body)
            throws X, InterruptedException {
        // Whoever joins a unit has no grant of his own to begin again with.
        int left = delegates.open().isPresent() ? 0 : settings.retries();
        while (true) {
            Attempt attempt = new Attempt();
            try {
                return delegates.unit(locks, settings.maxWait(), attempt, body);
            } catch (Exception e) {
                if (left-- == 0 || attempt.mayHaveCommitted() || !isWorthAnotherGrant(e)) {
                    throw e;
                }
            }
        }
    }

    private static boolean isWorthAnotherGrant(Throwable thrown) {
        Optional<FencelineException> ours = FencelineException.in(thrown);
        return ours.filter(e -> e instanceof StaleTokenException || e instanceof RetryableConflictException)
                .isPresent();
    }
}
