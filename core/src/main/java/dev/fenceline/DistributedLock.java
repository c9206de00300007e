package dev.fenceline;

import java.time.Duration;
import java.util.Optional;

/**
 * A lock shared by processes: one grant at a time, as far as timing allows. See {@link FencedLock} and
 * {@link EfficiencyLock} for the two kinds.
 *
 * <p>Grants are not reentrant: a thread that acquires twice waits for itself.
 *
 * <p><b>Interruption:</b> on {@code InterruptedException} the flag is clear and a release has been sent; should that release
 * be lost too, the lock stays taken until the lease time passes.
 *
 * <p><b>Thread-safety:</b> any thread.
 *
 * <p><b>Errors:</b> every acquiring method throws {@link BackendUnavailableException} when the lock server cannot be reached
 * or {@link Locks#close()} was called; nothing is held then.
 *
 * @param <L> the kind of lease
 */
public interface DistributedLock<L extends Lease> {

    /**
     * Returns what is locked.
     *
     * @return the name
     */
    LockName name();

    /**
     * Takes the lock if it is free now.
     *
     * <p><b>Blocking:</b> one command timeout at most.
     *
     * @return empty when somebody else holds it
     */
    Optional<L> tryAcquire();

    /**
     * Takes the lock, waiting as long as {@link LockOptions#maxWait()} says.
     *
     * <p><b>Blocking:</b> returns or throws within that time plus one command timeout.
     *
     * @return the lease
     * @throws LockNotAcquiredException when the time is over; names the process that holds the lock
     * @throws InterruptedException when interrupted while waiting
     */
    L acquire() throws InterruptedException;

    /**
     * Takes the lock, waiting up to {@code maxWait}.
     *
     * <p><b>Blocking:</b> returns or throws within {@code maxWait} plus one command timeout.
     *
     * @param maxWait zero to 366 days; zero tries once
     * @return the lease
     * @throws LockNotAcquiredException when the time is over; names the process that holds the lock
     * @throws InterruptedException when interrupted while waiting
     * @throws IllegalArgumentException when {@code maxWait} is negative or beyond 366 days
     */
    L acquireWithin(Duration maxWait) throws InterruptedException;
}
