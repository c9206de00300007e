package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.eventually;
import static dev.fenceline.lock.Fixture.fenced;
import static dev.fenceline.lock.Fixture.value;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.LockName;
import dev.fenceline.LockNotAcquiredException;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.Servers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Locks that go from hand to hand, in one JVM and between clients. Each {@link Locks} is a client with a queue, a connection
 * and a subscription of its own, as another process would be.
 */
@Tag("server")
class HandOverTest {

    private static final EmbeddedServers SERVERS = Servers.embedded();
    private static final Duration LONG = Duration.ofSeconds(30);
    private static RedisProcess redis;

    /** So long a lease that whoever only polls is not served in the time that a test waits. */
    private final LockOptions options =
            Fixture.options().lease(Duration.ofMinutes(2)).build();

    private final List<Locks> clients = new ArrayList<>();

    @BeforeAll
    static void startServer() {
        redis = SERVERS.redis(RedisSpec.master());
    }

    @AfterAll
    static void stopServers() {
        SERVERS.close();
    }

    @AfterEach
    void disconnect() {
        clients.forEach(Locks::close);
    }

    private Locks client() {
        return client(options);
    }

    private Locks client(LockOptions special) {
        Locks locks = RedisLocks.connect(redis.uri(), special);
        clients.add(locks);
        return locks;
    }

    private static long scripts() {
        return Fixture.calls(redis, "evalsha") + Fixture.calls(redis, "eval");
    }

    private List<String> queue() {
        return redis.command("ZRANGE", new KeySpace(options.keyPrefix()).queue(fenced(ACCOUNT)), "0", "-1")
                .lines()
                .filter(line -> !line.isEmpty())
                .toList();
    }

    private void awaitQueued(int waiters) {
        eventually(waiters + " wait at the server", () -> queue().size() == waiters);
    }

    private static WaitingThread<FencedLease> waiting(Locks locks) {
        return WaitingThread.start(() -> locks.fenced(ACCOUNT).acquireWithin(LONG));
    }

    /** Only of its own client's holder, and only what that one has. */
    @Test
    void aSuccessorTakesNothingThatItsPredecessorDoesNotHave() throws Exception {
        FencedLease held = client().fenced(ACCOUNT).acquire();
        try (Fixture.Wire wire = new Fixture.Wire(redis, options)) {
            UUID successor = UUID.randomUUID();
            LockTransport.Predecessor stranger =
                    new LockTransport.Predecessor(UUID.randomUUID(), LockTransport.Passing.BEFORE_OTHERS);
            LockTransport.AcquireReply reply = Fixture.answer(wire.transport()
                    .acquire(
                            fenced(ACCOUNT),
                            new LockTransport.AcquireRequest(successor, 0, Acquisition.Patience.TRIES_ONCE, stranger)));
            assertThat(reply).isInstanceOf(LockTransport.AcquireReply.Held.class);
        }
        held.renew();
        held.close();
    }

    // ---- what it costs

