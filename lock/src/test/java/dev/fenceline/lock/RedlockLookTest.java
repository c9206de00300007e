package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.FencedLease;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.lock.RedlockNodeState.Status;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.RedisProcess;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What an operator sees of the nodes. */
@Tag("server")
class RedlockLookTest {

    private final LockOptions options = Fixture.options().build();
    private final List<RedisProcess> three = FiveServers.NODES.subList(0, 3);
    private final RedlockConnector redlock =
            Redlock.of(FiveServers.uris(three)).options(options).nodeTimeout(FiveServers.NODE_TIMEOUT);

    private static List<Status> statuses(List<RedlockNodeState> states) {
        return states.stream().map(RedlockNodeState::status).toList();
    }

    @Test
    void lookingChangesNothing() {
        assertThat(statuses(redlock.look())).containsExactly(Status.NEW, Status.NEW, Status.NEW);
        String node = new KeySpace(options.keyPrefix()).node();
        assertThat(three)
                .allSatisfy(each -> assertThat(each.command("EXISTS", node)).isEqualTo("0"));
        assertThat(redlock.firstStart().look()).allSatisfy(state -> {
            assertThat(state.status()).isEqualTo(Status.KNOWN);
            assertThat(state.reborn()).isEmpty();
            assertThat(state.counter()).isEmpty();
        });
    }

    @Test
    void aLockIsShownAtEachNodeWithTheCounterThatItsNextTokenHasToPass() throws InterruptedException {
        try (Locks locks = redlock.firstStart().connect();
                FencedLease lease = locks.fenced(ACCOUNT).acquire()) {
            eventually("all nodes have granted it", () -> FiveServers.taken(options, ACCOUNT) == 3);
            assertThat(redlock.look(LockKind.FENCED, ACCOUNT)).hasSize(3).allSatisfy(state -> {
                assertThat(state.counter()).hasValue(lease.token().value());
                LockState lock = state.lock().orElseThrow();
                assertThat(lock.token()).contains(lease.token());
                assertThat(lock.process().orElseThrow().application()).isEqualTo("payments");
                assertThat(lock.timeToLive().orElseThrow()).isPositive();
            });
            assertThat(redlock.look(LockKind.EFFICIENCY, ACCOUNT)).allSatisfy(state -> {
                assertThat(state.lock()).isEmpty();
                assertThat(state.counter()).isEmpty();
            });
        }
    }

    /** One lost its data before anybody connected again, one has noticed, and one is away. */
    @Test
    void nodesThatWaitOrAreAwayAreToldApart() {
        LockOptions options = Fixture.options().lease(Duration.ofSeconds(60)).build();
        try (FaultProxy away = FaultProxy.to(three.get(2).host(), three.get(2).port())) {
            RedlockConnector through = Redlock.of(
                            three.get(0).uri(), three.get(1).uri(), "redis://" + away.host() + ":" + away.port())
                    .options(options)
                    .nodeTimeout(FiveServers.NODE_TIMEOUT);
            through.connect().close();
            String node = new KeySpace(options.keyPrefix()).node();
            String boot = three.get(0).command("HGET", node, "boot");
            // As a process that went away left it.
            three.get(0).command("HSET", node, "boot", boot.replaceFirst("[0-9a-f]{40}", "0".repeat(40)));
            away.refuse();
            List<RedlockNodeState> states = through.look();
            assertThat(statuses(states)).containsExactly(Status.RESTARTED, Status.WAITING, Status.UNKNOWN);
            Instant reborn = states.get(1).reborn().orElseThrow();
            assertThat(reborn)
                    .isBetween(
                            Instant.now().minus(10, ChronoUnit.MINUTES),
                            Instant.now().plusSeconds(60));
            assertThat(states.get(1).waitsUntil()).contains(reborn.plusSeconds(60));
            assertThat(states.get(2).trouble().orElseThrow())
                    .startsWith("No connection to Redis at " + away.host() + ":" + away.port() + ": ");
            three.get(1)
                    .command(
                            "HSET",
                            node,
                            "boot",
                            three.get(1)
                                    .command("HGET", node, "boot")
                                    .replaceFirst("\\|\\d+\\|(\\d+)$", "|1000000|$1"));
            RedlockNodeState waited = through.look().get(1);
            assertThat(waited.status()).isEqualTo(Status.KNOWN);
            assertThat(waited.reborn()).contains(Instant.ofEpochSecond(1));
            assertThat(waited.waitsUntil()).isEmpty();
        }
    }

    @Test
    void aNodeThatIsSilentHidesNoneOfTheOthers() {
        try (FaultProxy silent = FaultProxy.to(three.get(2).host(), three.get(2).port())) {
            // What a cold JVM has to load does not count below.
            assertThat(redlock.look()).hasSize(3);
            silent.blackhole();
            List<RedisURI> nodes = Stream.of(
                            "redis://" + silent.host() + ":" + silent.port(),
                            three.get(0).uri(),
                            three.get(1).uri())
                    .map(RedisURI::create)
                    .toList();
            List<RedlockNodeState> states =
                    RedlockLook.at(new Network(null, null), nodes, options, Duration.ofMillis(1500), null);
            assertThat(statuses(states)).containsExactly(Status.UNKNOWN, Status.NEW, Status.NEW);
            assertThat(states.get(0).trouble().orElseThrow())
                    .startsWith("No connection to Redis at " + silent.host() + ":" + silent.port() + ": ")
                    .contains("timed out");
        }
    }
}
