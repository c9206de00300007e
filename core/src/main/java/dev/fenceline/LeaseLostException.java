package dev.fenceline;

import java.time.Duration;

/**
 * The lease is over, and no new claim is made under it. Nothing was sent. A claim that was made before goes on: the fence
 * decides about it, not the lease.
 */
public final class LeaseLostException extends FencelineException {

    private static final long serialVersionUID = 1L;

    /** How a lease came to its end. */
    public enum Reason {
        /** The server has no such lease any more: it ran out, somebody else holds the lock, or data was lost. */
        REFUSED("the lock server no longer knows it"),
        /** No renewal arrived before the deadline by this process's monotonic clock. */
        DEADLINE_PASSED("it was not renewed in time"),
        /** The wall clock ran ahead of the monotonic clock: the machine was suspended. */
        SUSPENDED("the machine was suspended while it ran"),
        /** The lease was held for the longest allowed time, and renewal ended. */
        MAX_HOLD("it was held for the maximum time and is no longer renewed"),
        /** This process closed the lease, or the locks it came from. */
        CLOSED("this process released it");

        private final String text;

        Reason(String text) {
            this.text = text;
        }
    }

    private final transient LockName lock;
    private final Reason reason;

    /**
     * Reports a lost lease.
     *
     * @param lock the lock that is no longer held
     * @param reason how it was lost
     * @param held how long ago it was acquired
     */
    public LeaseLostException(LockName lock, Reason reason, Duration held) {
        super(
                "The lease of '" + lock + "', acquired " + Durations.text(held) + " ago, is over: " + reason.text
                        + ". Nothing was sent. Acquire the lock again and begin at the read.",
                null);
        this.lock = lock;
        this.reason = reason;
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
     * Returns how the lease was lost.
     *
     * @return the reason
     */
    public Reason reason() {
        return reason;
    }
}