    @Test
    void aHandOverWithinTheProcessIsOneCommand() throws Exception {
        Locks locks = client();
        FencedLease first = locks.fenced(ACCOUNT).acquire();
        List<WaitingThread<FencedLease>> line = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            line.add(waiting(locks));
            line.get(i).awaitBlocked();
        }
        assertThat(queue()).as("those who wait here do not ask the server").isEmpty();
        long before = scripts();
        FencedLease held = first;
        long token = first.token().value();
        for (WaitingThread<FencedLease> next : line) {
            held.close();
            held = next.result();
            assertThat(held.token().value()).isGreaterThan(token);
            token = held.token().value();
        }
        assertThat(scripts() - before).isEqualTo(5);
        held.close();
        assertThat(value(redis, options, fenced(ACCOUNT))).isEmpty();
    }

    @Test
    void aHandOverBetweenClientsIsTwoCommandsAndTheEntryIntoTheQueue() throws Exception {
        FencedLease first = client().fenced(ACCOUNT).acquire();
        Locks other = client();
        long before = scripts();
        WaitingThread<FencedLease> waiter = waiting(other);
        awaitQueued(1);
        first.close();
        FencedLease second = waiter.result();
        assertThat(second.token().value()).isGreaterThan(first.token().value());
        assertThat(scripts() - before).as("enqueue, release with offer, accept").isEqualTo(3);
        second.close();
    }

    @Test
    void manyWhoWaitInOneProcessAreOneAtTheServer() throws Exception {
        FencedLease first = client().fenced(ACCOUNT).acquire();
        Locks other = client();
        List<WaitingThread<FencedLease>> line = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            line.add(waiting(other));
            line.get(i).awaitBlocked();
        }
        awaitQueued(1);
        first.close();
        for (WaitingThread<FencedLease> next : line) {
            next.result().close();
        }
    }

    /** Others wait too: after eight in a row, or ten milliseconds, the lock leaves the process. */
    @Test
    void aProcessDoesNotKeepTheLockToItselfWhileOthersQueue() throws Exception {
        Locks busy = client();
        Locks other = client();
        FencedLease first = busy.fenced(ACCOUNT).acquire();
        List<String> order = new CopyOnWriteArrayList<>();
        List<WaitingThread<FencedLease>> line = new ArrayList<>();
        WaitingThread<FencedLease> stranger = WaitingThread.start(() -> {
            FencedLease lease = other.fenced(ACCOUNT).acquireWithin(LONG);
            order.add("stranger");
            lease.close();
            return lease;
        });
        awaitQueued(1);
        for (int i = 0; i < 20; i++) {
            line.add(WaitingThread.start(() -> {
                FencedLease lease = busy.fenced(ACCOUNT).acquireWithin(LONG);
                order.add("native");
                lease.close();
                return lease;
            }));
            line.get(i).awaitBlocked();
        }
        first.close();
        for (WaitingThread<FencedLease> waiter : line) {
            waiter.result();
        }
        stranger.result();
        assertThat(order.indexOf("stranger")).isBetween(0, 8);
        assertThat(order).hasSize(21);
    }

    // ---- giving up

    /** Whoever gives up here leaves its place in the server's queue to the next one here. */
    @Test
    void thePlaceInTheQueueOfWhoGivesUpGoesToTheNextInTheProcess() throws Exception {
        FencedLease first = client().fenced(ACCOUNT).acquire();
        Locks early = client();
        WaitingThread<FencedLease> impatient = waiting(early);
        awaitQueued(1);
        WaitingThread<FencedLease> patient = waiting(early);
        patient.awaitBlocked();
        WaitingThread<FencedLease> late = waiting(client());
        awaitQueued(2);
        List<String> before = queue();
        impatient.interrupt();
        assertThatThrownBy(impatient::result).isInstanceOf(InterruptedException.class);
        eventually("another holder has its place", () -> {
            List<String> now = queue();
            return now.size() == 2
                    && !now.get(0).equals(before.get(0))
                    && now.get(1).equals(before.get(1));
        });
        first.close();
        FencedLease second = patient.result();
        late.awaitBlocked();
        second.close();
        late.result().close();
    }

    @Test
    void whoeverReachesItsLimitLeavesTheQueueAndSaysWhoHolds() throws Exception {
        try (FencedLease held = client().fenced(ACCOUNT).acquire()) {
            Locks other = client();
            WaitingThread<FencedLease> behind = waiting(other);
            awaitQueued(1);
            assertThatThrownBy(() -> other.fenced(ACCOUNT).acquireWithin(Duration.ofMillis(200)))
                    .as("behind another of the process, who knows")
                    .isInstanceOf(LockNotAcquiredException.class)
                    .hasMessageContaining("held by payments");
            behind.interrupt();
            assertThatThrownBy(behind::result).isInstanceOf(InterruptedException.class);
            awaitQueued(0);
            assertThatThrownBy(() -> other.fenced(ACCOUNT).acquireWithin(Duration.ofMillis(200)))
                    .isInstanceOf(LockNotAcquiredException.class)
                    .hasMessageContaining("held by payments");
            awaitQueued(0);
            assertThat(held.isHeld()).isTrue();
        }
    }

    @Test
    void whoeverWaitsBehindALeaseOfItsOwnProcessIsToldSo() throws Exception {
        Locks locks = client();
        try (FencedLease held = locks.fenced(ACCOUNT).acquire()) {
            long before = scripts();
            assertThatThrownBy(() -> locks.fenced(ACCOUNT).acquireWithin(Duration.ofMillis(200)))
                    .isInstanceOf(LockNotAcquiredException.class)
                    .hasMessageContaining("pid " + ProcessHandle.current().pid());
            assertThat(scripts()).as("the server was not asked").isEqualTo(before);
            assertThat(held.isHeld()).isTrue();
        }
    }

    // ---- messages

    /** A message that never comes: the time to live of the lock that was seen is over, so the waiter asks. */
    @Test
    void aLostMessageCostsATimeToLiveAndNotTheTurn() throws Exception {
        LockOptions brief = Fixture.options().lease(Duration.ofSeconds(1)).build();
        FencedLease first = client(brief).fenced(ACCOUNT).acquire();
        Locks deaf = client(brief);
        WaitingThread<FencedLease> waiter = waiting(deaf);
        KeySpace keys = new KeySpace(brief.keyPrefix());
        eventually(
                "it waits at the server",
                () -> !redis.command("ZRANGE", keys.queue(fenced(ACCOUNT)), "0", "-1")
                        .isEmpty());
        String me = redis.command("ZRANGE", keys.queue(fenced(ACCOUNT)), "0", "-1");
        String entry = redis.command("HGET", keys.waiters(fenced(ACCOUNT)), me);
        // Its messages go to a channel where somebody else listens, so that they count as told.
        try (WaitingClient eavesdropper = new WaitingClient(redis, brief, fenced(LockName.of("other", 1)))) {
            String elsewhere = eavesdropper.wire().transport().channel();
            redis.command(
                    "HSET",
                    keys.waiters(fenced(ACCOUNT)),
                    me,
                    entry.replaceFirst("\\|[^|]*\\|", "|" + elsewhere + "|"));
            first.close();
            try (FencedLease lease = waiter.result()) {
                assertThat(lease.isHeld()).isTrue();
            }
        }
    }

    /** A message that comes again after the grant must not cost the lease; naively it would be a turn nobody waits for. */
    @Test
    void aDoubledMessageChangesNothing() throws Exception {
        FencedLease first = client().fenced(ACCOUNT).acquire();
        WaitingThread<FencedLease> waiter = waiting(client());
        awaitQueued(1);
        String me = queue().get(0);
        String channel = redis.command("HGET", new KeySpace(options.keyPrefix()).waiters(fenced(ACCOUNT)), me)
                .replaceFirst("^[^|]*\\|([^|]*)\\|.*$", "$1");
        redis.command("PUBLISH", channel, "offer|" + me);
        waiter.awaitBlocked();
        assertThat(first.isHeld()).isTrue();
        first.close();
        try (FencedLease second = waiter.result()) {
            for (int i = 0; i < 3; i++) {
                assertThat(redis.command("PUBLISH", channel, "offer|" + me)).isEqualTo("1");
                assertThat(redis.command("PUBLISH", channel, "watch|" + me + "|1"))
                        .isEqualTo("1");
            }
            redis.command("PUBLISH", channel, "nonsense");
            second.renew();
            assertThat(value(redis, options, fenced(ACCOUNT))).startsWith(me);
        }
    }

    /** The answer to a poll is on its way while the turn is announced: it says held, and is older than the announcement. */
    @Test
    void aMessageThatOvertakesAnAnswerIsNotForgotten() throws Exception {
        FencedLease first = client().fenced(ACCOUNT).acquire();
        try (FaultProxy proxy = FaultProxy.to(redis.host(), redis.port())) {
            Locks slow = RedisLocks.connect("redis://" + proxy.host() + ":" + proxy.port(), options);
            clients.add(slow);
            FaultProxy.Armed answer = proxy.onRequest(Script.ACQUIRE.digest()).holdReply();
            WaitingThread<FencedLease> waiter = waiting(slow);
            eventually("it has asked", answer::fired);
            awaitQueued(1);
            String me = queue().get(0);
            first.close();
            assertThat(value(redis, options, fenced(ACCOUNT))).startsWith(me);
            answer.letGo();
            waiter.result().close();
        }
    }

    /** Connection and subscription break while others hold the lock and release it: each waiting lock is asked for once. */
    @Test
    void afterAReconnectEveryWaitingLockIsAskedFor() throws Exception {
        FencedLease first = client().fenced(ACCOUNT).acquire();
        Locks other = client();
        WaitingThread<FencedLease> waiter = waiting(other);
        awaitQueued(1);
        // The release comes while nobody listens: it counts nobody and skips the waiter.
        redis.command("CLIENT", "KILL", "TYPE", "pubsub");
        first.close();
        try (FencedLease second = waiter.result()) {
            assertThat(second.token().value()).isGreaterThan(first.token().value());
        }
    }

    /** Expiry publishes nothing. */
    @Test
    void theLockOfAHolderThatDiedIsTakenWhenItsTimeIsOver() throws Exception {
        LockKey lock = fenced(ACCOUNT);
        try (WaitingClient dead = new WaitingClient(redis, options, lock)) {
            eventually("granted", () -> dead.ask() instanceof LockTransport.AcquireReply.Granted);
            redis.command("PEXPIRE", new KeySpace(options.keyPrefix()).lock(lock), "700");
        }
        WaitingThread<FencedLease> waiter = waiting(client());
        waiter.result().close();
    }

    @Test
    void aLeaseThatIsLostPassesTheTurnToWhoWaitsInTheProcess() throws Exception {
        Locks locks = client();
        FencedLease lost = locks.fenced(ACCOUNT).acquire();
        WaitingThread<FencedLease> waiter = waiting(locks);
        waiter.awaitBlocked();
        redis.command("DEL", new KeySpace(options.keyPrefix()).lock(fenced(ACCOUNT)));
        assertThatThrownBy(lost::renew).hasMessageContaining("is over");
        try (FencedLease next = waiter.result()) {
            assertThat(next.token().value()).isGreaterThan(lost.token().value());
            lost.close();
            next.renew();
        }
    }

    @Test
    void closingWakesWhoWaitsHereAndGivesTheLockToOthers() throws Exception {
        Locks ending = client();
        FencedLease held = ending.fenced(ACCOUNT).acquire();
        List<WaitingThread<FencedLease>> here = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            here.add(waiting(ending));
        }
        here.get(49).awaitBlocked();
        WaitingThread<FencedLease> elsewhere = waiting(client());
        awaitQueued(1);
        ending.close();
        for (WaitingThread<FencedLease> waiter : here) {
            assertThatThrownBy(waiter::result)
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("these locks were closed");
        }
        elsewhere.result().close();
        assertThat(held.isHeld()).isFalse();
    }

    @Test
    void namesThatAreNotInUseCostNothing() throws Exception {
        Locks locks = client();
        for (int i = 0; i < 200; i++) {
            locks.fenced(LockName.of("order", i)).acquire().close();
            locks.efficiency(LockName.of("order", i)).acquire().close();
        }
        long keys = redis.command("KEYS", options.keyPrefix() + ":*").lines().count();
        assertThat(keys).as("counters and boot keys").isLessThanOrEqualTo(400);
        assertThat(redis.command("KEYS", options.keyPrefix() + ":*"))
                .doesNotContain(":lock:")
                .doesNotContain(":queue:");
    }
}
