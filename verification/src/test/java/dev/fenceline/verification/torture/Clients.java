package dev.fenceline.verification.torture;

import java.time.Duration;
import java.util.List;

/** What the processes of a run are like; one place for the numbers that the bounds follow from. */
final class Clients {

    static final int PROCESSES = 3;
    static final int THREADS = 4;

    static final List<String> LOCKS = List.of("torture:0", "torture:1", "torture:2", "torture:3");

    static final Duration LEASE = Duration.ofSeconds(2);
    static final Duration WAIT = Duration.ofSeconds(3);
    static final Duration COMMAND_TIMEOUT = Duration.ofMillis(500);

    /** A lease of nobody runs out, connections are made again, and a new incarnation waits for K. */
    private static final Duration RECOVERY = LEASE.plus(Duration.ofSeconds(3));

    private static final Duration SLACK = Duration.ofMillis(150);

    /** All who may wait for one lock. */
    private static final int WAITERS = PROCESSES * THREADS;

    /** A hold of at most 8 ms and the way to the next holder take ten times as long on a busy machine. */
    private static final Duration TURN = Duration.ofMillis(100);

    private Clients() {}

    static JournalCheck.Bounds bounds() {
        return bounds(
                new CalmCheck.Bounds(3 * WAITERS, TURN.multipliedBy(WAITERS), Duration.ofSeconds(1), 4 * PROCESSES));
    }

    /** Where processes do not queue, and each asks again after a random time: nobody is refused, but anybody may be overtaken. */
    static JournalCheck.Bounds boundsWithoutOrder() {
        return bounds(new CalmCheck.Bounds(Integer.MAX_VALUE, WAIT, Duration.ofSeconds(2), 20 * PROCESSES));
    }

    private static JournalCheck.Bounds bounds(CalmCheck.Bounds calm) {
        return new JournalCheck.Bounds(WAIT.plus(COMMAND_TIMEOUT), COMMAND_TIMEOUT, SLACK, RECOVERY, LEASE, calm);
    }
}
