package dev.fenceline.verification.torture;

import java.time.Duration;
import java.util.Set;

/**
 * A fault of a run.
 *
 * @param from when it began
 * @param to when the service could be used again
 * @param settled when everything was in order again
 * @param masters how many servers took writes for one lock at a time
 * @param spared the processes that it did not touch, none if it touched the servers
 */
record Outage(String name, long from, long to, long settled, Masters masters, Set<String> spared) {

    /** How many servers take writes for one lock at a time. */
    enum Masters {
        ONE,
        /**
         * A replaced master that nobody told to stop, until clients have asked where the master is. Order between tokens of the
         * two is not promised that long.
         */
        TWO,
        /** A majority of independent ones that remember what they granted: no lease ends without its holder's knowledge. */
        MAJORITY
    }

    /** Clients ask once a second; the rest is for the answer and a new connection. Sentinel itself would take 8 s and more. */
    static final Duration ASKED_AGAIN = Duration.ofSeconds(3);

    boolean splits(long time) {
        return masters == Masters.TWO && from <= time && time <= splitUntil();
    }

    private long splitUntil() {
        return Math.min(settled, to + ASKED_AGAIN.toNanos());
    }

    /** Whether leases may end without their holders' knowledge, from then to then. */
    boolean unsettles(long begin, long end, Duration lease) {
        if (masters == Masters.MAJORITY) {
            return false;
        }
        long over = masters == Masters.TWO ? splitUntil() : settled;
        return from <= begin && end <= over + lease.toNanos();
    }

    /** Whether any of that time is of the fault or of the return to order. */
    boolean touches(long begin, long end, Duration after) {
        return begin <= settled + after.toNanos() && end >= from;
    }
}
