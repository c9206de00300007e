package dev.fenceline.examples.pausedwriter;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for something that nobody announces, such as the end of a lease in Redis; never without a limit. */
final class Polling {

    private static final Duration PERIOD = Duration.ofMillis(10);

    private Polling() {}

    static void until(String what, Duration limit, BooleanSupplier condition) {
        long end = System.nanoTime() + limit.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end >= 0 || Thread.currentThread().isInterrupted()) {
                throw new IllegalStateException("Waited " + limit.toMillis() + " ms in vain: " + what + ".");
            }
            LockSupport.parkNanos(PERIOD.toNanos());
        }
    }
}
