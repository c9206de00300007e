package dev.fenceline.verification.torture;

import dev.fenceline.testkit.ClusterSpec;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.RedisCluster;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisServer;
import dev.fenceline.testkit.SlotMove;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Three masters with a replica each, without persistence; faults strike a master that has locks. */
final class ClusterNodes implements Deployment {

    private final RedisCluster cluster;

    ClusterNodes(EmbeddedServers servers) {
        cluster = servers.cluster(ClusterSpec.threeMasters().replicasEach(1));
    }

    @Override
    public Access access() {
        return new Access(Access.Kind.CLUSTER, cluster.uris(), Map.of());
    }

    @Override
    public List<RedisServer> endpoints() {
        return List.copyOf(cluster.nodes());
    }

    @Override
    public List<RedisProcess> servers() {
        return cluster.nodes();
    }

    @Override
    public List<RedisProcess> masters() {
        return cluster.masters();
    }

    @Override
    public List<Fault> faults(Pace pace) {
        Victim killed = new Victim(this::busyMaster);
        Victim paused = new Victim(this::busyMaster);
        return List.of(
                new Fault(
                        "a kill of a master",
                        () -> {
                            killed.kill();
                            cluster.awaitOk();
                        },
                        () -> {
                            killed.restart();
                            cluster.awaitOk();
                        }),
                new Fault(
                        "a pause of a master of 5 s",
                        () -> {
                            paused.pause();
                            cluster.awaitOk();
                        },
                        () -> {
                            paused.resume(pace);
                            cluster.awaitOk();
                        }),
                new Fault("an ordered failover", () -> cluster.failover(busyMaster())),
                new Fault("a slot that is moved", () -> moveASlot(pace)));
    }

    private void moveASlot(Pace pace) {
        RedisProcess from = busyMaster();
        int slot = cluster.slotOf(from.command("RANDOMKEY"));
        RedisProcess to = cluster.masters().stream()
                .filter(master -> master != from)
                .findFirst()
                .orElseThrow();
        SlotMove move = cluster.moveSlot(slot, to);
        move.moveKeys();
        pace.hold(Duration.ofSeconds(1));
        move.finish();
    }

    private RedisProcess busyMaster() {
        return cluster.masters().stream()
                .filter(master -> !master.command("DBSIZE").equals("0"))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("No master has any locks: " + cluster));
    }
}
