package dev.fenceline;

import java.util.function.Consumer;

/**
 * The time-bounded hold that a grant gives, renewed in the background until it is closed, lost, or as old as the maximum
 * hold.
 *
 * <p><b>Not guaranteed:</b> that nobody else works at the same time. A lease is a belief of this process, and a pause can
 * outlast it unnoticed; data is safe only behind a fence, which takes a {@link FencedLease}.
 *
 * <p><b>Thread-safety:</b> any thread may call any method; a lease is bound to no thread and is not reentrant.
 */
public interface Lease extends Hold {

    /**
     * Returns the lock that is held.
     *
     * @return its name
     */
    LockName lock();

    /**
     * Asks the server for a full lease from now, ahead of the automatic renewal.
     *
     * <p><b>Blocking:</b> one command timeout at most. <b>Interruption:</b> the flag is kept and the wait goes on, since the
     * answer decides whether the lock is held.
     *
     * @throws LeaseLostException when the server gave the lock to somebody else or let it expire; never recreated. Also when
     *     the lease is as old as {@link LockOptions#maxHold()}: it then runs on to its end, and the message says how long
     * @throws BackendUnavailableException when the server did not answer in time; the lease goes on until its deadline
     */
    void renew();

    /**
     * Has {@code callback} run once when the lease is lost, or at once if it was lost already. Not on {@link #close()}.
     *
     * <p>The callback runs on a thread of the locks that renews nothing, in turn with the events of {@link FencelineListener}: one
     * that blocks holds those up, and other callbacks, but no lease. It is interrupted when the locks are closed.
     *
     * @param callback receives what {@link #requireHeld()} would throw
     */
    void onLost(Consumer<LeaseLostException> callback);
}
