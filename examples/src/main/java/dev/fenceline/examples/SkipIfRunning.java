package dev.fenceline.examples;

import dev.fenceline.Lease;
import dev.fenceline.LockName;
import dev.fenceline.Locks;
import dev.fenceline.lock.RedisLocks;
import java.util.Optional;

/** A nightly job that may run twice but should not: whoever comes second skips it. No token, and so no fence takes it. */
public final class SkipIfRunning {

    private SkipIfRunning() {}

    /**
     * Makes a report, unless another instance does.
     *
     * @param args the URI of Redis
     */
    public static void main(String[] args) {
        try (Locks locks = RedisLocks.connect(args[0])) {
            boolean ran = report(locks, () -> System.out.println("the report"));
            System.out.println(ran ? "done" : "skipped: another instance is at it");
        }
    }

    static boolean report(Locks locks, Runnable job) {
        // snippet: skip-if-running
        Optional<Lease> lease =
                locks.efficiency(LockName.of("report", "nightly")).tryAcquire();
        if (lease.isEmpty()) {
            return false; // another instance is at it
        }
        try (Lease held = lease.get()) {
            job.run();
            return held.isHeld(); // false: it took so long that another instance may have begun
        }
        // end snippet
    }
}
