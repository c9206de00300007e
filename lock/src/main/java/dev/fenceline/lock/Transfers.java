package dev.fenceline.lock;

import java.util.concurrent.TimeUnit;

/**
 * How often a lock went from lease to lease within this process, since when. Others queue at the server meanwhile, so that is
 * capped; while nobody queues there the server ignores the cap.
 *
 * @param inARow how many times
 * @param since when this process got the lock from others, by the monotonic clock
 */
record Transfers(int inARow, long since) {

    /** So that eight of this process hold the lock in a row. */
    private static final int MOST = 7;

    private static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    static Transfers none(LockClock clock) {
        return new Transfers(0, clock.nanoTime());
    }

    Transfers oneMore() {
        return new Transfers(inARow + 1, since);
    }

    boolean mayGoOn(LockClock clock) {
        return inARow < MOST && clock.nanoTime() - since < LONGEST_NANOS;
    }
}
