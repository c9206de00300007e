package dev.fenceline.examples;

import dev.fenceline.LockName;
import dev.fenceline.Locks;
import dev.fenceline.WhenUnavailable;
import dev.fenceline.lock.RedisLocks;
import java.time.Duration;

/** A nightly job that may run twice but should not: whoever comes second skips it. No token, and so no fence takes it. */
public final class SkipIfRunning {

    private SkipIfRunning() {}

    /**
     * Makes a report, unless another instance does or has just done it.
     *
     * @param args the URI of Redis
     */
    public static void main(String[] args) {
        try (Locks locks = RedisLocks.connect(args[0])) {
            boolean ran = report(locks, Duration.ofSeconds(30), () -> System.out.println("the report"));
            System.out.println(ran ? "done" : "skipped: another instance is at it");
        }
    }

    static boolean report(Locks locks, Duration timersDiffer, Runnable job) {
        // snippet: skip-if-running
        return locks.efficiency(LockName.of("report", "nightly"))
                .holdAtLeast(timersDiffer) // 30 s, say: an instance whose clock is late finds the lock still taken
                .whenUnavailable(WhenUnavailable.RUN_ANYWAY) // or SKIP; without a choice, an exception
                .tryRun(held -> job.run()); // false: another instance is at it
        // end snippet
    }
}
