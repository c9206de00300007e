package dev.fenceline.lock;

import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.testkit.LockContract;
import dev.fenceline.testkit.SharedServers;
import org.junit.jupiter.api.Tag;

/** What every lock service promises, on one Redis. */
@Tag("server")
class RedisLockContractTest extends LockContract {

    @Override
    protected Locks connect(LockOptions options) {
        return RedisLocks.connect(SharedServers.redis().uri(), options);
    }
}
