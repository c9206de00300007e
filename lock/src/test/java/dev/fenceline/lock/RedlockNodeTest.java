package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.fenced;
import static dev.fenceline.lock.Fixture.serverMicros;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.LockOptions;
import dev.fenceline.testkit.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What one node of Redlock grants and refuses, whatever is sent to it. */
@Tag("server")
class RedlockNodeTest {

    private static final long S = 10_000_000;

    private final RedisServer node = FiveServers.NODES.get(0);
    private final LockOptions options = Fixture.options().build();
    private final NodeCommands commands = new NodeCommands(options);
    private final UUID one = UUID.randomUUID();
    private final UUID two = UUID.randomUUID();
    private long now;

    @BeforeEach
    void begin() {
        commands.markAsNew(node);
        now = serverMicros(node);
    }

    private String word(UUID holder, long token) {
        return commands.acquire(node, holder, token).get(0);
    }

    private String release(UUID holder) {
        return commands.release(node, holder, "", Duration.ZERO);
    }

    @Test
    void aTokenIsGrantedOnlyAboveAllThatWereGrantedBefore() {
        assertThat(word(one, now)).isEqualTo("granted");
        assertThat(release(one)).isEqualTo("1");
        assertThat(word(two, now)).isEqualTo("behind");
        assertThat(word(two, now - 1)).isEqualTo("behind");
        assertThat(word(two, now + 1)).isEqualTo("granted");
    }

    @Test
    void whatWasGrantedIsSaidAgainToTheSameHolderAndRefusedToOthers() {
        assertThat(word(one, now)).isEqualTo("granted");
        assertThat(word(one, now)).isEqualTo("granted");
        List<String> refused = commands.acquire(node, two, now + 5);
        assertThat(refused.get(0)).isEqualTo("held");
        assertThat(refused.get(5)).startsWith(LockValue.hex(one) + "|" + now + "|");
        assertThat(Long.parseLong(refused.get(6))).isPositive();
    }

    @Test
    void theHolderRaisesItsTokenAndNeverLowersIt() {
        assertThat(word(one, now)).isEqualTo("granted");
        assertThat(word(one, now + 7)).isEqualTo("granted");
        // A packet of the first round, by an old connection.
        assertThat(word(one, now)).isEqualTo("behind");
        assertThat(Fixture.value(node, options, fenced(ACCOUNT))).startsWith(LockValue.hex(one) + "|" + (now + 7));
    }

    @Test
    void aTokenTooFarAheadOfTheClockIsRefusedUnlessAMarkHasToBePassed() {
        long far = now + 3_600_000_000L;
        assertThat(word(one, far)).isEqualTo("ahead");
        assertThat(commands.acquire(node, one, far, far - 2).get(0)).isEqualTo("ahead");
        assertThat(commands.acquire(node, one, far, far - 1).get(0)).isEqualTo("granted");
        assertThat(release(one)).isEqualTo("1");
        // It is remembered for this lock, and no other lock of the bucket has to pass it.
        List<String> next = commands.acquire(node, two, now + 1);
        assertThat(next.get(0)).isEqualTo("behind");
        assertThat(Long.parseLong(next.get(2))).isLessThan(now);
        assertThat(Long.parseLong(next.get(3))).isEqualTo(far);
        assertThat(commands.acquire(node, two, far + 1, far).get(0)).isEqualTo("granted");
        long tomorrow = now + 86_500_000_000L;
        assertThat(commands.acquire(node, two, tomorrow, tomorrow - 1).get(0)).isEqualTo("ahead");
    }

    /** Nothing else at the node tells of it, and the clock by which it would be forgotten may be wrong. */
    @Test
    void aTokenAheadOfTheClockIsRememberedForADayMoreThanTheClockNeeds() {
        long far = now + 3_600_000_000L;
        assertThat(commands.acquire(node, one, far, far - 1).get(0)).isEqualTo("granted");
        String floor = new KeySpace(options.keyPrefix()).floor(fenced(ACCOUNT));
        assertThat(Duration.ofMillis(Long.parseLong(node.command("PTTL", floor))))
                .isBetween(Duration.ofHours(25).minusMinutes(1), Duration.ofHours(25));
    }

    @Test
    void aNodeThatForgotItsCountersStandsAboveAllThatItCanHaveGranted() {
        long highest = now + S - 1_000_000;
        assertThat(word(one, highest)).isEqualTo("granted");
        node.command("DEL", new KeySpace(options.keyPrefix()).node());
        node.command("DEL", new KeySpace(options.keyPrefix()).lock(fenced(ACCOUNT)));
        List<String> reborn = commands.acquire(node, two, highest);
        assertThat(reborn.get(0)).isEqualTo("behind");
        assertThat(Long.parseLong(reborn.get(2))).isGreaterThan(highest);
    }

    /** The control: had it only lost its counter, the old token would be granted again. */
    @Test
    void aCounterThatIsOnlyLostRepeatsItsTokens() {
        assertThat(word(one, now)).isEqualTo("granted");
        assertThat(release(one)).isEqualTo("1");
        KeySpace keys = new KeySpace(options.keyPrefix());
        node.command("HDEL", keys.node(), Integer.toString(keys.bucketOf(fenced(ACCOUNT))));
        assertThat(word(two, now)).isEqualTo("granted");
    }

    @Test
    void aLateReleaseOfOneAttemptLeavesTheNextAttemptAlone() {
        assertThat(word(one, now)).isEqualTo("granted");
        assertThat(word(one, now + 9)).isEqualTo("granted");
        assertThat(commands.release(node, one, Long.toString(now), Duration.ZERO))
                .isEqualTo("0");
        assertThat(Fixture.value(node, options, fenced(ACCOUNT))).isNotEmpty();
        assertThat(commands.release(node, two, "", Duration.ZERO)).isEqualTo("0");
        assertThat(commands.release(node, one, Long.toString(now + 9), Duration.ZERO))
                .isEqualTo("1");
        assertThat(Fixture.value(node, options, fenced(ACCOUNT))).isEmpty();
    }

    @Test
    void aReleaseThatKeepsTheLockLeavesItToNobody() {
        assertThat(word(one, now)).isEqualTo("granted");
        assertThat(commands.release(node, one, "", Duration.ofSeconds(20))).isEqualTo("1");
        assertThat(word(one, now + 1)).isEqualTo("held");
        assertThat(release(one)).isEqualTo("0");
    }
}
