package dev.fenceline;

import java.util.Optional;
import java.util.function.Consumer;

/**
 * An {@link EfficiencyLock} for jobs that several instances start at the same time: whoever comes first does the job, the
 * others skip it, and it is decided beforehand what happens when nobody can tell who came first.
 *
 * <pre>{@code
 * locks.efficiency(LockName.of("report", "nightly"))
 *         .holdAtLeast(Duration.ofMinutes(1))
 *         .whenUnavailable(WhenUnavailable.RUN_ANYWAY)
 *         .tryRun(lease -> report());
 * }</pre>
 *
 * <p>Unavailable means {@link BackendUnavailableException}. Locks that this process has closed, and a server that refuses us
 * for its settings ({@link BackendMisconfiguredException}), are errors whatever was chosen.
 *
 * <p>Each use of the choice is told to the listener, and is a warning in the log: a job that is skipped for days looks like one
 * that has nothing to do.
 *
 * <p><b>Blocking:</b> one command timeout at most before the work begins, and one when it has ended. <b>Interruption:</b> the
 * flag is kept, and left to the work.
 *
 * <p><b>Thread-safety:</b> immutable.
 */
public final class JobLock {

    private final EfficiencyLock lock;
    private final WhenUnavailable choice;
    private final Consumer<BackendUnavailableException> bypass;

    private JobLock(EfficiencyLock lock, WhenUnavailable choice, Consumer<BackendUnavailableException> bypass) {
        this.lock = lock;
        this.choice = choice;
        this.bypass = bypass;
    }

    /**
     * Adds the choice to a lock. Users call {@link EfficiencyLock#whenUnavailable}; this is for those who build a lock service.
     *
     * @param lock decides who does the job
     * @param choice what becomes of it when the lock cannot be asked for
     * @param bypass is called before the choice takes effect, and tells the listener; it throws what it is given where that is
     *     no outage, but locks that were closed
     * @return the lock for jobs
     */
    public static JobLock of(
            EfficiencyLock lock, WhenUnavailable choice, Consumer<BackendUnavailableException> bypass) {
        return new JobLock(lock, choice, bypass);
    }

    /**
     * Runs work if nobody else does; else as {@link EfficiencyLock#tryCall}.
     *
     * @param work receives the lease; empty when it runs without a lock. Returns no null
     * @param <T> its result
     * @param <X> what it may throw
     * @return the result; empty when the work was skipped
     * @throws X as the work did
     * @throws BackendUnavailableException when the lock server cannot be used and {@link WhenUnavailable#FAIL} was chosen
     */
    public <T, X extends Exception> Optional<T> tryCall(Work<Optional<Lease>, T, X> work) throws X {
        Optional<Lease> lease;
        try {
            lease = lock.tryAcquire();
        } catch (BackendUnavailableException down) {
            if (choice == WhenUnavailable.FAIL) {
                throw down;
            }
            bypass.accept(down);
            return choice == WhenUnavailable.SKIP ? Optional.empty() : Scope.present(work.with(Optional.empty()));
        }
        // Not in the try above: what the work throws is its own, whatever its type.
        return Scope.<Lease, T, X>tryCall(lease, held -> work.with(Optional.of(held)));
    }

    /**
     * Runs work without a result if nobody else does; else as {@link EfficiencyLock#tryRun}.
     *
     * @param action receives the lease; empty when it runs without a lock
     * @param <X> what it may throw
     * @return false when the work was skipped
     * @throws X as the action did
     * @throws BackendUnavailableException when the lock server cannot be used and {@link WhenUnavailable#FAIL} was chosen
     */
    public <X extends Exception> boolean tryRun(Action<Optional<Lease>, X> action) throws X {
        return this.<Boolean, X>tryCall(lease -> {
                    action.with(lease);
                    return true;
                })
                .isPresent();
    }
}
