package dev.fenceline;

import java.time.Duration;

/**
 * The lock for work that may happen twice, but should rarely: a nightly report, a cache refill. Its leases have no token and
 * no fence accepts them, so nothing that must be right can rest on it by mistake.
 *
 * <p>{@code efficiency("report")} and {@code fenced("report")} are two different locks.
 *
 * <p><b>Thread-safety:</b> immutable; the methods that change something return another lock of the same name.
 */
public interface EfficiencyLock extends DistributedLock<Lease> {

    /**
     * Keeps the lock for some time after it was granted, also when the work is done sooner, or throws.
     *
     * <p>For short jobs that several instances start by their own clocks. Where the clocks are two seconds apart and the job
     * takes one, the second instance finds the lock free again and does the job once more. Held for longer than clocks differ,
     * the job runs once.
     *
     * <p><b>Guarantees:</b> after the lease is closed, and the locks are closed too, nobody is granted the lock until this time
     * has passed since the grant.
     *
     * <p><b>Not guaranteed:</b> so much after the holder died, the lease was lost or the server could not be reached for the
     * release: then the lock is free when its lease time has passed. Nor is it where the grant was given up before its work
     * began; that frees the lock at once.
     *
     * @param time zero to 1 day; may be longer than the lease. Zero is as without it
     * @return a lock of the same name that is held at least so long
     * @throws IllegalArgumentException when the time is out of range
     */
    EfficiencyLock holdAtLeast(Duration time);

    /**
     * Decides what becomes of a job when the lock server cannot be used.
     *
     * @param choice what to do then
     * @return this lock for jobs that are skipped when somebody else does them
     */
    JobLock whenUnavailable(WhenUnavailable choice);
}
