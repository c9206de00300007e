package dev.fenceline.lock;

import dev.fenceline.EfficiencyLock;
import dev.fenceline.Lease;
import dev.fenceline.LockName;

/** A lock without a token. */
final class RedisEfficiencyLock extends RedisLock<Lease> implements EfficiencyLock {

    RedisEfficiencyLock(ConnectedLocks locks, LockName name) {
        super(locks, new LockKey(LockKind.EFFICIENCY, name));
    }

    @Override
    Lease own(RedisLease lease) {
        return lease;
    }
}
