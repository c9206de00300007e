package dev.fenceline.lock;

import dev.fenceline.FencedLease;
import dev.fenceline.FencedLock;
import dev.fenceline.FencingToken;
import dev.fenceline.LockName;

/** A lock whose grants carry a token. */
final class RedisFencedLock extends RedisLock<FencedLease> implements FencedLock {

    RedisFencedLock(ConnectedLocks locks, LockName name) {
        super(locks, new LockKey(LockKind.FENCED, name));
    }

    @Override
    FencedLease own(RedisLease lease) {
        return (RedisFencedLease) lease;
    }

    @Override
    public void raiseFloor(FencingToken mark) {
        locks().floors().raise(name(), mark.requireLock(name()).value());
    }
}
