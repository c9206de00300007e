package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.calls;
import static dev.fenceline.lock.Fixture.eventually;
import static dev.fenceline.lock.Fixture.fenced;
import static dev.fenceline.lock.Fixture.serverMicros;
import static dev.fenceline.lock.Fixture.token;
import static dev.fenceline.lock.Fixture.value;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.LockOptions;
import dev.fenceline.lock.LockTransport.AcquireReply;
import dev.fenceline.lock.LockTransport.AcquireReply.Granted;
import dev.fenceline.lock.LockTransport.AcquireReply.Held;
import dev.fenceline.lock.LockTransport.ReleaseReply;
import dev.fenceline.testkit.RedisServer;
import dev.fenceline.testkit.SharedServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The queue at the server and every race around it, one command after the other as a test wants it. Each client here has a
 * connection, a subscription and a channel of its own, as each JVM has.
 */
@Tag("server")
class QueueRacesTest {

    private final RedisServer redis = SharedServers.redis();
    private final LockOptions options =
            Fixture.options().lease(Duration.ofSeconds(2)).build();
    private final LockKey lock = fenced(ACCOUNT);
    private final List<WaitingClient> clients = new ArrayList<>();

    @AfterEach
    void disconnect() {
        clients.forEach(WaitingClient::close);
    }

    private WaitingClient client() {
        WaitingClient client = new WaitingClient(redis, options, lock);
        clients.add(client);
        return client;
    }

    private WaitingClient holder() throws SendFailure {
        WaitingClient client = client();
        eventually("the lock is granted", () -> client.ask() instanceof Granted);
        return client;
    }

    private WaitingClient waiter() throws SendFailure {
        WaitingClient client = client();
        assertThat(client.ask()).isInstanceOf(Held.class);
        return client;
    }

    private KeySpace keys() {
        return new KeySpace(options.keyPrefix());
    }

    private List<String> queue() {
        return redis.command("ZRANGE", keys().queue(lock), "0", "-1")
                .lines()
                .filter(line -> !line.isEmpty())
                .toList();
    }

    private String holderNow() {
        String value = value(redis, options, lock);
        return value.isEmpty() ? "" : value.substring(0, 32);
    }

    private long tokenNow() {
        LockValue value = LockValue.parse(value(redis, options, lock));
        assertThat(value).isNotNull();
        return value.token();
    }

    private static String hex(WaitingClient client) {
        return LockValue.hex(client.holder());
    }

    // ---- order

