package dev.fenceline.verification.torture;

import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisServer;
import dev.fenceline.testkit.RedisSpec;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** One Redis that keeps every acknowledged write. */
final class SingleServer implements Deployment {

    private final RedisProcess redis;

    SingleServer(EmbeddedServers servers) {
        redis = servers.redis(RedisSpec.master().persistent());
    }

    @Override
    public Access access() {
        return new Access(Access.Kind.SINGLE, List.of(redis.uri()), Map.of());
    }

    @Override
    public List<RedisServer> endpoints() {
        return List.of(redis);
    }

    @Override
    public List<RedisProcess> servers() {
        return List.of(redis);
    }

    @Override
    public List<RedisProcess> masters() {
        return List.of(redis);
    }

    @Override
    public List<Fault> faults(Pace pace) {
        return List.of(
                new Fault("a kill and restart after 2 s", () -> {
                    redis.kill();
                    pace.hold(Duration.ofSeconds(2));
                    redis.restart();
                }),
                new Fault("a pause of 5 s", () -> {
                    redis.pause();
                    pace.hold(Victim.PAUSE);
                    redis.resume();
                }),
                new Fault("a loss of all data", () -> redis.command("FLUSHALL")));
    }
}
