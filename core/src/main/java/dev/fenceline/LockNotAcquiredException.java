package dev.fenceline;

import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Somebody else held the lock for as long as we were willing to wait, or until we were interrupted. Nothing is held, and trying again
 * is fine.
 */
public final class LockNotAcquiredException extends FencelineException {

    private static final long serialVersionUID = 1L;

    private final transient LockName lock;
    private final transient @Nullable HolderProcess holder;

    /**
     * Reports that waiting was in vain.
     *
     * @param lock the lock
     * @param waited how long
     * @param holder who held it when we last asked; null when what the lock server has does not tell
     */
    public LockNotAcquiredException(LockName lock, Duration waited, @Nullable HolderProcess holder) {
        super(
                "Lock '" + lock + "' not acquired within " + Durations.text(waited) + ": "
                        + (holder == null ? "held by an unknown holder" : "held by " + holder)
                        + ". Nothing is held; try again, or wait longer.",
                null);
        this.lock = lock;
        this.holder = holder;
    }

    private LockNotAcquiredException(
            String message, LockName lock, @Nullable HolderProcess holder, @Nullable Throwable cause) {
        super(message, cause);
        this.lock = lock;
        this.holder = holder;
    }

    /**
     * Reports that this very process holds the lock, so that waiting longer in the thread that holds it would never end.
     *
     * @param lock the lock
     * @param waited how long
     * @param ourselves this process, and since when it holds the lock
     * @return the exception to throw
     */
    public static LockNotAcquiredException heldByOurselves(LockName lock, Duration waited, HolderProcess ourselves) {
        return new LockNotAcquiredException(
                "Lock '" + lock + "' not acquired within " + Durations.text(waited) + ": held by this very process, "
                        + ourselves
                        + ". Locks are not reentrant: a thread that holds one and asks again waits for itself."
                        + " Pass the lease on, or wait for the other thread.",
                lock,
                ourselves,
                null);
    }

    /**
     * Reports that the thread was interrupted while it waited, where a method cannot declare {@code InterruptedException}. Whoever throws
     * this has set the thread's interrupt flag again.
     *
     * @param lock the lock
     * @param cause what ended the wait
     * @return the exception to throw
     */
    public static LockNotAcquiredException interrupted(LockName lock, InterruptedException cause) {
        return new LockNotAcquiredException(
                "Lock '" + lock
                        + "' not acquired: the thread was interrupted while waiting for it. Nothing is held, nothing was"
                        + " done, and the interrupt flag is set: end what this thread does.",
                lock,
                null,
                cause);
    }

    /**
     * Returns the lock.
     *
     * @return its name
     */
    public LockName lock() {
        return lock;
    }

    /**
     * Returns who held the lock when we last asked.
     *
     * @return empty when it did not say who it is in a form that we know: another release, or somebody else's key
     */
    public Optional<HolderProcess> holder() {
        return Optional.ofNullable(holder);
    }
}
