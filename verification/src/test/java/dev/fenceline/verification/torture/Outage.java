package dev.fenceline.verification.torture;

import java.util.Set;

/**
 * A fault of a run.
 *
 * @param from when it began
 * @param to when the service could be used again
 * @param settled when everything was in order again
 * @param masters how many servers took writes for one lock between {@code from} and {@code settled}
 * @param spared the processes that it did not touch, none if it touched the servers
 */
record Outage(String name, long from, long to, long settled, Masters masters, Set<String> spared) {

    /** How many servers take writes for one lock at a time. */
    enum Masters {
        ONE,
        /** A replaced master that nobody told to stop. Order between tokens of the two is not promised then. */
        TWO
    }

    boolean splits(long time) {
        return masters == Masters.TWO && from <= time && time <= settled;
    }
}
