package dev.fenceline.lock;

import dev.fenceline.EfficiencyLock;
import dev.fenceline.FencelineEvent.OutageBypassed;
import dev.fenceline.JobLock;
import dev.fenceline.Lease;
import dev.fenceline.LockName;
import dev.fenceline.WhenUnavailable;
import java.time.Duration;

/** A lock without a token. */
final class RedisEfficiencyLock extends RedisLock<Lease> implements EfficiencyLock {

    private static final Duration LONGEST_HOLD = Duration.ofDays(1);

    private final Duration atLeast;

    RedisEfficiencyLock(ConnectedLocks locks, LockName name) {
        this(locks, name, Duration.ZERO);
    }

    private RedisEfficiencyLock(ConnectedLocks locks, LockName name, Duration atLeast) {
        super(locks, new LockKey(LockKind.EFFICIENCY, name));
        this.atLeast = atLeast;
    }

    @Override
    public EfficiencyLock holdAtLeast(Duration time) {
        if (time.isNegative() || time.compareTo(LONGEST_HOLD) > 0) {
            throw new IllegalArgumentException(
                    "holdAtLeast of " + time + " for lock '" + name()
                            + "' is not between zero and 24 h. It bridges the difference of clocks; what is done is known by its result.");
        }
        return new RedisEfficiencyLock(locks(), name(), time);
    }

    @Override
    public JobLock whenUnavailable(WhenUnavailable choice) {
        return JobLock.of(this, choice, down -> {
            // Closed locks are no outage: a process that is ending begins nothing.
            if (locks().isClosed()) {
                throw down;
            }
            locks().tell(new OutageBypassed(name(), choice, down));
        });
    }

    @Override
    Lease own(RedisLease lease) {
        lease.keepAtLeast(atLeast);
        return lease;
    }
}
