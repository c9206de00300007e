package dev.fenceline.testkit;

import java.util.Deque;

/** Stops servers in the reverse order of their start, and goes on when one of them fails. */
final class Stopping {

    private Stopping() {}

    static void stopAll(Deque<AutoCloseable> servers) {
        IllegalStateException failure = new IllegalStateException("Some servers were not stopped.");
        while (!servers.isEmpty()) {
            try {
                servers.pop().close();
            } catch (Exception e) {
                failure.addSuppressed(e);
            }
        }
        if (failure.getSuppressed().length > 0) {
            throw failure;
        }
    }
}
