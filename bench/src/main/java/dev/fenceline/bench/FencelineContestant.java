package dev.fenceline.bench;

import dev.fenceline.DistributedLock;
import dev.fenceline.Lease;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.lock.RedisLocks;
import java.time.Duration;

/**
 * Fenceline with its defaults, but for K: the skew between the clocks of two masters is zero where there is one master, and
 * otherwise each of the 1,024 buckets would wait 250 ms once, which is no part of what is measured.
 */
final class FencelineContestant implements Contestant {

    /** Longer than any scenario makes a thread wait. */
    private static final Duration MAX_WAIT = Duration.ofMinutes(5);

    private final Entrant entrant;
    private final Locks locks;

    FencelineContestant(Entrant entrant, String redis) {
        this.entrant = entrant;
        this.locks = RedisLocks.connect(
                redis,
                LockOptions.builder()
                        .masterClockSkew(Duration.ZERO)
                        .maxWait(MAX_WAIT)
                        .build());
    }

    @Override
    public Entrant entrant() {
        return entrant;
    }

    @Override
    public Mutex lock(String name) {
        LockName lockName = LockName.of("bench", name);
        DistributedLock<? extends Lease> lock =
                entrant == Entrant.FENCED ? locks.fenced(lockName) : locks.efficiency(lockName);
        return () -> {
            Lease lease = lock.acquire();
            return lease::close;
        };
    }

    @Override
    public void close() {
        locks.close();
    }
}
