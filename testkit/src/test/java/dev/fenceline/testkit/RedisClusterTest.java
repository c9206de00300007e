package dev.fenceline.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One Cluster with replicas for all tests: each leaves it in order, though not every master where it was. */
@Tag("server")
class RedisClusterTest {

    private static final EmbeddedServers SERVERS = Servers.embedded();
    private static RedisCluster cluster;

    @BeforeAll
    static void start() {
        cluster = SERVERS.cluster(ClusterSpec.threeMasters().replicasEach(1));
    }

    @AfterAll
    static void stop() {
        SERVERS.close();
    }

    @Test
    void threeMastersShareTheSlotsAndEachHasAReplica() {
        assertThat(cluster.nodes()).hasSize(6);
        assertThat(cluster.uris()).hasSize(6).allMatch(uri -> uri.startsWith("redis://127.0.0.1:"));
        assertThat(cluster.masters())
                .hasSize(3)
                .allSatisfy(master -> assertThat(cluster.replicasOf(master)).hasSize(1));
        assertThat(cluster.slotOf("foo")).isEqualTo(12_182);
        assertThat(cluster.slotOf("x{foo}y")).isEqualTo(12_182);
        RedisProcess owner = cluster.masterOf("foo");
        assertThat(owner.command("SET", "foo", "v")).isEqualTo("OK");
        RedisProcess other = cluster.masters().stream()
                .filter(master -> master != owner)
                .findFirst()
                .orElseThrow();
        assertThatIllegalStateException()
                .isThrownBy(() -> other.command("GET", "foo"))
                .withMessageContaining("MOVED 12182 127.0.0.1:" + owner.port());
    }

    @Test
    void aReplicaTakesOverFromAKilledMasterWhichComesBackAsAReplica() {
        RedisProcess old = cluster.masterOf("killed");
        old.command("SET", "killed", "v");
        old.awaitReplicaInSync();
        old.kill();
        cluster.awaitOk();
        RedisProcess promoted = cluster.masterOf("killed");
        assertThat(promoted).isNotSameAs(old);
        assertThat(promoted.command("GET", "killed")).isEqualTo("v");
        old.restart();
        cluster.awaitOk();
        assertThat(cluster.replicasOf(promoted)).containsExactly(old);
    }

    @Test
    void aReplicaTakesOverFromAPausedMaster() {
        RedisProcess old = cluster.masterOf("paused");
        old.pause();
        cluster.awaitOk();
        assertThat(cluster.masterOf("paused").command("SET", "paused", "v")).isEqualTo("OK");
        old.resume();
        cluster.awaitOk();
        assertThat(cluster.masterOf("paused")).isNotSameAs(old);
    }

    @Test
    void anOrderedFailoverLosesNothing() {
        RedisProcess old = cluster.masterOf("ordered");
        old.command("SET", "ordered", "v");
        RedisProcess promoted = cluster.failover(old);
        assertThat(cluster.masterOf("ordered")).isSameAs(promoted).isNotSameAs(old);
        assertThat(promoted.command("GET", "ordered")).isEqualTo("v");
    }

    @Test
    void inTheMiddleOfAMoveClientsAreSentElsewhereAndThereToldToTryAgain() throws IOException {
        int slot = cluster.slotOf("{tag}a");
        RedisProcess from = cluster.masterOf(slot);
        RedisProcess to = cluster.masters().stream()
                .filter(master -> master != from)
                .findFirst()
                .orElseThrow();
        from.command("SET", "{tag}a", "1");
        from.command("SET", "{tag}b", "2");

        SlotMove move = cluster.moveSlot(slot, to);
        assertThat(move.slot()).isEqualTo(slot);
        assertThat(from.command("GET", "{tag}a")).isEqualTo("1");
        move.moveKey("{tag}a");
        assertThatIllegalStateException()
                .isThrownBy(() -> from.command("GET", "{tag}a"))
                .withMessageContaining("ASK " + slot + " 127.0.0.1:" + to.port());
        try (RespSocket asking = new RespSocket(to.host(), to.port())) {
            asking.command("ASKING");
            assertThatIllegalStateException()
                    .isThrownBy(() -> asking.command("MGET", "{tag}a", "{tag}b"))
                    .withMessageContaining("TRYAGAIN");
        }
        assertThat(cluster.masterOf(slot)).isSameAs(from);
        move.finish();

        assertThat(cluster.masterOf(slot)).isSameAs(to);
        assertThat(to.command("MGET", "{tag}a", "{tag}b")).isEqualTo("1\n2");
        assertThatIllegalStateException()
                .isThrownBy(() -> cluster.moveSlot(slot, to))
                .withMessage("Slot " + slot + " is not moved: " + to + " has it already.");
    }

    @Test
    void aMoveThatIsCalledOffLeavesTheSlotWhereItWas() {
        int slot = cluster.slotOf("{off}a");
        RedisProcess from = cluster.masterOf(slot);
        RedisProcess to = cluster.masters().stream()
                .filter(master -> master != from)
                .findFirst()
                .orElseThrow();
        cluster.moveSlot(slot, to).cancel();
        assertThat(from.command("SET", "{off}a", "1")).isEqualTo("OK");
        assertThat(from.command("CLUSTER", "NODES")).doesNotContain("[" + slot);
    }

    @Test
    void aPasswordIsDemandedByEveryNodeAndUsedForMoves() {
        try (EmbeddedServers own = Servers.embedded()) {
            RedisCluster secured = own.cluster(
                    ClusterSpec.threeMasters().node(RedisSpec.master().password("open-sesame")));
            RedisProcess node = secured.nodes().get(0);
            assertThat(secured.uris()).allMatch(uri -> uri.startsWith("redis://:open-sesame@127.0.0.1:"));
            assertThatIllegalStateException()
                    .isThrownBy(() -> RedisCommands.run(node.host(), node.port(), Optional.empty(), "PING"))
                    .withMessageContaining("NOAUTH");
            int slot = secured.slotOf("k");
            RedisProcess from = secured.masterOf(slot);
            from.command("SET", "k", "v");
            RedisProcess to = secured.masters().stream()
                    .filter(master -> master != from)
                    .findFirst()
                    .orElseThrow();
            secured.moveSlot(slot, to).finish();
            assertThat(to.command("GET", "k")).isEqualTo("v");
            secured.masterOf(0).kill();
            assertThatIllegalStateException()
                    .isThrownBy(() -> secured.masterOf(0))
                    .withMessageContaining("No running node serves slot 0.")
                    .satisfies(thrown -> assertThat(thrown.getMessage()).doesNotContain("sesame"));
        }
    }

    @Test
    void aClusterHasAtLeastThreeMasters() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ClusterSpec.threeMasters().masters(2))
                .withMessage(
                        "A Redis Cluster has at least three masters, and no fewer than zero replicas each, not 2 and 0.");
    }
}
