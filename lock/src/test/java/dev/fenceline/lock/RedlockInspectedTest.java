package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.FencedLease;
import dev.fenceline.FencelineEvent;
import dev.fenceline.Finding;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.RedisProcess;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One node of Redlock, looked at as if it were a server by itself, and nodes that are away when a lease is given back. */
@Tag("server")
class RedlockInspectedTest {

    private final Queue<FencelineEvent> events = new ConcurrentLinkedQueue<>();
    private final LockOptions options = Fixture.options().listener(events::add).build();
    private final List<RedisProcess> three = FiveServers.NODES.subList(0, 3);
    private final RedisProcess node = three.get(0);
    private final RedlockConnector redlock =
            Redlock.of(FiveServers.uris(three)).options(options).nodeTimeout(FiveServers.NODE_TIMEOUT);

    private static String name(RedisProcess redis) {
        return "Redis at " + redis.host() + ":" + redis.port();
    }

    /** It would be a minority's share, and "released" untrue; or the last one of a bare majority. */
    @Test
    void nothingIsTakenFromAHolderAtOneNode() throws InterruptedException {
        try (Locks locks = redlock.firstStart().connect();
                FencedLease lease = locks.fenced(ACCOUNT).acquire();
                LockInspector inspector = LockInspector.connect(node.uri(), options)) {
            eventually("all nodes have granted it", () -> FiveServers.taken(options, ACCOUNT) == 3);
            assertThat(inspector.isRedlockNode()).isTrue();
            LockState seen = inspector.find(LockKind.FENCED, ACCOUNT).orElseThrow();
            assertThatThrownBy(() -> inspector.forceRelease(seen))
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessageStartingWith("Lock 'account:42' not released: " + name(node)
                            + " is one node of Redlock under the key prefix '" + options.keyPrefix()
                            + "'. A lock of Redlock is")
                    .hasMessageContaining(
                            "Nothing was changed. Wait until the lease is over, or stop the process that holds it")
                    .hasMessageEndingWith("delete its key '" + options.keyPrefix() + ":v1:{redlock}:node' first.");
            assertThat(FiveServers.taken(options, ACCOUNT)).isEqualTo(3);
            lease.requireHeld();
        }
    }

    @Test
    void aServerThatIsUsedAloneOrUnderAnotherPrefixIsNoNode() throws InterruptedException {
        LockOptions alone = Fixture.options().build();
        assertThat(redlock.firstStart().look()).hasSize(3);
        try (Locks locks = RedisLocks.connect(node.uri(), alone);
                FencedLease lease = locks.fenced(ACCOUNT).acquire();
                LockInspector inspector = LockInspector.connect(node.uri(), alone)) {
            assertThat(lease.isHeld()).isTrue();
            assertThat(inspector.isRedlockNode()).isFalse();
            assertThat(inspector.forceRelease(
                            inspector.find(LockKind.FENCED, ACCOUNT).orElseThrow()))
                    .isEqualTo(ForcedRelease.RELEASED);
        }
    }

    /** It waits for one lease after a restart without being told to. */
    @Test
    void theDoctorAsksANodeForNoRestartDelay() {
        assertThat(redlock.firstStart().look()).hasSize(3);
        try (LockInspector inspector = LockInspector.connect(node.uri(), options)) {
            List<Finding> findings = inspector.doctor();
            assertThat(findings).extracting(Finding::code).containsExactly("redis-redlock");
            Finding found = findings.get(0);
            assertThat(found.severity()).isEqualTo(Finding.Severity.INFO);
            assertThat(found.found())
                    .startsWith("is a node of Redlock under the key prefix '" + options.keyPrefix()
                            + "', and grants nothing for one lease after it restarted or lost its data");
            assertThat(found.remedy()).contains("withoutRestartDelay()").contains("appendfsync always");
        }
    }

    @Test
    void aReleaseThatFindsNoMajorityNamesTheNodesThatAreAway() throws InterruptedException {
        try (FaultProxy one = FaultProxy.to(three.get(1).host(), three.get(1).port());
                FaultProxy two = FaultProxy.to(three.get(2).host(), three.get(2).port())) {
            String first = "redis://" + one.host() + ":" + one.port();
            String second = "redis://" + two.host() + ":" + two.port();
            RedlockConnector through =
                    Redlock.of(node.uri(), first, second).options(options).nodeTimeout(FiveServers.NODE_TIMEOUT);
            try (Locks locks = through.firstStart().connect()) {
                FencedLease lease = locks.fenced(ACCOUNT).acquire();
                one.refuse();
                two.refuse();
                lease.close();
                eventually(
                        "the failure is told",
                        () -> events.stream().anyMatch(FencelineEvent.ReleaseFailed.class::isInstance));
                assertThat(events)
                        .filteredOn(FencelineEvent.ReleaseFailed.class::isInstance)
                        .first()
                        .satisfies(event -> assertThat(((FencelineEvent.ReleaseFailed) event).cause())
                                .hasMessage("Redis at " + first.substring(8) + ", Redis at " + second.substring(8)
                                        + " did not answer within 1000 ms"));
            }
        }
    }
}
