package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.eventually;
import static dev.fenceline.lock.Fixture.serverMicros;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.RedisProcess;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clocks that are wrong by an hour: those of a node, and that of a client. */
@Tag("server")
class RedlockClocksTest {

    private static final long HOUR = 3_600_000_000L;

    private final LockOptions options = Fixture.options().build();

    /** Of a client whose wall clock is an hour behind that of everybody else. */
    private static LockClock anHourBehind() {
        LockClock right = LockClock.system();
        return new LockClock() {
            @Override
            public long nanoTime() {
                return right.nanoTime();
            }

            @Override
            public long wallMicros() {
                return right.wallMicros() - HOUR;
            }
        };
    }

    @ParameterizedTest
    @ValueSource(longs = {HOUR, -HOUR})
    void aNodeAndAClientThatAreAnHourWrongStopNobody(long wrong) throws InterruptedException {
        var unused = FiveServers.redlock(options);
        List<String> uris = List.of(FiveServers.uris());
        List<Long> ahead = List.of(wrong, 0L, 0L, 0L, 0L);
        List<Long> tokens = new ArrayList<>();
        try (Locks wrongClient = FiveServers.connect(uris, options, ahead, anHourBehind());
                Locks rightClient = FiveServers.connect(uris, options, ahead, LockClock.system())) {
            for (int i = 0; i < 10; i++) {
                for (Locks locks : List.of(wrongClient, rightClient)) {
                    try (FencedLease lease = locks.fenced(ACCOUNT).acquire()) {
                        tokens.add(lease.token().value());
                    }
                }
            }
        }
        assertThat(tokens).isSorted().doesNotHaveDuplicates();
        long now = serverMicros(FiveServers.NODES.get(1));
        // By the clock of the four, and not by the one that is wrong, nor by the client's.
        assertThat(tokens).allSatisfy(token -> assertThat(token).isBetween(now - 60_000_000, now + 10_000_000));
    }

    /** A new incarnation of the node that is ahead counts from its own clock, and its counter would lock everybody out. */
    @Test
    void aNodeThatIsAheadAndLostItsDataStopsNobody() throws InterruptedException {
        var unused = FiveServers.redlock(options);
        List<Long> ahead = List.of(HOUR, 0L, 0L, 0L, 0L);
        try (Locks locks = FiveServers.connect(List.of(FiveServers.uris()), options, ahead, LockClock.system())) {
            locks.fenced(ACCOUNT).acquire().close();
            FiveServers.NODES.get(0).command("DEL", new KeySpace(options.keyPrefix()).node());
            for (int i = 0; i < 5; i++) {
                locks.fenced(ACCOUNT).acquire().close();
            }
            try (FencedLease lease = locks.fenced(ACCOUNT).acquire()) {
                assertThat(FiveServers.taken(options, ACCOUNT)).isEqualTo(4);
                assertThat(lease.token().value()).isLessThan(serverMicros(FiveServers.NODES.get(1)) + 10_000_000);
            }
        }
    }

    /** Three of five are there, and one of them can take no token of the others: that is no reason to wait for an hour. */
    @Test
    void aNodeThatIsAnHourBehindDoesNotTakeThePlaceOfOneThatIsAway() throws InterruptedException {
        var unused = FiveServers.redlock(options);
        List<FaultProxy> proxies = FiveServers.NODES.stream()
                .map(node -> FaultProxy.to(node.host(), node.port()))
                .toList();
        List<String> uris = proxies.stream()
                .map(proxy -> "redis://" + proxy.host() + ":" + proxy.port())
                .toList();
        try (Locks locks = FiveServers.connect(uris, options, List.of(-HOUR, 0L, 0L, 0L, 0L), LockClock.system())) {
            locks.fenced(ACCOUNT).acquire().close();
            proxies.subList(3, 5).forEach(FaultProxy::refuse);
            assertThatThrownBy(() -> locks.fenced(ACCOUNT).acquireWithin(Duration.ofMillis(200)))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("2 of 5 nodes answered and 3 are needed; ")
                    .hasMessageContaining(" refuses a token that is more than S ahead of its clock; ")
                    .hasMessageContaining("Nothing is held");
            proxies.forEach(FaultProxy::heal);
            locks.fenced(ACCOUNT).acquire().close();
        } finally {
            proxies.forEach(FaultProxy::close);
        }
    }

