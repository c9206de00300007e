package dev.fenceline.verification.torture;

import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisSentinel;
import dev.fenceline.testkit.RedisServer;
import dev.fenceline.testkit.SentinelSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A master and a replica under Sentinel, without persistence: what a failover loses is lost. */
final class WatchedServers implements Deployment {

    private final RedisSentinel deployment;

    WatchedServers(EmbeddedServers servers) {
        deployment = servers.sentinel(SentinelSpec.pair());
    }

    @Override
    public Access access() {
        return new Access(Access.Kind.SENTINEL, List.of(deployment.uri()), Map.of());
    }

    @Override
    public List<RedisServer> endpoints() {
        List<RedisServer> endpoints = new ArrayList<>(deployment.servers());
        endpoints.addAll(deployment.sentinels());
        return endpoints;
    }

    @Override
    public List<RedisProcess> servers() {
        return deployment.servers();
    }

    @Override
    public List<? extends RedisServer> sentinels() {
        return deployment.sentinels();
    }

    @Override
    public List<RedisProcess> masters() {
        return List.of(deployment.master());
    }

    @Override
    public List<Fault> faults(Pace pace) {
        Victim killed = new Victim(deployment::master);
        Victim paused = new Victim(deployment::master);
        return List.of(
                new Fault("a kill of the master", () -> deployment.awaitMasterOtherThan(killed.kill()), () -> {
                    killed.restart();
                    deployment.awaitReplicas();
                }),
                new Fault("a pause of the master of 5 s", () -> deployment.awaitMasterOtherThan(paused.pause()), () -> {
                    paused.resume(pace);
                    deployment.awaitReplicas();
                }),
                new Fault(
                        "an ordered failover",
                        deployment::failover,
                        deployment::awaitReplicas,
                        // Sentinel lets the old master go on for 8 s and more; clients leave it when they ask again.
                        Outage.Masters.TWO,
                        Set.of()));
    }
}
