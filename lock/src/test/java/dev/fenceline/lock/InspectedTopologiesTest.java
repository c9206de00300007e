package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.Finding;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.testkit.ClusterSpec;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.RedisCluster;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisSentinel;
import dev.fenceline.testkit.SentinelSpec;
import dev.fenceline.testkit.Servers;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Looking where there are several servers. */
@Tag("server")
class InspectedTopologiesTest {

    private final EmbeddedServers servers = Servers.embedded();
    private final LockOptions options =
            Fixture.options().restartDelay(Duration.ZERO).build();

    @AfterEach
    void stopServers() {
        servers.close();
    }

    @Test
    void inAClusterTheLocksOfAllMastersAreListedReleasedAndDoctored() throws Exception {
        RedisCluster cluster = servers.cluster(ClusterSpec.threeMasters());
        List<RedisURI> seeds = cluster.uris().stream().map(RedisURI::create).toList();
        String uri = cluster.uris().get(0);
        try (Locks locks = RedisLocks.connectCluster(seeds, options);
                Locks others = RedisLocks.connectCluster(seeds, options);
                LockInspector inspector = LockInspector.connectCluster(uri, options);
                LockInspector bySeeds = LockInspector.connectCluster(seeds, options)) {
            List<FencedLease> leases = new ArrayList<>();
            List<LockName> names = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                LockName name = LockName.of("account", "{" + i + "}");
                names.add(name);
                leases.add(locks.fenced(name).acquire());
            }
            assertThat(inspector.list(LockFilter.all()).map(LockState::name))
                    .containsExactlyInAnyOrderElementsOf(names);
            assertThat(bySeeds.list(LockFilter.all())).hasSize(40);
            assertThat(cluster.masters())
                    .as("each of them has some")
                    .allSatisfy(
                            master -> assertThat(Fixture.calls(master, "scan")).isPositive());

            for (int i = 0; i < 3; i++) {
                LockName name = names.get(i);
                CompletableFuture<FencedLease> waiter = others.fenced(name).acquireAsync(Duration.ofSeconds(20));
                eventually("it waits", () -> find(inspector, name).waiting() == 1);
                assertThat(inspector.forceRelease(find(inspector, name))).isEqualTo(ForcedRelease.RELEASED);
                try (FencedLease next = waiter.get(10, TimeUnit.SECONDS)) {
                    assertThat(next.token().value())
                            .isGreaterThan(leases.get(i).token().value());
                }
            }

            // Behind the back of whoever connected before: MOVED is followed.
            LockName moving = names.get(5);
            KeySpace keys = new KeySpace(options.keyPrefix());
            int slot = cluster.slotOf(keys.lock(Fixture.fenced(moving)));
            RedisProcess from = cluster.masterOf(slot);
            RedisProcess to = cluster.masters().stream()
                    .filter(master -> master.port() != from.port())
                    .findFirst()
                    .orElseThrow();
            var move = cluster.moveSlot(slot, to);
            move.finish();
            assertThat(find(inspector, moving).token()).contains(leases.get(5).token());
            assertThat(inspector.list(LockFilter.all())).hasSize(37);

            to.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
            assertThat(inspector.doctor().stream().filter(finding -> finding.severity() == Finding.Severity.ERROR))
                    .singleElement()
                    .satisfies(finding -> {
                        assertThat(finding.code()).isEqualTo("redis-eviction");
                        assertThat(finding.subject()).isEqualTo("Redis Cluster node at " + to.host() + ":" + to.port());
                    });
            to.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
            to.pause();
            assertThat(inspector.doctor().stream().filter(finding -> finding.severity() == Finding.Severity.ERROR))
                    .singleElement()
                    .satisfies(finding -> {
                        assertThat(finding.code()).isEqualTo("redis-unavailable");
                        assertThat(finding.subject()).isEqualTo("Redis Cluster node at " + to.host() + ":" + to.port());
                    });
            to.resume();
        }
    }

    private static LockState find(LockInspector inspector, LockName name) {
        return inspector.find(LockKind.FENCED, name).orElseThrow();
    }

    @Test
    void behindSentinelTheLocksOfTheMasterOfTheDayAreListedReleasedAndDoctored() throws Exception {
        RedisSentinel redis = servers.sentinel(SentinelSpec.pair().sentinels(3));
        try (LockInspector inspector = LockInspector.connect(redis.uri(), options);
                Locks locks = RedisLocks.connect(redis.uri(), options)) {
            FencedLease lease = locks.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(20));
            assertThat(find(inspector, ACCOUNT).token()).contains(lease.token());
            assertThat(inspector.doctor())
                    .extracting(Finding::code)
                    .containsExactly("redis-persistence", "redis-failover", "redis-two-masters");

            redis.master().awaitReplicaInSync();
            RedisProcess old = redis.master();
            old.kill();
            redis.awaitMasterOtherThan(old);
            eventually("it looks at the new master", () -> {
                try {
                    return inspector.list(LockFilter.all()).count() == 1;
                } catch (BackendUnavailableException e) {
                    return false;
                }
            });
            assertThat(inspector.forceRelease(find(inspector, ACCOUNT))).isEqualTo(ForcedRelease.RELEASED);
            try (FencedLease next = locks.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(20))) {
                assertThat(next.token().value()).isGreaterThan(lease.token().value());
            }
        }
    }
}
