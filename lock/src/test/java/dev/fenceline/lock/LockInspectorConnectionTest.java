package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.eventually;
import static dev.fenceline.lock.Fixture.fenced;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.LockOptions;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.Servers;
import dev.fenceline.testkit.SharedServers;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What an operator is told when a server is gone, silent, unsafe, a part of a whole, or closed to him. */
@Tag("server")
class LockInspectorConnectionTest {

    private final EmbeddedServers servers = Servers.embedded();
    private final RedisProcess redis = SharedServers.redis();
    private final LockOptions options = Fixture.options().build();
    private final KeySpace keys = new KeySpace(options.keyPrefix());

    @AfterEach
    void stopServersAndFindNoThreadLeft() {
        servers.close();
        eventually("no thread of a lock is left", () -> RedisLocksTest.ourThreads() == 0);
    }

    @Test
    void aListingEndsWithAnErrorWhenItsServerDoes() {
        RedisProcess own = servers.redis(RedisSpec.master());
        try (LockInspector inspector = LockInspector.connect(own.uri(), options)) {
            Iterator<LockState> listing = inspector.list(LockFilter.all()).iterator();
            own.kill();
            assertThatThrownBy(listing::hasNext)
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageStartingWith("Locks not listed: ")
                    .hasMessageEndingWith(". Nothing was changed; trying again is fine.");
            assertThatThrownBy(() -> inspector.find(LockKind.FENCED, ACCOUNT))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageStartingWith("Lock 'account:42' not looked at: ");
        }
    }

    @Test
    void aServerThatFallsSilentCostsOneCommandTimeout() {
        try (FaultProxy proxy = FaultProxy.to(redis.host(), redis.port());
                LockInspector inspector =
                        LockInspector.connect("redis://" + proxy.host() + ":" + proxy.port(), options)) {
            proxy.onRequest(Script.LOOK.digest()).holdReply();
            assertThatThrownBy(() -> inspector.find(LockKind.FENCED, ACCOUNT))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("did not answer within 1000 ms. Nothing was changed");
        }
    }

    @Test
    void aServerThatLocksRefuseCanBeLookedAt() {
        RedisProcess evicting = servers.redis(RedisSpec.master().setting("maxmemory-policy", "allkeys-lru"));
        evicting.command("SET", keys.lock(fenced(ACCOUNT)), "by hand");
        assertThatThrownBy(() -> RedisLocks.connect(evicting.uri(), options))
                .isInstanceOf(BackendMisconfiguredException.class);
        try (LockInspector inspector = LockInspector.connect(evicting.uri(), options)) {
            assertThat(inspector.list(LockFilter.all())).hasSize(1);
        }
    }

    @Test
    void aNodeOfAClusterIsNotTakenForTheWhole() {
        RedisProcess node = servers.redis(RedisSpec.master().setting("cluster-enabled", "yes"));
        try (LockInspector inspector = LockInspector.connect(node.uri(), options)) {
            String refusal = "runs in mode 'cluster' (redis_mode), not 'standalone'."
                    + " Connect to a Cluster with RedisLocks.connectCluster, at a shell by redis-cluster://host:port.";
            assertThatThrownBy(() -> inspector.list(LockFilter.all()).toList())
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessageContaining(refusal);
            assertThatThrownBy(() -> inspector.find(LockKind.FENCED, ACCOUNT))
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessageContaining(refusal);
        }
    }

    @Test
    void aWrongLoginIsRefusedAtConnectAndNoUriIsRepeated() {
        RedisProcess secured = servers.redis(RedisSpec.master().password("right-horse"));
        for (String login : List.of("", ":wrong-battery@")) {
            assertThatThrownBy(() ->
                            LockInspector.connect("redis://" + login + secured.host() + ":" + secured.port(), options))
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessageContaining("refused the login")
                    .hasMessageNotContaining("battery");
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockInspector.connect("http://secret"))
                .withMessageContaining("Not the URI of a Redis server")
                .withMessageNotContaining("secret");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockInspector.connectCluster("http://secret", options))
                .withMessageContaining("Not the URI of a Redis Cluster");
        assertThatThrownBy(() -> LockInspector.connect("redis://localhost:1", options))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("No connection to Redis at localhost:1");
    }

    @Test
    void anInspectorThatWasClosedSaysSoAndClosesTwice() {
        LockInspector inspector = LockInspector.connect(redis.uri(), options);
        inspector.close();
        inspector.close();
        assertThatThrownBy(() -> inspector.find(LockKind.FENCED, ACCOUNT))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("is not connected (closed)");
    }
}
