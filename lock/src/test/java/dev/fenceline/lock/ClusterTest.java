package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.answer;
import static dev.fenceline.lock.Fixture.eventually;
import static dev.fenceline.lock.Fixture.fenced;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.testkit.ClusterSpec;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.RedisCluster;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.Servers;
import dev.fenceline.testkit.SharedServers;
import dev.fenceline.testkit.SlotMove;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A real Cluster of three masters, while its slots move. */
@Tag("server")
class ClusterTest {

    private static final EmbeddedServers SERVERS = Servers.embedded();
    private static RedisCluster cluster;
    private static List<RedisURI> seeds;

    private final LockOptions options = Fixture.options().build();
    private final KeySpace keys = new KeySpace(options.keyPrefix());

    @BeforeAll
    static void startCluster() {
        cluster = SERVERS.cluster(ClusterSpec.threeMasters());
        seeds = cluster.uris().stream().map(RedisURI::create).toList();
    }

    @AfterAll
    static void stopServers() {
        SERVERS.close();
    }

    @Test
    void locksAreOnAllMastersWhateverTheirNames() throws InterruptedException {
        List<LockName> names = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            names.add(LockName.of("account", i));
            names.add(LockName.of("brace", "{" + i + "}{x}"));
            names.add(LockName.of("half", "}" + i + "{"));
        }
        try (Locks locks = RedisLocks.connectCluster(seeds, options);
                Locks others = RedisLocks.connectCluster(seeds.subList(0, 1), options)) {
            for (LockName name : names) {
                try (FencedLease first = locks.fenced(name).acquire()) {
                    assertThat(others.fenced(name).tryAcquire()).isEmpty();
                    assertThat(first.isHeld()).isTrue();
                }
                try (FencedLease second = others.fenced(name).acquire()) {
                    assertThat(second.isHeld()).isTrue();
                }
            }
        }
        assertThat(cluster.masters())
                .allSatisfy(master -> assertThat(master.command("KEYS", options.keyPrefix() + ":v1:*:counter"))
                        .isNotEmpty());
    }

    @Test
    void oneUriNamesSeveralNodes() throws InterruptedException {
        String uri = "redis://"
                + String.join(
                        ",",
                        seeds.stream()
                                .map(seed -> seed.getHost() + ":" + seed.getPort())
                                .toList());
        try (Locks locks = RedisLocks.connectCluster(uri);
                Locks ofOthers = RedisLocks.connectCluster(uri, options)) {
            LockName own = LockName.of("own", options.keyPrefix());
            assertThat(locks.efficiency(own).tryAcquire()).isPresent();
            assertThat(ofOthers.efficiency(own).tryAcquire())
                    .as("under the other key prefix of these options")
                    .isPresent();
        }
    }

    /** MOVED was not executed, so the request is made again, with what is known of the new server, in one command timeout. */
    @Test
    void aSlotThatMovedIsFollowedWithinOneAttempt() throws InterruptedException {
        try (Locks locks = RedisLocks.connectCluster(seeds, options)) {
            long last = next(locks);
            SlotMove move = moveAccount();
            move.finish();
            Optional<FencedLease> lease = locks.fenced(ACCOUNT).tryAcquire();
            assertThat(lease).isPresent();
            try (FencedLease held = lease.get()) {
                assertThat(held.token().value()).isGreaterThan(last);
                assertThat(move.to().command("GET", keys.lock(fenced(ACCOUNT))))
                        .contains(Long.toString(held.token().value()));
            }
        }
    }

    @Test
    void aHeldLeaseIsRenewedWhileItsSlotMovesAndReleasedAfterwards() throws Exception {
        try (Fixture.Wire wire = wire(Incarnations.Knowledge.CHECKED)) {
            UUID holder = UUID.randomUUID();
            acquire(wire, holder);
            SlotMove move = moveAccount();
            assertThat(answer(wire.transport().renew(fenced(ACCOUNT), holder)))
                    .isEqualTo(LockTransport.RenewReply.RENEWED);
            move.moveKey(keys.lock(fenced(ACCOUNT)));
            // ASK: the key is at the other master already, which still takes it only from those who ask.
            assertThat(answer(wire.transport().renew(fenced(ACCOUNT), holder)))
                    .isEqualTo(LockTransport.RenewReply.RENEWED);
            assertThat(Fixture.calls(move.to(), "asking")).isPositive();
            move.finish();
            assertThat(answer(wire.transport().renew(fenced(ACCOUNT), holder)))
                    .isEqualTo(LockTransport.RenewReply.RENEWED);
            assertThat(answer(wire.transport().release(fenced(ACCOUNT), holder, Duration.ZERO)))
                    .isEqualTo(LockTransport.ReleaseReply.RELEASED);
        }
    }

    /** Some keys of the lock are here and some are there, so nobody can say anything about it. */
    @Test
    void whileASlotMovesItsLocksAreWaitedFor() throws Exception {
        try (Locks locks = RedisLocks.connectCluster(seeds, options)) {
            long last = next(locks);
            SlotMove move = moveAccount();
            move.moveKey(keys.counter(fenced(ACCOUNT)));
            assertThatThrownBy(() -> locks.fenced(ACCOUNT).tryAcquire())
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("TRYAGAIN")
                    .hasMessageContaining("Nothing is held");
            Thread waiter = new Thread(() -> {
                try (FencedLease lease = locks.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(20))) {
                    assertThat(lease.token().value()).isGreaterThan(last);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            List<Throwable> thrown = new ArrayList<>();
            waiter.setUncaughtExceptionHandler((thread, e) -> thrown.add(e));
            waiter.start();
            eventually("the waiter waits", () -> waiter.getState() == Thread.State.TIMED_WAITING);
            move.finish();
            waiter.join(20_000);
            assertThat(waiter.isAlive()).isFalse();
            assertThat(thrown).isEmpty();
        }
    }

    @Test
    void tokensRiseThoughTheSlotMovesThereAndBackAndTheLastWritesAreLost() throws Exception {
        try (Fixture.Wire wire = wire(Incarnations.Knowledge.CHECKED)) {
            assertThat(afterMovingThereAndBack(wire)).isPositive();
        }
    }

    /** The naive variant: what was first seen of a master before the slot left it is older than what was issued elsewhere. */
    @Test
    void withTheFirstSightOfAMasterTokensFallAndOneIsLost() throws Exception {
        try (Fixture.Wire wire = wire(Incarnations.Knowledge.SEEN_AND_CHECKED)) {
            assertThat(afterMovingThereAndBack(wire)).isNegative();
        }
    }

    /** By how much the token rises when the slot goes to another master and comes back without the newest counter. */
    private long afterMovingThereAndBack(Fixture.Wire wire) throws Exception {
        wire.nextToken(ACCOUNT);
        RedisProcess here = cluster.masterOf(keys.counter(fenced(ACCOUNT)));
        String old = here.command("GET", keys.counter(fenced(ACCOUNT)));
        moveAccount().finish();
        long there = wire.nextToken(ACCOUNT);
        cluster.moveSlot(slot(), here).finish();
        here.command("SET", keys.counter(fenced(ACCOUNT)), old);
        return wire.nextToken(ACCOUNT) - there;
    }

    @Test
    void messagesAreHeardFromEveryNodeAndGoOnWhenOneEndsTheSubscription() {
        try (Fixture.Wire wire = wire(Incarnations.Knowledge.CHECKED)) {
            SubscriptionTest.Heard heard = new SubscriptionTest.Heard();
            wire.transport().listen(heard);
            List<String> sent = new ArrayList<>();
            for (RedisProcess node : cluster.nodes()) {
                sent.add("from " + node.port());
                node.command("PUBLISH", wire.transport().channel(), "from " + node.port());
            }
            eventually("all are heard", () -> heard.messages().containsAll(sent));
            cluster.nodes().forEach(node -> node.command("CLIENT", "KILL", "TYPE", "pubsub"));
            eventually("messages are heard again", () -> heard.beginnings.get() > 0);
            cluster.nodes().get(0).command("PUBLISH", wire.transport().channel(), "after");
            eventually("the message is heard", () -> heard.messages().contains("after"));
        }
    }

    @Test
    void seedsThatAreSilentCostNoTimeout() throws InterruptedException {
        RedisURI good = seeds.get(0);
        try (FaultProxy silent = FaultProxy.to(good.getHost(), good.getPort())) {
            silent.blackhole();
            List<RedisURI> named = new ArrayList<>(
                    Collections.nCopies(15, RedisURI.create("redis://" + silent.host() + ":" + silent.port())));
            named.add(good);
            long start = System.nanoTime();
            try (Locks locks = RedisLocks.connectCluster(named, options)) {
                // One timeout for each of them would be fifteen seconds.
                assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
                assertThat(next(locks)).isPositive();
            }
        }
    }

    /** One silent command after the other, each for a timeout, would end with the limit of all, which names no node. */
    @Test
    void aMasterThatDoesNotAnswerIsNamedWithinSeconds() {
        RedisProcess silent = cluster.masters().get(1);
        silent.pause();
        try {
            assertThatThrownBy(() -> RedisLocks.connectCluster(seeds.subList(0, 1), options))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining(silent.host() + ":" + silent.port());
        } finally {
            silent.resume();
            cluster.awaitOk();
        }
    }

    @Test
    void aServerThatRunsAloneIsRefusedAsACluster() {
        RedisURI alone = RedisURI.create(SharedServers.redis().uri());
        assertThatThrownBy(() -> RedisLocks.connectCluster(List.of(alone), options))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageContaining("Redis Cluster node at " + alone.getHost() + ":" + alone.getPort())
                .hasMessageContaining("cluster support disabled")
                .hasMessageContaining("RedisLocks.connect");
    }

    @Test
    void aUserWithTheGrantsOfTheDocumentationIsEnough() throws InterruptedException {
        withUser(List.of(), user -> {
            try (Locks locks = RedisLocks.connectCluster(user, options)) {
                assertThat(locks.fenced(ACCOUNT).tryAcquire()).hasValueSatisfying(lease -> {
                    lease.renew();
                    lease.close();
                });
            }
        });
    }

    @Test
    void whatAClusterNeedsBesidesIsNamed() {
        withUser(
                List.of("-asking", "-zadd"),
                user -> assertThatThrownBy(() -> RedisLocks.connectCluster(user, options))
                        .isInstanceOf(BackendMisconfiguredException.class)
                        .hasMessageContaining("Missing: +asking +zadd."));
        withUser(
                List.of("-cluster"),
                user -> assertThatThrownBy(() -> RedisLocks.connectCluster(user, options))
                        .isInstanceOf(BackendMisconfiguredException.class)
                        .hasMessageContaining("Missing: +cluster|slots."));
    }

    private void withUser(List<String> taken, Consumer<List<RedisURI>> use) {
        List<String> words = new ArrayList<>(List.of("ACL", "SETUSER", "lean", "on", ">secret", "resetchannels"));
        words.addAll(List.of("~" + keys.pattern(), "&" + keys.pattern()));
        words.addAll(List.of(ConnectTest.DOCUMENTED.split(" ")));
        words.addAll(List.of("+asking", "+cluster|slots"));
        words.addAll(taken);
        cluster.nodes().forEach(node -> node.command(words.toArray(String[]::new)));
        try {
            use.accept(seeds.stream()
                    .map(seed -> RedisURI.builder(seed)
                            .withAuthentication("lean", "secret".toCharArray())
                            .build())
                    .toList());
        } finally {
            cluster.nodes().forEach(node -> node.command("ACL", "DELUSER", "lean"));
        }
    }

    private Fixture.Wire wire(Incarnations.Knowledge knowledge) {
        return new Fixture.Wire(options, (network, context) -> new ClusterRoute(network, seeds, context, knowledge));
    }

    private static void acquire(Fixture.Wire wire, UUID holder) {
        eventually(
                "the lock is granted",
                () -> wire.acquire(ACCOUNT, holder) instanceof LockTransport.AcquireReply.Granted);
    }

    private int slot() {
        return cluster.slotOf(keys.counter(fenced(ACCOUNT)));
    }

    private SlotMove moveAccount() {
        RedisProcess from = cluster.masterOf(slot());
        RedisProcess to = cluster.masters().stream()
                .filter(master -> master.port() != from.port())
                .findFirst()
                .orElseThrow();
        return cluster.moveSlot(slot(), to);
    }

    private static long next(Locks locks) throws InterruptedException {
        try (FencedLease lease = locks.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(20))) {
            return lease.token().value();
        }
    }
}
