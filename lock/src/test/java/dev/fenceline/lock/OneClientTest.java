package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.eventually;
import static dev.fenceline.lock.Fixture.refusedUntilItSays;
import static dev.fenceline.lock.Fixture.serverMicros;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.FencedLease;
import dev.fenceline.FencelineEvent;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.Servers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A client that lives through the fate of its server, and whose knowledge of it grows old. */
@Tag("server")
class OneClientTest {

    private static final EmbeddedServers SERVERS = Servers.embedded();

    private final List<FencelineEvent> events = new CopyOnWriteArrayList<>();
    private final LockOptions options = Fixture.options().listener(events::add).build();

    @AfterAll
    static void stopServers() {
        SERVERS.close();
    }

    @Test
    void aRestartIsNoticedAndTokensGoOnRising() throws InterruptedException {
        try (RedisProcess redis = SERVERS.redis(RedisSpec.master());
                Locks locks = RedisLocks.connect(redis.uri(), options)) {
            long last = next(locks);
            assertThat(next(locks)).isGreaterThan(last);
            assertThat(changes()).isEmpty();
            last = next(locks);
            redis.restart();
            assertThat(next(locks)).isGreaterThan(last);
            eventually("the change is told", () -> changes().size() == 1);
            assertThat(changes().get(0).server()).isEqualTo("Redis at " + redis.host() + ":" + redis.port());
            assertThat(changes().get(0).incarnation()).matches("[0-9a-f]{40}\\|[0-9a-f]{40}");
        }
    }

    @Test
    void flushallBehindAnOpenConnectionIsNoticed() throws InterruptedException {
        try (RedisProcess redis = SERVERS.redis(RedisSpec.master());
                Locks locks = RedisLocks.connect(redis.uri(), options)) {
            long last = 0;
            for (int i = 0; i < 20; i++) {
                long token = next(locks);
                assertThat(token).isGreaterThan(last);
                last = token;
                redis.command("FLUSHALL");
            }
            // For commands, to listen, and the one that asks: none was replaced.
            assertThat(redis.command("INFO", "clients")).contains("connected_clients:3");
        }
    }

    @Test
    void aFailoverThereAndBackBehindAnOpenConnectionIsNoticed() throws Exception {
        try (RedisProcess a = SERVERS.redis(RedisSpec.master());
                RedisProcess b = SERVERS.redis(RedisSpec.master().replicaOf(a));
                Locks locks = RedisLocks.connect(a.uri(), options)) {
            List<Long> tokens = new CopyOnWriteArrayList<>(List.of(next(locks)));
            a.awaitReplicaInSync();
            TokensSurviveServersTest.failThereAndBack(a, b, () -> {
                tokens.add(nextUnchecked(locks));
                tokens.add(nextUnchecked(locks));
            });
            long back = serverMicros(a);
            // What a client knows of a server is good for a second of the server's time.
            eventually("what the client knew has grown old", () -> serverMicros(a) > back + 1_000_000);
            assertThat(next(locks)).isGreaterThan(tokens.get(2));
            eventually("the change is told", () -> changes().size() == 1);
        }
    }

    @Test
    void aMasterThatBecameAReplicaGrantsNothing() throws InterruptedException {
        try (RedisProcess a = SERVERS.redis(RedisSpec.master());
                RedisProcess b = SERVERS.redis(RedisSpec.master());
                Locks locks = RedisLocks.connect(a.uri(), options)) {
            long last = next(locks);
            a.command("REPLICAOF", b.host(), Integer.toString(b.port()));
            b.awaitReplicaInSync();
            // The connection to it was given up, and the next one finds what the server has become.
            refusedUntilItSays(locks.fenced(ACCOUNT), "is a replica (role:slave)");
            a.command("REPLICAOF", "NO", "ONE");
            assertThat(next(locks)).isGreaterThan(last);
        }
    }

    private List<FencelineEvent.IncarnationChanged> changes() {
        return events.stream()
                .filter(FencelineEvent.IncarnationChanged.class::isInstance)
                .map(FencelineEvent.IncarnationChanged.class::cast)
                .toList();
    }

    private static long next(Locks locks) throws InterruptedException {
        try (FencedLease lease = locks.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(10))) {
            return lease.token().value();
        }
    }

    private static long nextUnchecked(Locks locks) {
        try {
            return next(locks);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
