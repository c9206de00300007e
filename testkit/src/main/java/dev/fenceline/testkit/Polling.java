package dev.fenceline.testkit;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Bounded waits for what other processes do, which cannot signal a latch. Every one says what it waited for. */
final class Polling {

    private static final long PERIOD_MILLIS = 5;

    private Polling() {}

    static void until(String what, Duration limit, BooleanSupplier condition) {
        until(what, limit, condition, () -> "");
    }

    /** Waits until the condition holds; {@code seen} is asked for what there is instead, when the time is over. */
    static void until(String what, Duration limit, BooleanSupplier condition, Supplier<String> seen) {
        long deadline = System.nanoTime() + limit.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException(
                        "Waited " + limit.toMillis() + " ms in vain: " + what + ". " + seen.get());
            }
            pause(what);
        }
    }

    private static void pause(String what) {
        try {
            TimeUnit.MILLISECONDS.sleep(PERIOD_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting: " + what + ".", e);
        }
    }
}
