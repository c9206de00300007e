package dev.fenceline.testkit;

import java.time.Duration;

/** Open or closed; whoever comes while it is closed waits. */
final class Gate {

    private boolean open = true;

    synchronized void close() {
        open = false;
    }

    synchronized void open() {
        open = true;
        notifyAll();
    }

    synchronized void await() {
        try {
            while (!open) {
                wait();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns whether it is open, at the latest after the limit. */
    synchronized boolean await(Duration limit) {
        long deadline = System.nanoTime() + limit.toNanos();
        try {
            for (long left = limit.toNanos(); !open && left > 0; left = deadline - System.nanoTime()) {
                // At least 1 ms: zero would wait for ever.
                wait(left / 1_000_000 + 1);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return open;
    }
}