    @ParameterizedTest
    @EnumSource(LockKind.class)
    void releasesGoToThoseWhoWaitInTheOrderInWhichTheyCame(LockKind kind) throws SendFailure {
        LockKey some = new LockKey(kind, ACCOUNT);
        List<WaitingClient> line = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            WaitingClient next = new WaitingClient(redis, options, some);
            clients.add(next);
            line.add(next);
            if (i == 0) {
                eventually("the lock is granted", () -> next.ask() instanceof Granted);
            } else {
                assertThat(next.ask()).isInstanceOf(Held.class);
            }
        }
        long before = 0;
        for (int i = 0; i < 5; i++) {
            if (i > 0) {
                line.get(i).awaitOffer();
            }
            long token = token(line.get(i).ask());
            assertThat(token).isGreaterThanOrEqualTo(kind == LockKind.FENCED ? before + 1 : 0);
            before = token;
            for (int later = i + 1; later < 5; later++) {
                assertThat(line.get(later).wasOffered()).isFalse();
            }
            assertThat(line.get(i).release()).isEqualTo(ReleaseReply.RELEASED);
        }
        assertThat(redis.command("EXISTS", keys().lock(some), keys().queue(some), keys().waiters(some)))
                .isEqualTo("0");
    }

    /** Barging: the lock is free for a moment, since its holder died, and a newcomer is faster than those who wait. */
    @Test
    void whoeverComesToAFreeLockWithAQueueGoesToItsEnd() throws SendFailure {
        holder();
        WaitingClient first = waiter();
        redis.command("DEL", keys().lock(lock));
        WaitingClient newcomer = waiter();
        first.awaitOffer();
        assertThat(holderNow()).isEqualTo(hex(first));
        assertThat(queue()).containsExactly(hex(newcomer));
    }

    /** The same by somebody who does not wait: he offers the lock to the first and goes. */
    @Test
    void whoeverTriesOnceDoesNotOvertakeTheQueue() throws SendFailure {
        holder();
        WaitingClient first = waiter();
        redis.command("DEL", keys().lock(lock));
        assertThat(client().wire().acquire(ACCOUNT, UUID.randomUUID())).isInstanceOf(Held.class);
        first.awaitOffer();
        assertThat(first.ask()).isInstanceOf(Granted.class);
        assertThat(queue()).isEmpty();
    }

    /** The clock was set back between two arrivals: the later one still comes after. */
    @Test
    void aClockThatStepsBackDoesNotChangeTheOrder() throws SendFailure {
        holder();
        WaitingClient first = waiter();
        String ahead = Long.toString(serverMicros(redis) + 3_600_000_000L);
        redis.command("ZADD", keys().queue(lock), "XX", ahead, hex(first));
        WaitingClient second = waiter();
        assertThat(queue()).containsExactly(hex(first), hex(second));
    }

    @Test
    void pollingKeepsThePlace() throws SendFailure {
        holder();
        WaitingClient first = waiter();
        WaitingClient second = waiter();
        first.ask();
        assertThat(queue()).containsExactly(hex(first), hex(second));
    }

    // ---- acceptance

    /** An offer is short; accepting makes it a full lease, and the token stays the one that was offered. */
    @Test
    void acceptingIsIdempotentAndMakesAFullLease() throws SendFailure {
        WaitingClient holder = holder();
        WaitingClient waiter = waiter();
        holder.release();
        assertThat(Long.parseLong(redis.command("PTTL", keys().lock(lock)))).isBetween(1L, 500L);
        long offered = tokenNow();
        assertThat(token(waiter.ask())).isEqualTo(offered);
        assertThat(Long.parseLong(redis.command("PTTL", keys().lock(lock)))).isBetween(1_001L, 2_000L);
        assertThat(token(waiter.ask())).isEqualTo(offered);
        assertThat(queue()).isEmpty();
    }

    /** A waiter that was offered the lock and died, or sleeps: the next in line was told to watch, and takes over. */
    @Test
    void anOfferThatIsNotAcceptedGoesToTheNextWhoWatches() throws SendFailure {
        WaitingClient holder = holder();
        WaitingClient dead = waiter();
        WaitingClient next = waiter();
        holder.release();
        dead.awaitOffer();
        eventually("the next in line was told to watch", next::wasToldToWatch);
        assertThat(next.ask()).as("the offer still stands").isInstanceOf(Held.class);
        eventually("the next in line has the lock", () -> next.ask() instanceof Granted);
    }

    /**
     * A message that comes late, after the offer is over and somebody else was granted the lock. Whoever took the message for
     * the grant would now work beside the holder; accepting finds out.
     */
    @Test
    void aLateMessageIsNoGrant() throws SendFailure {
        WaitingClient holder = holder();
        WaitingClient sleeper = waiter();
        WaitingClient next = waiter();
        holder.release();
        sleeper.awaitOffer();
        eventually("the next in line has the lock", () -> next.ask() instanceof Granted);
        boolean naiveClientBelievesInItsMessage = sleeper.wasOffered();
        assertThat(naiveClientBelievesInItsMessage).isTrue();
        assertThat(holderNow()).isEqualTo(hex(next));
        assertThat(sleeper.ask()).isInstanceOf(Held.class);
        assertThat(queue()).as("the sleeper waits again, at the end").containsExactly(hex(sleeper));
    }

    /** Accepting crosses the end of the offer, and nobody else came: then it is a new grant with a new token. */
    @Test
    void acceptingTooLateWithNobodyElseIsANewGrant() throws SendFailure {
        WaitingClient holder = holder();
        WaitingClient waiter = waiter();
        holder.release();
        long offered = tokenNow();
        eventually("the offer is over", () -> holderNow().isEmpty());
        assertThat(token(waiter.ask())).isGreaterThan(offered);
    }

    // ---- waiters that are gone

    /** A process that was killed left its entry behind: nobody listens on its channel, and it is skipped at once. */
    @Test
    void aWaiterWhoseProcessDiedIsSkipped() throws SendFailure {
        WaitingClient holder = holder();
        WaitingClient dead = waiter();
        WaitingClient alive = waiter();
        dead.close();
        eventually(
                "its subscription is gone",
                () -> redis.command("PUBSUB", "CHANNELS", options.keyPrefix() + "*")
                                .lines()
                                .count()
                        == 2);
        holder.release();
        alive.awaitOffer();
        assertThat(alive.ask()).isInstanceOf(Granted.class);
        assertThat(queue()).isEmpty();
    }

    /** A process that stands still keeps its subscription, so that it seems to listen; but it has not polled for long. */
    @Test
    void aWaiterThatHasNotPolledForTwoPeriodsIsSkipped() throws SendFailure {
        WaitingClient holder = holder();
        WaitingClient silent = waiter();
        WaitingClient alive = waiter();
        String entry = redis.command("HGET", keys().waiters(lock), hex(silent));
        String late = (serverMicros(redis) - 1) + entry.substring(entry.indexOf('|'));
        redis.command("HSET", keys().waiters(lock), hex(silent), late);
        holder.release();
        alive.awaitOffer();
        assertThat(silent.wasOffered()).isFalse();
        assertThat(queue()).isEmpty();
    }

    @Test
    void aLockOnWhichOnlyTheDeadWaitIsFree() throws SendFailure {
        WaitingClient holder = holder();
        for (int i = 0; i < 20; i++) {
            waiter().close();
            assertThat(holder.ask()).as("held all the time").isInstanceOf(Granted.class);
        }
        eventually(
                "their subscriptions are gone",
                () -> redis.command("PUBSUB", "CHANNELS", options.keyPrefix() + "*")
                                .lines()
                                .count()
                        == 1);
        holder.release();
        assertThat(holderNow()).isEmpty();
        assertThat(queue()).isEmpty();
        assertThat(client().ask()).isInstanceOf(Granted.class);
    }

    /** Nobody is left to clear up. */
    @Test
    void queueAndWaitersExpireByThemselves() throws SendFailure {
        holder();
        waiter();
        assertThat(Long.parseLong(redis.command("PTTL", keys().queue(lock)))).isBetween(4_001L, 8_000L);
        assertThat(Long.parseLong(redis.command("PTTL", keys().waiters(lock)))).isBetween(4_001L, 8_000L);
    }

    // ---- giving up

    @Test
    void whoeverGivesUpIsNotOfferedTheLock() throws SendFailure {
        WaitingClient holder = holder();
        WaitingClient gone = waiter();
        WaitingClient next = waiter();
        assertThat(gone.release()).isEqualTo(ReleaseReply.ABSENT);
        assertThat(queue()).containsExactly(hex(next));
        holder.release();
        next.awaitOffer();
        assertThat(gone.wasOffered()).isFalse();
    }

    /** Giving up crosses the offer: the lock that was set aside goes on to the next, at once. */
    @Test
    void whoeverGivesUpAtTheInstantOfTheOfferPassesItOn() throws SendFailure {
        WaitingClient holder = holder();
        WaitingClient gone = waiter();
        WaitingClient next = waiter();
        holder.release();
        assertThat(gone.release()).isEqualTo(ReleaseReply.RELEASED);
        next.awaitOffer();
        assertThat(next.ask()).isInstanceOf(Granted.class);
    }

    /** The first gives up after it was told to watch an offer: the next one is told again. */
    @Test
    void whoeverGivesUpWhileWatchingHasTheNextWatch() throws SendFailure {
        WaitingClient holder = holder();
        waiter();
        WaitingClient watching = waiter();
        WaitingClient last = waiter();
        holder.release();
        eventually("both were told to watch", () -> watching.wasToldToWatch() && last.wasToldToWatch());
        assertThat(last.timesToldToWatch()).isEqualTo(1);
        watching.release();
        eventually("the last one is told again", () -> last.timesToldToWatch() == 2);
        eventually("and has the lock", () -> last.ask() instanceof Granted);
    }

    /** Whoever sleeps costs the others the time to accept, and not a lease: also if the next one sleeps as well. */
    @Test
    void ofTwoSilentWaitersInARowEachCostsItsTimeToAccept() throws SendFailure {
        WaitingClient holder = holder();
        WaitingClient silent = waiter();
        WaitingClient silentToo = waiter();
        WaitingClient third = waiter();
        WaitingClient fourth = waiter();
        WaitingClient fifth = waiter();
        long start = serverMicros(redis);
        holder.release();
        silent.awaitOffer();
        eventually("the next three are told to watch", () -> silentToo.wasToldToWatch() && fourth.wasToldToWatch());
        assertThat(third.toldToWatchFor())
                .as("a little later than the one before")
                .isEqualTo(563);
        assertThat(fifth.wasToldToWatch()).isFalse();
        eventually(
                "the time that the third was told is over",
                () -> serverMicros(redis) - start >= third.toldToWatchFor() * 1_000);
        assertThat(third.ask()).as("it offers to the one before").isInstanceOf(Held.class);
        silentToo.awaitOffer();
        eventually("the third has the lock", () -> third.ask() instanceof Granted);
        assertThat(serverMicros(redis) - start).isBetween(1_000_000L, 1_800_000L);
    }

    /** A packet of somebody who gave up arrives behind his release: a phantom in the queue, which the second release removes. */
    @Test
    void aRequestThatArrivesBehindItsReleaseIsTakenBackByTheSecond() throws SendFailure {
        WaitingClient holder = holder();
        WaitingClient late = client();
        late.release();
        late.ask();
        WaitingClient next = waiter();
        assertThat(queue()).containsExactly(hex(late), hex(next));
        late.release();
        holder.release();
        next.awaitOffer();
        assertThat(late.wasOffered()).isFalse();
    }

    // ---- messages

    @Test
    void nothingIsPublishedWhereNobodyWaits() throws SendFailure {
        long before = calls(redis, "publish");
        WaitingClient holder = holder();
        long connected = calls(redis, "publish");
        for (int i = 0; i < 10; i++) {
            holder.release();
            eventually("granted again", () -> holder.ask() instanceof Granted);
        }
        assertThat(calls(redis, "publish")).isEqualTo(connected).isGreaterThan(before);
    }

    /** Without the right to publish there is no half hand-over: the lock is held as before, and who waits still waits. */
    @Test
    void aUserWithoutChannelRightsLeavesNothingHalfDone() throws SendFailure {
        String user = "mute" + System.nanoTime();
        String pattern = options.keyPrefix() + ":v1:*";
        redis.command("ACL", "SETUSER", user, "on", ">secret", "~" + pattern, "+@all");
        try {
            WaitingClient mute = new WaitingClient(
                    new Fixture.Wire("redis://" + user + ":secret@" + redis.host() + ":" + redis.port(), options),
                    lock);
            clients.add(mute);
            eventually("the lock is granted", () -> mute.ask() instanceof Granted);
            String held = value(redis, options, lock);
            WaitingClient waiter = waiter();
            redis.command("ACL", "SETUSER", user, "-publish");
            assertThatThrownBy(mute::release)
                    .isInstanceOf(SendFailure.class)
                    .extracting(thrown -> ((SendFailure) thrown).kind())
                    .isEqualTo(SendFailure.Kind.FORBIDDEN);
            assertThat(value(redis, options, lock)).isEqualTo(held);
            assertThat(queue()).containsExactly(hex(waiter));
        } finally {
            redis.command("ACL", "DELUSER", user);
        }
    }

    /**
     * The same where a holder asks in the place of another one of its client, and with it offers the lock to somebody else: the
     * place does not move before the message is out.
     */
    @Test
    void aUserWithoutChannelRightsMovesNoPlace() throws SendFailure {
        String user = "mute" + System.nanoTime();
        redis.command("ACL", "SETUSER", user, "on", ">secret", "~" + options.keyPrefix() + ":v1:*", "&*", "+@all");
        try {
            holder();
            WaitingClient first = waiter();
            WaitingClient mute = mute(user);
            assertThat(mute.ask()).isInstanceOf(Held.class);
            WaitingClient successor = mute(user);
            redis.command("DEL", keys().lock(lock));
            redis.command("ACL", "SETUSER", user, "-publish");
            assertThatThrownBy(() -> successor.succeed(mute, LockTransport.Passing.IN_TURN))
                    .isInstanceOf(SendFailure.class)
                    .extracting(thrown -> ((SendFailure) thrown).kind())
                    .isEqualTo(SendFailure.Kind.FORBIDDEN);
            assertThat(holderNow()).isEmpty();
            assertThat(queue()).containsExactly(hex(first), hex(mute));
        } finally {
            redis.command("ACL", "DELUSER", user);
        }
    }

    /** And where a waiter gives up while the lock is free: it is in the queue as before, and gives up again. */
    @Test
    void aUserWithoutChannelRightsLeavesNoQueue() throws SendFailure {
        String user = "mute" + System.nanoTime();
        redis.command("ACL", "SETUSER", user, "on", ">secret", "~" + options.keyPrefix() + ":v1:*", "&*", "+@all");
        try {
            holder();
            WaitingClient mute = mute(user);
            assertThat(mute.ask()).isInstanceOf(Held.class);
            WaitingClient next = waiter();
            String counter = redis.command("GET", keys().counter(lock));
            redis.command("DEL", keys().lock(lock), keys().boot(lock));
            redis.command("ACL", "SETUSER", user, "-publish");
            assertThatThrownBy(mute::release)
                    .isInstanceOf(SendFailure.class)
                    .extracting(thrown -> ((SendFailure) thrown).kind())
                    .isEqualTo(SendFailure.Kind.FORBIDDEN);
            assertThat(queue()).containsExactly(hex(mute), hex(next));
            assertThat(redis.command("GET", keys().boot(lock)))
                    .as("no jump is written")
                    .isEmpty();
            assertThat(redis.command("GET", keys().counter(lock))).isEqualTo(counter);
        } finally {
            redis.command("ACL", "DELUSER", user);
        }
    }

    private WaitingClient mute(String user) {
        WaitingClient mute = new WaitingClient(
                new Fixture.Wire("redis://" + user + ":secret@" + redis.host() + ":" + redis.port(), options), lock);
        clients.add(mute);
        return mute;
    }

    // ---- tokens

    /** A floor that only the waiter knows: whoever releases mints for him, and passes it. */
    @Test
    void anOfferPassesTheFloorThatTheWaiterBrought() throws SendFailure {
        WaitingClient holder = holder();
        WaitingClient waiter = client();
        long floor = serverMicros(redis) + 60_000_000;
        assertThat(waiter.ask(floor)).isInstanceOf(Held.class);
        holder.release();
        waiter.awaitOffer();
        assertThat(token(waiter.ask(floor))).isEqualTo(floor + 1);
    }

    /** The clock was set back by more than S: an offer would need a token too far ahead. Nobody gets one, and they poll. */
    @Test
    void whereTheTokenRuleSaysWaitNobodyIsOfferedTheLock() throws SendFailure {
        WaitingClient holder = holder();
        WaitingClient waiter = waiter();
        long ahead = serverMicros(redis) + 10_000_000 + 300_000;
        redis.command("SET", keys().counter(lock), Long.toString(ahead));
        holder.release();
        assertThat(holderNow()).isEmpty();
        assertThat(queue()).containsExactly(hex(waiter));
        eventually("told when to look again", waiter::wasToldToWatch);
        assertThat(waiter.wasOffered()).isFalse();
        assertThat(waiter.ask()).isInstanceOf(AcquireReply.Wait.class);
        eventually("granted when the clock is there", () -> waiter.ask() instanceof Granted);
        assertThat(token(waiter.ask())).isGreaterThan(ahead);
    }

    /** The same where the lock is passed on within a client: whoever is first elsewhere is told, and does not wait a lease. */
    @Test
    void aLockThatCannotBePassedOnIsNotLeftUnnoticed() throws SendFailure {
        WaitingClient holder = holder();
        WaitingClient waiter = waiter();
        WaitingClient successor = client();
        redis.command("SET", keys().counter(lock), Long.toString(serverMicros(redis) + 10_300_000));
        assertThat(successor.succeed(holder, LockTransport.Passing.BEFORE_OTHERS))
                .isInstanceOf(AcquireReply.Wait.class);
        assertThat(holderNow()).isEmpty();
        eventually("told when to look again", waiter::wasToldToWatch);
        assertThat(waiter.toldToWatchFor()).isBetween(1L, 301L);
        eventually("granted when the clock is there", () -> waiter.ask() instanceof Granted);
    }

    /** The boot key went with the counter while somebody held the lock: the offer jumps, as a grant would. */
    @Test
    void anOfferInANewIncarnationJumps() throws SendFailure {
        WaitingClient holder = holder();
        long before = token(holder.ask());
        WaitingClient waiter = waiter();
        redis.command("DEL", keys().counter(lock), keys().boot(lock));
        holder.release();
        eventually("granted", () -> waiter.ask() instanceof Granted);
        assertThat(token(waiter.ask())).isGreaterThan(before);
    }
}
