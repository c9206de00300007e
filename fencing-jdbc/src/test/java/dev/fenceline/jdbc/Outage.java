package dev.fenceline.jdbc;

import java.time.Duration;

/** Lets clients wait for the return of a server that a test has taken from them. */
final class Outage {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private boolean down;

    synchronized void begin() {
        down = true;
    }

    synchronized void end() {
        down = false;
        notifyAll();
    }

    /** Returns at once while the server is there. */
    synchronized void awaitEnd() {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        try {
            while (down) {
                long left = deadline - System.nanoTime();
                if (left <= 0) {
                    throw new AssertionError("Within " + LIMIT.toSeconds() + " s the server did not come back");
                }
                // At least 1 ms: zero would wait for ever.
                wait(left / 1_000_000 + 1);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while the server was down", e);
        }
    }
}
