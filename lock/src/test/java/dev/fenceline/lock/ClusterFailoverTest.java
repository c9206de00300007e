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
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.Servers;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Masters of a Cluster that are replaced. */
@Tag("server")
class ClusterFailoverTest {

    private static final EmbeddedServers SERVERS = Servers.embedded();

    private final LockOptions options = Fixture.options().build();

    @AfterAll
    static void stopServers() {
        SERVERS.close();
    }

    @Test
    void tokensGoOnRisingOverAnOrderedFailoverAndTheDeathOfAMaster() throws InterruptedException {
        RedisCluster cluster = SERVERS.cluster(ClusterSpec.threeMasters().replicasEach(1));
        String counter = new KeySpace(options.keyPrefix()).counter(Fixture.fenced(ACCOUNT));
        try (Locks locks = RedisLocks.connectCluster(
                cluster.uris().stream().map(RedisURI::create).toList(), options)) {
            long first = next(locks);
            RedisProcess old = cluster.masterOf(counter);
            RedisProcess fresh = cluster.failover(old);
            long second = next(locks);
            assertThat(second).isGreaterThan(first);
            fresh.kill();
            assertThat(next(locks)).isGreaterThan(second);
            assertThat(cluster.masterOf(counter).port()).isEqualTo(old.port());
        }
    }

    @Test
    void aClusterOfWhichAMasterIsDownIsRefusedAndTheMasterNamed() {
        // Else the others, which notice it after a while, would be down too.
        RedisSpec node = RedisSpec.master().setting("cluster-require-full-coverage", "no");
        RedisCluster cluster = SERVERS.cluster(ClusterSpec.threeMasters().node(node));
        RedisProcess dead = cluster.masters().get(2);
        dead.kill();
        assertThatThrownBy(() -> RedisLocks.connectCluster(
                        cluster.uris().stream().map(RedisURI::create).toList(), options))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("No connection to Redis Cluster node at " + dead.host() + ":" + dead.port());
    }

    private static long next(Locks locks) throws InterruptedException {
        try (FencedLease lease = locks.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(40))) {
            return lease.token().value();
        }
    }
}
