package dev.fenceline;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * What is acquired, held and given back: one {@link DistributedLock}, or several {@link FencedLocks} in one order.
 *
 * <p>There are three ways to take it. {@code call} and {@code run} keep it for the length of some work, and always give it
 * back. {@code acquire} leaves that to the caller. {@code acquireAsync} does so without holding a thread.
 *
 * <p>Grants are not reentrant: a thread that acquires twice waits for itself.
 *
 * <p><b>Interruption:</b> on {@code InterruptedException} the flag is clear and a release has been sent; should that release
 * be lost too, the lock stays taken until the lease time passes. Methods that do not declare it keep the flag.
 *
 * <p><b>Futures:</b> whoever ends a returned future gives up as an interruption does, be it by {@code cancel}, by
 * {@code orTimeout} or in another way; a grant that crosses is released. That is so for the future that was returned, and not
 * for stages made from it, which do not pass a cancellation on. Futures fail with what the blocking method throws. What depends
 * on them runs on the default executor of {@link CompletableFuture} where it is not told otherwise (the common pool; with one or two processors a new thread),
 * or on the thread that added it; never on a thread of the locks or of the network, so it may block.
 *
 * <p><b>Thread-safety:</b> any thread.
 *
 * <p><b>Errors:</b> every acquiring method throws {@link BackendUnavailableException} when the lock server cannot be reached
 * or {@link Locks#close()} was called; nothing is held then.
 *
 * @param <H> what is held
 */
public interface Exclusion<H extends Hold> {

    /**
     * Acquires if it is free now.
     *
     * <p><b>Blocking:</b> one command timeout at most, for each lock.
     *
     * @return empty when somebody else holds it
     */
    Optional<H> tryAcquire();

    /**
     * Acquires, waiting as long as {@link LockOptions#maxWait()} says.
     *
     * <p><b>Blocking:</b> returns or throws within that time plus one command timeout for each lock.
     *
     * @return what is held
     * @throws LockNotAcquiredException when the time is over; names the process that holds the lock
     * @throws InterruptedException when interrupted while waiting
     */
    H acquire() throws InterruptedException;

    /**
     * Acquires, waiting up to {@code maxWait}.
     *
     * <p><b>Blocking:</b> returns or throws within {@code maxWait} plus one command timeout for each lock.
     *
     * @param maxWait zero to 366 days; zero tries once
     * @return what is held
     * @throws LockNotAcquiredException when the time is over; names the process that holds the lock
     * @throws InterruptedException when interrupted while waiting
     * @throws IllegalArgumentException when {@code maxWait} is negative or beyond 366 days
     */
    H acquireWithin(Duration maxWait) throws InterruptedException;

    /**
     * As {@link #tryAcquire()}, and holds no thread until the server has answered.
     *
     * @return empty when somebody else holds it
     */
    CompletableFuture<Optional<H>> tryAcquireAsync();

    /**
     * As {@link #acquire()}, and holds no thread while waiting.
     *
     * @return what is held. Whoever closes it on the last thread that needs it may use {@link Hold#closeAsync()}
     */
    CompletableFuture<H> acquireAsync();

    /**
     * As {@link #acquireWithin}, and holds no thread while waiting.
     *
     * @param maxWait zero to 366 days; zero tries once
     * @return what is held
     * @throws IllegalArgumentException at once, when {@code maxWait} is negative or beyond 366 days
     */
    CompletableFuture<H> acquireAsync(Duration maxWait);

    /**
     * Runs work while holding, and gives back whatever happens.
     *
     * <p><b>Guarantees:</b> what the work throws comes out as it is. What goes wrong at the end is suppressed onto it, and never
     * takes its place: a lease that was lost meanwhile, a release that throws.
     *
     * <p><b>Not guaranteed:</b> that the lease still ran when the work ended. Work that returned has happened, and so this
     * returns its result also after a lost lease; the listener hears of the loss. Where that must not be, a fence decides on
     * each write, and work that may only be late asks {@link Hold#requireHeld()} before its last step.
     *
     * @param work receives what is held, which is good until it ends
     * @param <T> its result
     * @param <X> what it may throw
     * @return the result
     * @throws X as the work did
     * @throws LockNotAcquiredException as {@link #acquire()}; the work was not begun
     * @throws InterruptedException when interrupted while waiting; the work was not begun. Later the flag is left to the work
     */
    default <T, X extends Exception> T call(Work<? super H, T, X> work) throws X, InterruptedException {
        return Scope.call(acquire(), work);
    }

    /**
     * As {@link #call}, waiting up to {@code maxWait}.
     *
     * @param maxWait zero to 366 days; zero tries once
     * @param work receives what is held
     * @param <T> its result
     * @param <X> what it may throw
     * @return the result
     * @throws X as the work did
     * @throws LockNotAcquiredException as {@link #acquireWithin}; the work was not begun
     * @throws InterruptedException when interrupted while waiting; the work was not begun
     */
    default <T, X extends Exception> T callWithin(Duration maxWait, Work<? super H, T, X> work)
            throws X, InterruptedException {
        return Scope.call(acquireWithin(maxWait), work);
    }

    /**
     * As {@link #call}, if it is free now; else skips the work.
     *
     * @param work receives what is held, and returns no null
     * @param <T> its result
     * @param <X> what it may throw
     * @return the result; empty when somebody else holds it and the work was skipped
     * @throws X as the work did
     */
    default <T, X extends Exception> Optional<T> tryCall(Work<? super H, T, X> work) throws X {
        return Scope.tryCall(tryAcquire(), work);
    }

    /**
     * Runs work without a result; else as {@link #call}.
     *
     * @param action receives what is held
     * @param <X> what it may throw
     * @throws X as the action did
     * @throws LockNotAcquiredException as {@link #acquire()}; the action was not begun
     * @throws InterruptedException when interrupted while waiting; the action was not begun
     */
    default <X extends Exception> void run(Action<? super H, X> action) throws X, InterruptedException {
        Scope.run(acquire(), action);
    }

    /**
     * Runs work without a result; else as {@link #callWithin}.
     *
     * @param maxWait zero to 366 days; zero tries once
     * @param action receives what is held
     * @param <X> what it may throw
     * @throws X as the action did
     * @throws LockNotAcquiredException as {@link #acquireWithin}; the action was not begun
     * @throws InterruptedException when interrupted while waiting; the action was not begun
     */
    default <X extends Exception> void runWithin(Duration maxWait, Action<? super H, X> action)
            throws X, InterruptedException {
        Scope.run(acquireWithin(maxWait), action);
    }

    /**
     * Runs work without a result; else as {@link #tryCall}.
     *
     * @param action receives what is held
     * @param <X> what it may throw
     * @return false when somebody else holds it and the action was skipped
     * @throws X as the action did
     */
    default <X extends Exception> boolean tryRun(Action<? super H, X> action) throws X {
        Optional<H> held = tryAcquire();
        if (held.isEmpty()) {
            return false;
        }
        Scope.run(held.get(), action);
        return true;
    }
}
