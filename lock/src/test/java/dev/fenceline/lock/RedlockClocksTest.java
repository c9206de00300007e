package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.serverMicros;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.testkit.FaultProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
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
                    .hasMessageContaining("2 of 5 nodes answered and 3 are needed; Redis at ")
                    .hasMessageContaining(" refuses a token that is more than S ahead of its clock; ")
                    .hasMessageContaining("Nothing is held");
            proxies.forEach(FaultProxy::heal);
            locks.fenced(ACCOUNT).acquire().close();
        } finally {
            proxies.forEach(FaultProxy::close);
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
