package dev.fenceline.lock;

import dev.fenceline.FencedLease;
import dev.fenceline.FencingToken;
import java.util.UUID;

/** A lease that carries the token of its grant. */
final class RedisFencedLease extends RedisLease implements FencedLease {

    private final FencingToken token;

    RedisFencedLease(ConnectedLocks locks, LockKey lock, UUID holder, long value, Proof first) {
        super(locks, lock, holder, first);
        this.token = new FencingToken(lock.name(), value, holder);
    }

    @Override
    public FencingToken token() {
        return token;
    }
}
