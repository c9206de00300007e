package dev.fenceline.verification.torture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.fenceline.FencelineListener;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.Servers;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What is left behind at each new connection is seen in the footprint of a process. */
class FootprintTest {

    @Test
    @Tag("server")
    void aConnectionAndASubscriptionThatAreLeftBehindAreSeen() {
        try (EmbeddedServers servers = Servers.embedded()) {
            RedisProcess redis = servers.redis(RedisSpec.master());
            Access access = new Access(Access.Kind.SINGLE, List.of(redis.uri()), Map.of()).named("ours");
            LockOptions options =
                    LockOptions.builder().listener(FencelineListener.none()).build();
            try (Locks locks = access.connect(options)) {
                Footprint before = at(redis);
                assertThat(before.counts())
                        .isEqualTo(Map.of("connections at servers", 1, "subscriptions at servers", 1));
                redis.command("CLIENT", "KILL", "TYPE", "normal");
                redis.command("CLIENT", "KILL", "TYPE", "pubsub");
                await("one of each is there again")
                        .atMost(Duration.ofSeconds(10))
                        .until(() -> at(redis).equals(before));
                leave(redis, before);
                assertThat(locks).isNotNull();
            }
        }
    }

    /** As if a reconnect had forgotten the connections that were there. */
    private static void leave(RedisProcess redis, Footprint before) {
        RedisURI uri = RedisURI.create(redis.uri() + "?clientName=ours");
        try (RedisClient forgotten = RedisClient.create(uri)) {
            forgotten.connect();
            assertThat(at(redis).beyond(before)).isEqualTo(Map.of("connections at servers", "1 became 2"));
            StatefulRedisPubSubConnection<String, String> ear = forgotten.connectPubSub();
            ear.sync().subscribe("any");
            assertThat(at(redis).beyond(before))
                    .isEqualTo(
                            Map.of("connections at servers", "1 became 2", "subscriptions at servers", "1 became 2"));
        }
    }

    private static Footprint at(RedisProcess redis) {
        return Footprint.connections("ours", List.of(redis), List.of());
    }

    @Test
    void aThreadThatIsLeftBehindIsSeenWhateverItsNumber() {
        Footprint before = Footprint.threads(List.of("main", "lettuce-epollEventLoop-4-1", "fenceline-lock"));
        Footprint same = Footprint.threads(List.of("main", "worker-1", "lettuce-epollEventLoop-9-2", "fenceline-lock"));
        assertThat(same.beyond(before)).isEmpty();
        Footprint more = Footprint.threads(
                List.of("main", "lettuce-epollEventLoop-4-1", "lettuce-epollEventLoop-5-1", "fenceline-lock"));
        assertThat(more.beyond(before)).isEqualTo(Map.of("threads lettuce-epollEventLoop-#-#", "1 became 2"));
        assertThat(Footprint.parse(more.encode())).isEqualTo(more);
        assertThat(Footprint.parse("")).isEqualTo(Footprint.threads(List.of("main")));
    }

    @Test
    void aPoolMayBecomeFullAndASecondOneIsSeen() {
        Footprint before =
                Footprint.threads(List.of("lettuce-epollEventLoop-4-1")).withFullPools();
        List<String> full = List.of(
                "lettuce-epollEventLoop-4-1",
                "lettuce-epollEventLoop-4-2",
                "lettuce-eventExecutorLoop-1-1",
                "lettuce-eventExecutorLoop-1-2",
                "fenceline-lock-events");
        assertThat(Footprint.threads(full).beyond(before)).isEmpty();
        List<String> second = new ArrayList<>(full);
        second.add("lettuce-epollEventLoop-5-1");
        assertThat(Footprint.threads(second).beyond(before))
                .isEqualTo(Map.of("threads lettuce-epollEventLoop-#-#", "2 became 3"));
    }

    @Test
    void whatComesAndGoesIsNoPartOfTheLeast() {
        Footprint one = new Footprint(Map.of("connections at servers", 3, "connections at Sentinels", 1));
        Footprint other = new Footprint(Map.of("connections at servers", 2));
        assertThat(one.atLeast(other).counts()).isEqualTo(Map.of("connections at servers", 2));
        assertThat(one.beyond(one.atLeast(other)))
                .isEqualTo(Map.of("connections at servers", "2 became 3", "connections at Sentinels", "0 became 1"));
    }
}
