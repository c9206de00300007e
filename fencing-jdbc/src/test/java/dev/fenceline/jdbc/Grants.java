package dev.fenceline.jdbc;

import dev.fenceline.FencedLease;
import dev.fenceline.FencedLock;
import dev.fenceline.FencedLocks;
import dev.fenceline.FencelineListener;
import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.lock.RedisLocks;
import dev.fenceline.testkit.SharedServers;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicLong;

/** Where tests have their tokens from: a real lock on a real Redis. */
final class Grants {

    private static final AtomicLong NAMES = new AtomicLong();

    private Grants() {}

    private static final class Shared {
        // Closed when the JVM ends, as locks are.
        static final Locks LOCKS = locks(LockOptions.defaults().lease());
    }

    static Locks locks(Duration lease) {
        return RedisLocks.connect(
                SharedServers.redis().uri(),
                LockOptions.builder()
                        .lease(lease)
                        .masterClockSkew(Duration.ZERO)
                        .listener(FencelineListener.none())
                        .build());
    }

    /** A name that no other test uses. */
    static LockName freshLock() {
        return LockName.of("account", NAMES.incrementAndGet());
    }

    static FencedLock lock(LockName name) {
        return Shared.LOCKS.fenced(name);
    }

    static FencedLocks locks(Collection<LockName> names) {
        return Shared.LOCKS.fencedAll(names);
    }

    static FencedLease lease(LockName name) {
        return lock(name).tryAcquire().orElseThrow(() -> new AssertionError("'" + name + "' is held"));
    }

    /** The token of a grant that is over already: whoever claims with it depends on the fence alone. */
    static FencingToken next(LockName name) {
        try (FencedLease lease = lease(name)) {
            return lease.token();
        }
    }
}