    /** A client whose idea of the nodes' clocks is far ahead, as if they had been set back, lowers its proposal within an attempt. */
    @Test
    void whatWasGrantedUnderAHigherTokenThanTheLastOneIsReleasedToo() throws Exception {
        LockOptions patient = Fixture.options()
                .lease(Duration.ofSeconds(60))
                .commandTimeout(Duration.ofSeconds(10))
                .build();
        var unused = FiveServers.redlock(patient);
        AtomicLong ahead = new AtomicLong();
        List<RedisProcess> nodes = FiveServers.NODES;
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try (FaultProxy last = FaultProxy.to(nodes.get(4).host(), nodes.get(4).port())) {
            List<RedisURI> uris = new ArrayList<>();
            nodes.subList(0, 4).forEach(node -> uris.add(RedisURI.create(node.uri())));
            uris.add(RedisURI.create("redis://" + last.host() + ":" + last.port()));
            RedlockSettings settings =
                    new RedlockSettings(patient, Duration.ofSeconds(4), RedlockSettings.AfterRestart.WAITS);
            NodeScripts right = FiveServers.withClock(0);
            try (Locks locks = Connecting.toNodes(
                    new Network(null, null),
                    uris,
                    settings,
                    uri -> uris.indexOf(uri) < 2 ? FiveServers.withClock(15_000_000) : right,
                    aheadBySeconds(ahead))) {
                locks.fenced(ACCOUNT).acquire().close();
                eventually("the lock is free at all nodes", () -> FiveServers.taken(patient, ACCOUNT) == 0);
                ahead.set(24);
                FaultProxy.Armed held = last.onRequest(right.acquire().digest()).holdReply();
                Future<?> attempt = thread.submit(() -> locks.fenced(ACCOUNT).tryAcquire());
                held.awaitFired(Duration.ofSeconds(10));
                // Two nodes have granted it, and three found it too far ahead. Now two of these are taken by another.
                String key = new KeySpace(patient.keyPrefix()).lock(Fixture.fenced(ACCOUNT));
                String other = "0123456789abcdef0123456789abcdef|7|1700000000000000|17|elsewhere|reports";
                nodes.subList(3, 5).forEach(node -> node.command("SET", key, other, "PX", "60000"));
                assertThat(FiveServers.values(patient, ACCOUNT).limit(3).map(value -> !value.isEmpty()))
                        .containsExactly(true, true, false);
                held.letGo();
                assertThat(refusal(attempt)).isTrue();
                eventually(
                        "only the other has anything",
                        () -> FiveServers.values(patient, ACCOUNT).limit(3).allMatch(String::isEmpty));
            }
        } finally {
            thread.shutdownNow();
        }
    }

    private static LockClock aheadBySeconds(AtomicLong seconds) {
        LockClock right = LockClock.system();
        return new LockClock() {
            @Override
            public long nanoTime() {
                return right.nanoTime() + seconds.get() * 1_000_000_000;
            }

            @Override
            public long wallMicros() {
                return right.wallMicros() + seconds.get() * 1_000_000;
            }
        };
    }

    /** Busy, or to be waited for: that depends on whose answer was last. */
    private static boolean refusal(Future<?> attempt) throws Exception {
        try {
            return attempt.get(20, TimeUnit.SECONDS).equals(Optional.empty());
        } catch (ExecutionException e) {
            return e.getCause() instanceof BackendUnavailableException;
        }
    }

    /** The control: what follows from the highest counter is refused by every node whose clock is right. */
    @Test
    void theHighestCounterPlusOneIsRefusedByEverybodyElse() {
        NodeCommands commands = new NodeCommands(options);
        FiveServers.NODES.forEach(commands::markAsNew);
        long highest = serverMicros(FiveServers.NODES.get(0)) + HOUR;
        assertThat(FiveServers.NODES.subList(1, 5))
                .allSatisfy(node -> assertThat(commands.acquire(node, UUID.randomUUID(), highest + 1)
                                .get(0))
                        .isEqualTo("ahead"));
    }
}
