package dev.fenceline.bench;

import dev.fenceline.bench.Contestant.Mutex;
import dev.fenceline.bench.Contestant.Turn;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Threads that want the same lock all the time, and hold it for a millisecond. */
final class Contention {

    private static final long HOLD_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private Contention() {}

    /** Runs until the time is over and every thread has had its last turn. */
    static List<Hold> run(Crew crew, int firstThread, Mutex lock, Duration time) throws Exception {
        long end = System.nanoTime() + time.toNanos();
        List<Hold> all = new ArrayList<>();
        crew.all(thread -> turns(lock, end, firstThread + thread)).forEach(all::addAll);
        return all;
    }

    private static List<Hold> turns(Mutex lock, long end, int thread) throws Exception {
        List<Hold> holds = new ArrayList<>();
        while (System.nanoTime() - end < 0) {
            long asked = System.nanoTime();
            Turn turn = lock.enter();
            long acquired = System.nanoTime();
            // Parked and not spun: a spinning holder would take a processor from those who are to be measured. That it
            // wakes late prolongs the hold, not the hand-over, which begins after it.
            parkUntil(acquired + HOLD_NANOS);
            long releasing = System.nanoTime();
            turn.leave();
            holds.add(new Hold(asked, acquired, releasing, thread));
        }
        return holds;
    }

    /** Does nothing for as long as a hold lasts. */
    static void parkForAHold() {
        parkUntil(System.nanoTime() + HOLD_NANOS);
    }

    static void parkUntil(long nanoTime) {
        for (long left = nanoTime - System.nanoTime(); left > 0; left = nanoTime - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}
