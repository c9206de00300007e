package dev.fenceline.s3;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * How long something may be tried, and whether the thread was interrupted meanwhile. The outcome of a write has to be found out whether
 * or not somebody is in a hurry, so an interruption is kept and given back at the end.
 */
final class Effort implements AutoCloseable {

    private static final Duration LEAST = Duration.ofMillis(1);
    private static final Duration PAUSE = Duration.ofMillis(50);

    private final long deadline;
    private final Duration perRequest;
    private final Interruption interruption = new Interruption();

    private Effort(long deadline, Duration perRequest) {
        this.deadline = deadline;
        this.perRequest = perRequest;
    }

    static Effort of(Duration inAll, Duration perRequest) {
        return new Effort(System.nanoTime() + inAll.toNanos(), perRequest);
    }

    boolean isOver() {
        return left().isZero();
    }

    /** What the next request may take. */
    Duration timeout() {
        Duration left = left();
        Duration next = left.compareTo(perRequest) < 0 ? left : perRequest;
        return next.compareTo(LEAST) < 0 ? LEAST : next;
    }

    private Duration left() {
        return Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
    }

    /** Leaves a store some time that has just failed, the more the more often. */
    void pause(int failures) {
        Duration pause = PAUSE.multipliedBy(1L << Math.min(failures, 4));
        long until = System.nanoTime() + Math.min(pause.toNanos(), left().toNanos());
        for (long rest = until - System.nanoTime(); rest > 0; rest = until - System.nanoTime()) {
            LockSupport.parkNanos(rest);
            noteInterruption();
        }
    }

    void noteInterruption() {
        interruption.note();
    }

    @Override
    public void close() {
        interruption.close();
    }
}
