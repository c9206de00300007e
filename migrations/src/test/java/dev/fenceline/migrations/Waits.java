package dev.fenceline.migrations;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for what other sessions do, which nobody announces; never without a limit. */
final class Waits {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Duration PERIOD = Duration.ofMillis(5);

    private Waits() {}

    static void until(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end >= 0 || Thread.currentThread().isInterrupted()) {
                throw new IllegalStateException("Waited " + LIMIT + " in vain: " + what + ".");
            }
            LockSupport.parkNanos(PERIOD.toNanos());
        }
    }

    /** Until the query gives true. */
    static void until(Database database, String query) {
        until(query, () -> database.rows("SELECT (" + query + ")::text").equals(java.util.List.of("true")));
    }
}
