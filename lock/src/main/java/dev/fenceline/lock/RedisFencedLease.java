package dev.fenceline.lock;

import dev.fenceline.FencedLease;
import dev.fenceline.FencingToken;

/** A lease that carries the token of its grant. */
final class RedisFencedLease extends RedisLease implements FencedLease {

    private final FencingToken token;

    RedisFencedLease(ConnectedLocks locks, LockKey lock, Grant grant, Proof first) {
        super(locks, lock, grant, first);
        this.token = new FencingToken(lock.name(), grant.token(), grant.holder());
    }

    @Override
    public FencingToken token() {
        return token;
    }
}
