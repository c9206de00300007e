package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.answer;
import static dev.fenceline.lock.Fixture.eventually;
import static dev.fenceline.lock.Fixture.fenced;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.LockOptions;
import dev.fenceline.testkit.ClusterSpec;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.RedisCluster;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.Servers;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A node without slots, to which a slot begins to move. */
@Tag("server")
class ClusterImportTest {

    private final EmbeddedServers servers = Servers.embedded();
    private final LockOptions options =
            Fixture.options().lease(Duration.ofMillis(500)).build();

    @AfterEach
    void stopServers() {
        servers.close();
    }

    @Test
    void aNodeWhoseMoveWasGivenUpIsLeft() throws Exception {
        RedisCluster cluster = servers.cluster(ClusterSpec.threeMasters());
        List<RedisURI> seeds = cluster.uris().stream().map(RedisURI::create).toList();
        String key = new KeySpace(options.keyPrefix()).lock(fenced(ACCOUNT));
        RedisProcess from = cluster.masterOf(key);
        String slot = Integer.toString(cluster.slotOf(key));
        RedisProcess to = join(cluster);
        try (Fixture.Wire wire =
                new Fixture.Wire(options, (network, context) -> new ClusterRoute(network, seeds, context))) {
            to.command("CLUSTER", "SETSLOT", slot, "IMPORTING", id(from));
            from.command("CLUSTER", "SETSLOT", slot, "MIGRATING", id(to));
            eventually("a renewal is answered there", () -> renewed(wire));
            assertThat(connections(to)).isEqualTo(2);
            from.command("CLUSTER", "SETSLOT", slot, "STABLE");
            to.command("CLUSTER", "SETSLOT", slot, "STABLE");
            eventually("nobody is connected to it any more", () -> {
                // A lost link has the topology asked for.
                from.command("CLIENT", "KILL", "TYPE", "normal");
                renewed(wire);
                return connections(to) == 1;
            });
        }
    }

    private RedisProcess join(RedisCluster cluster) {
        RedisProcess stranger = servers.redis(RedisSpec.master().setting("cluster-enabled", "yes"));
        stranger.command(
                "CLUSTER",
                "MEET",
                cluster.nodes().get(0).host(),
                Integer.toString(cluster.nodes().get(0).port()));
        String id = id(stranger);
        eventually(
                "all know each other",
                () -> stranger.command("CLUSTER", "INFO").contains("cluster_known_nodes:4")
                        && stranger.command("CLUSTER", "INFO").contains("cluster_state:ok")
                        && cluster.nodes().stream()
                                .allMatch(
                                        node -> node.command("CLUSTER", "NODES").contains(id)));
        return stranger;
    }

    private static String id(RedisProcess node) {
        return node.command("CLUSTER", "MYID");
    }

    private static boolean renewed(Fixture.Wire wire) {
        try {
            return answer(wire.transport().renew(fenced(ACCOUNT), UUID.randomUUID()))
                    == LockTransport.RenewReply.REFUSED;
        } catch (SendFailure e) {
            return false;
        }
    }

    /** Our question is one of them. */
    private static long connections(RedisProcess node) {
        return node.command("CLIENT", "LIST", "TYPE", "normal")
                .lines()
                .filter(line -> !line.isBlank())
                .count();
    }
}
