package dev.fenceline.examples.pausedwriter;

import dev.fenceline.LockName;
import dev.fenceline.testkit.RedisServer;
import java.time.Duration;

/** What the conductor asks Redis about a lock; it never writes there. */
final class LockServer {

    private static final Duration END_LIMIT = Writer.LEASE.plusSeconds(8);

    private final RedisServer redis;

    LockServer(RedisServer redis) {
        this.redis = redis;
    }

    /** How long the lease still runs, by Redis itself. */
    Duration leaseLeft(LockName lock) {
        String key = redis.command("KEYS", "*:lock:f:" + lock);
        if (key.isEmpty() || key.indexOf('\n') >= 0) {
            throw new IllegalStateException(
                    "Redis was to hold one key for the lock '" + lock + "', but holds: '" + key + "'.");
        }
        // Negative if it ran out between the two questions.
        return Duration.ofMillis(Math.max(0, Long.parseLong(redis.command("PTTL", key))));
    }

    void awaitLeaseEnd(LockName lock) {
        Polling.until(
                "the key of the lock '" + lock + "' has not gone from Redis",
                END_LIMIT,
                () -> redis.command("KEYS", "*:lock:f:" + lock).isEmpty());
    }

    String version() {
        return redis.command("INFO", "server")
                .lines()
                .filter(line -> line.startsWith("redis_version:"))
                .map(line -> line.substring("redis_version:".length()).strip())
                .findFirst()
                .orElse("of unknown version");
    }
}
