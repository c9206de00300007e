package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisSentinel;
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.SentinelProcess;
import dev.fenceline.testkit.SentinelSpec;
import dev.fenceline.testkit.Servers;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The master that real Sentinels name, while it changes. */
@Tag("server")
class SentinelTest {

    private final EmbeddedServers servers = Servers.embedded();
    private final LockOptions options = Fixture.options().build();

    @AfterEach
    void stopServers() {
        servers.close();
    }

    @Test
    void tokensGoOnRisingOverTheDeathOfAMaster() throws InterruptedException {
        RedisSentinel redis = servers.sentinel(SentinelSpec.pair().sentinels(3));
        try (Locks locks = RedisLocks.connect(redis.uri(), options)) {
            long last = next(locks);
            RedisProcess old = redis.master();
            old.kill();
            long after = next(locks);
            assertThat(after).isGreaterThan(last);
            assertThat(redis.awaitMasterOtherThan(old).command("INFO", "clients"))
                    .as("the connections are at the new master")
                    .doesNotContain("connected_clients:1\r");
        }
    }

    /** The old master lives on as a replica, and is asked through a connection that is still open. */
    @Test
    void aMasterThatWasDemotedBehindAnOpenConnectionIsLeft() throws InterruptedException {
        RedisSentinel redis = servers.sentinel(SentinelSpec.pair());
        try (Fixture.Wire wire = new Fixture.Wire(redis.uri(), options)) {
            Locks locks = wire.locks(LockClock.system());
            // In place of the locks, which then poll.
            SubscriptionTest.Heard heard = new SubscriptionTest.Heard();
            wire.transport().listen(heard);
            long last = next(locks);
            RedisProcess old = redis.master();
            RedisProcess fresh = redis.failover();
            // Sentinel does the same, but only some 10 s later; until then both are masters.
            old.command("REPLICAOF", fresh.host(), Integer.toString(fresh.port()));
            assertThat(next(locks)).isGreaterThan(last);
            eventually(
                    "the subscription is at the new master",
                    () -> fresh.command("PUBLISH", wire.transport().channel(), "hello")
                            .equals("1"));
            // The server counts a subscriber before he has heard of it.
            eventually("those who wait are told of it", () -> heard.beginnings.get() > 0);
        }
    }

    /** Sentinel makes the old master a replica only some 10 s later; whoever stays there is granted locks that others hold. */
    @Test
    void anOrderedFailoverIsFollowedWhileTheOldMasterStillGrants() throws InterruptedException {
        RedisSentinel redis = servers.sentinel(SentinelSpec.pair().sentinels(3));
        try (Locks before = RedisLocks.connect(redis.uri(), options)) {
            long last = next(before);
            RedisProcess old = redis.master();
            RedisProcess fresh = redis.failover();
            await("the locks are at the new master")
                    .atMost(Duration.ofSeconds(5))
                    .until(() -> Fixture.calls(fresh, "evalsha") > 0);
            assertThat(old.command("INFO", "replication")).contains("role:master");
            try (Locks after = RedisLocks.connect(redis.uri(), options);
                    FencedLease lease = after.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(10))) {
                assertThat(lease.token().value()).isGreaterThan(last);
                assertThat(before.fenced(ACCOUNT).tryAcquire()).isEmpty();
            }
            assertThat(next(before)).isGreaterThan(last);
        }
    }

    /** It goes on naming the master that the others have replaced, and would be the first to answer. */
    @Test
    void theAddressThatMostSentinelsNameIsTaken() throws InterruptedException {
        RedisSentinel redis = servers.sentinel(SentinelSpec.pair().sentinels(3));
        RedisProcess master = redis.master();
        try (RedisProcess strange = servers.redis(RedisSpec.master())) {
            SentinelProcess liar = redis.sentinels().get(0);
            liar.command("SENTINEL", "REMOVE", RedisSentinel.MASTER_NAME);
            liar.command(
                    "SENTINEL",
                    "MONITOR",
                    RedisSentinel.MASTER_NAME,
                    strange.host(),
                    Integer.toString(strange.port()),
                    "2");
            for (int i = 0; i < 5; i++) {
                try (Locks locks = RedisLocks.connect(redis.uri(), options)) {
                    assertThat(next(locks)).isPositive();
                }
            }
            assertThat(Fixture.calls(strange, "evalsha")).isZero();
            assertThat(Fixture.calls(master, "evalsha")).isPositive();
        }
    }

    @Test
    void aSentinelThatIsDownCostsNoTimeout() {
        RedisSentinel redis = servers.sentinel(SentinelSpec.pair().sentinels(3));
        redis.sentinels().get(0).pause();
        long start = System.nanoTime();
        RedisLocks.connect(redis.uri(), options).close();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(4));
    }

    @Test
    void sentinelsWithAPasswordOfTheirOwnAreAskedWithIt() throws InterruptedException {
        RedisSentinel redis = servers.sentinel(SentinelSpec.pair()
                .server(RedisSpec.master().password("right-horse"))
                .sentinelPassword("battery-staple"));
        SentinelProcess sentinel = redis.sentinels().get(0);
        RedisURI uri = RedisURI.builder()
                .withSentinel(sentinel.host(), sentinel.port(), "battery-staple")
                .withSentinelMasterId(RedisSentinel.MASTER_NAME)
                .withPassword("right-horse".toCharArray())
                .build();
        try (Locks locks = RedisLocks.connect(uri, options)) {
            assertThat(next(locks)).isPositive();
        }
        assertThatThrownBy(() -> RedisLocks.connect(redis.uri(), options))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageContaining("Sentinel at " + sentinel.host() + ":" + sentinel.port() + " refused the login");
    }

    @Test
    void aMasterThatNoSentinelKnowsIsRefusedByItsName() {
        RedisSentinel redis = servers.sentinel(SentinelSpec.pair());
        String uri = redis.uri().replace("#" + RedisSentinel.MASTER_NAME, "#other");
        assertThatThrownBy(() -> RedisLocks.connect(uri, options))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageContaining("knows no master named 'other'")
                .hasMessageContaining("Check the name behind #");
    }

    @Test
    void aServerThatIsNoSentinelIsToldFromOneThatIsDown() {
        RedisProcess plain = servers.redis(RedisSpec.master());
        String uri = plain.uri().replace("redis://", "redis-sentinel://") + "#main";
        assertThatThrownBy(() -> RedisLocks.connect(uri, options))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageStartingWith("Redis at " + plain.host() + ":" + plain.port()
                        + " is no Sentinel: it does not know the command SENTINEL")
                .hasMessageEndingWith("or connect to the server itself by redis://.");
    }

    @Test
    void withoutAMasterTheMessageNamesItAndItsSentinels() {
        RedisSentinel redis = servers.sentinel(SentinelSpec.pair());
        SentinelProcess sentinel = redis.sentinels().get(0);
        redis.servers().forEach(RedisProcess::kill);
        assertThatThrownBy(() -> RedisLocks.connect(redis.uri(), options))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("Redis master '" + RedisSentinel.MASTER_NAME + "' of Sentinel at "
                        + sentinel.host() + ":" + sentinel.port());
    }

    private static long next(Locks locks) throws InterruptedException {
        try (FencedLease lease = locks.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(20))) {
            return lease.token().value();
        }
    }
}
