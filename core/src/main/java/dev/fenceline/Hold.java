package dev.fenceline;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * What was acquired, until it is closed or lost: the {@link Lease} of one lock, or the {@link FencedLeases} of several.
 *
 * <p><b>Thread-safety:</b> any thread may call any method; a hold is bound to no thread.
 */
public interface Hold extends AutoCloseable {

    /**
     * Tells whether this process still believes in its lease. Does not ask the server.
     *
     * @return false once the lease, or one of several, was closed or lost
     */
    boolean isHeld();

    /**
     * Returns how long the lease runs if it is not renewed, by this process's monotonic clock and minus the clock drift that
     * is allowed for.
     *
     * @return zero once the lease was closed or lost; of several leases, the shortest time
     */
    Duration remaining();

    /**
     * Does nothing while the lease is held.
     *
     * @throws LeaseLostException when it, or one of several, was lost or closed; the message says why and since when
     */
    void requireHeld();

    /**
     * Releases the lock if it is still ours. Idempotent and quiet: a release that fails is reported once to the listener, and
     * the lock becomes free when the lease time has passed.
     *
     * <p><b>Blocking:</b> one command timeout at most, for each lock. <b>Interruption:</b> the flag is kept.
     */
    @Override
    void close();

    /**
     * As {@link #close()}, and holds no thread until the server has answered. The release is on its way when this returns.
     *
     * <p>The stages that depend on the future run where those of {@link Exclusion#acquireAsync()} do.
     *
     * @return ends within one command timeout, and never with an exception: a release that fails is reported to the listener.
     *     Cancelling it does not call the release back
     */
    CompletableFuture<Void> closeAsync();
}
