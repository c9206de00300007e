package dev.fenceline;

import java.time.Duration;

/**
 * The lease is over, or cannot be renewed any more, as the message says; no new claim is made under one that is over. Nothing
 * was sent. A claim that was made before goes on: the fence decides about it, not the lease.
 */
public final class LeaseLostException extends FencelineException {

    private static final long serialVersionUID = 1L;

    /** How a lease came to its end. */
    public enum Reason {
        /**
         * The server has no such lease any more: it ran out, an operator released it by force, somebody else holds the lock, or data was
         * lost. Which of these it was, the server cannot tell.
         */
        REFUSED(
                "the lock server no longer knows it: it ran out, an operator released it by force, somebody else has the lock, or"
                        + " the server lost its data"),
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

        String text() {
            return text;
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
        this(
                lock,
                reason,
                "The lease of '" + lock + "', acquired " + Durations.text(held) + " ago, is over: " + reason.text
                        + ". Nothing was sent. Acquire the lock again and begin at the read.");
    }

    private LeaseLostException(LockName lock, Reason reason, String message) {
        super(message, null);
        this.lock = lock;
        this.reason = reason;
    }

    /**
     * Reports a lease that still runs, and that is as old as the maximum hold allows.
     *
     * @param lock the lock that is still held
     * @param held how long ago it was acquired
     * @param left how long it runs on
     * @return an exception whose reason is {@link Reason#MAX_HOLD}
     */
    public static LeaseLostException notRenewed(LockName lock, Duration held, Duration left) {
        return new LeaseLostException(
                lock,
                Reason.MAX_HOLD,
                "The lease of '" + lock + "', acquired " + Durations.text(held)
                        + " ago, is not renewed any more: it was held for the maximum time (maxHold). It runs for another "
                        + Durations.text(left)
                        + ". Nothing was sent. Finish within that time, or acquire the lock again and begin at the read.");
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
