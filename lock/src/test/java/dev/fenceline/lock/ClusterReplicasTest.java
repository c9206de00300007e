package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.testkit.ClusterSpec;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.RedisCluster;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.Servers;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Replicas and new masters of a Cluster that do not answer. */
@Tag("server")
class ClusterReplicasTest {

    private static final EmbeddedServers SERVERS = Servers.embedded();
    private static RedisCluster cluster;
    private static List<RedisURI> seeds;

    @BeforeAll
    static void startCluster() {
        cluster = SERVERS.cluster(ClusterSpec.threeMasters().replicasEach(1));
        seeds = cluster.uris().stream().map(RedisURI::create).toList();
    }

    @AfterAll
    static void stopServers() {
        SERVERS.close();
    }

    /** Who has which slots has nothing to do with it, and each waiter would ask. */
    @Test
    void aGrantThatNoReplicaHasMakesNobodyAskForTheSlots() throws InterruptedException {
        LockOptions options = Fixture.options().replicas(1).build();
        try (Locks locks = RedisLocks.connectCluster(seeds, options)) {
            next(locks);
            RedisProcess replica = cluster.replicasOf(masterOfAccount(options)).get(0);
            List<RedisProcess> masters = cluster.masters();
            long before = questions(masters);
            replica.pause();
            try {
                assertThatThrownBy(() -> locks.fenced(ACCOUNT).tryAcquire())
                        .isInstanceOf(BackendUnavailableException.class)
                        .hasMessageContaining("has the grant at 0 of 1 replicas");
            } finally {
                replica.resume();
            }
            next(locks);
            assertThat(questions(masters)).isEqualTo(before);
        }
    }

    /** Nothing was sent to it, so there is nothing to take back. */
    @Test
    void aNewMasterThatDoesNotAnswerYetWasSentNothing() throws SendFailure {
        LockOptions options = Fixture.options().build();
        try (Fixture.Wire wire =
                new Fixture.Wire(options, (network, context) -> new ClusterRoute(network, seeds, context))) {
            wire.nextToken(ACCOUNT);
            RedisProcess fresh = cluster.failover(masterOfAccount(options));
            fresh.pause();
            try {
                assertThatThrownBy(() -> wire.acquire(ACCOUNT, UUID.randomUUID()))
                        .isInstanceOfSatisfying(
                                SendFailure.class,
                                failure -> assertThat(failure.kind()).isEqualTo(SendFailure.Kind.UNREACHABLE))
                        .hasMessage(fresh.host() + ":" + fresh.port() + " was not connected within 1000 ms");
            } finally {
                fresh.resume();
            }
            assertThat(wire.nextToken(ACCOUNT)).isPositive();
        }
    }

    private static RedisProcess masterOfAccount(LockOptions options) {
        return cluster.masterOf(new KeySpace(options.keyPrefix()).counter(Fixture.fenced(ACCOUNT)));
    }

    /** How often they were asked for the slots; version 7 counts that apart from other commands of its family. */
    private static long questions(List<RedisProcess> masters) {
        return masters.stream()
                .mapToLong(node -> Fixture.calls(node, "cluster(?:\\|slots)?"))
                .sum();
    }

    private static void next(Locks locks) throws InterruptedException {
        try (FencedLease lease = locks.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(40))) {
            assertThat(lease.isHeld()).isTrue();
        }
    }
}
