package dev.fenceline.cli;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Bounded waits for what other sessions and processes do. */
final class Waits {

    private Waits() {}

    static void until(String what, Duration limit, BooleanSupplier condition) {
        long deadline = System.nanoTime() + limit.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("Waited " + limit + " in vain: " + what);
            }
            LockSupport.parkNanos(5_000_000);
        }
    }
}
