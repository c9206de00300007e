package dev.fenceline.bench;

import java.time.Duration;
import java.time.Instant;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** ShedLock's provider for Redis, which has no lock that waits. */
final class ShedLockContestant implements Contestant {

    private static final Duration LEASE = Duration.ofSeconds(10);

    private final LettuceConnectionFactory connections;
    private final RedisLockProvider provider;

    ShedLockContestant(String redis) {
        this.connections = SpringContestant.connections(redis);
        this.provider = new RedisLockProvider(connections, "bench");
    }

    @Override
    public Entrant entrant() {
        return Entrant.SHEDLOCK;
    }

    @Override
    public Mutex lock(String name) {
        return () -> {
            SimpleLock held = provider.lock(new LockConfiguration(Instant.now(), name, LEASE, Duration.ZERO))
                    .orElseThrow(() -> new IllegalStateException(
                            "ShedLock's lock '" + name + "' is held; it has no way to wait for it."));
            return held::unlock;
        };
    }

    @Override
    public void close() {
        connections.destroy();
    }
}
