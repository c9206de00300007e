package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.answer;
import static dev.fenceline.lock.Fixture.fenced;
import static dev.fenceline.lock.Fixture.serverMicros;
import static dev.fenceline.lock.Fixture.token;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.FencedLock;
import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.TokenRejectedException;
import dev.fenceline.lock.LockTransport.AcquireReply;
import dev.fenceline.lock.LockTransport.ReleaseReply;
import dev.fenceline.lock.LockTransport.RenewReply;
import dev.fenceline.testkit.RedisServer;
import dev.fenceline.testkit.SharedServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The rule by which tokens are made, against one healthy server. */
@Tag("server")
class TokenRuleTest {

    private static final long SECOND = 1_000_000;
    private static final long HOUR = 3_600 * SECOND;

    private final RedisServer redis = SharedServers.redis();
    private final LockOptions options = Fixture.options().build();
    private final KeySpace keys = new KeySpace(options.keyPrefix());
    private final Fixture.Wire wire = new Fixture.Wire(redis, options);
    private final UUID me = UUID.randomUUID();
    private final UUID other = UUID.randomUUID();

    @AfterEach
    void close() {
        wire.close();
    }

    @Test
    void theSameHolderIsGrantedTheSameTokenTwiceAndAFullLease() throws SendFailure {
        long first = wire.nextToken(ACCOUNT);
        long token = token(wire.acquire(ACCOUNT, me));
        assertThat(token).isGreaterThan(first);
        redis.command("PEXPIRE", keys.lock(fenced(ACCOUNT)), "500");
        assertThat(token(wire.acquire(ACCOUNT, me))).isEqualTo(token);
        assertThat(Long.parseLong(redis.command("PTTL", keys.lock(fenced(ACCOUNT)))))
                .isGreaterThan(9_000);
        assertThat(wire.acquire(ACCOUNT, other)).isInstanceOfSatisfying(AcquireReply.Held.class, held -> {
            assertThat(held.by()).isNotNull();
            assertThat(held.by().token()).isEqualTo(token);
            assertThat(held.by().holder()).isEqualTo(LockValue.hex(me));
            assertThat(held.ttlMillis()).isBetween(9_000L, 10_000L);
        });
    }

    @Test
    void aForeignHolderReleasesAndRenewsNothing() throws SendFailure {
        wire.nextToken(ACCOUNT);
        token(wire.acquire(ACCOUNT, me));
        redis.command("PEXPIRE", keys.lock(fenced(ACCOUNT)), "5000");
        String before = Fixture.value(redis, options, fenced(ACCOUNT));
        assertThat(answer(wire.transport().release(fenced(ACCOUNT), other, Duration.ZERO)))
                .isEqualTo(ReleaseReply.ABSENT);
        assertThat(answer(wire.transport().renew(fenced(ACCOUNT), other))).isEqualTo(RenewReply.REFUSED);
        assertThat(Fixture.value(redis, options, fenced(ACCOUNT)))
                .isEqualTo(before)
                .isNotEmpty();
        assertThat(Long.parseLong(redis.command("PTTL", keys.lock(fenced(ACCOUNT)))))
                .isLessThanOrEqualTo(5_000);
    }

    @Test
    void renewalNeverMakesALockThatIsGone() throws SendFailure {
        wire.nextToken(ACCOUNT);
        assertThat(answer(wire.transport().renew(fenced(ACCOUNT), me))).isEqualTo(RenewReply.REFUSED);
        assertThat(Fixture.value(redis, options, fenced(ACCOUNT))).isEmpty();
    }

    @Test
    void numbersAreWrittenInFullNeverInExponents() throws SendFailure {
        // What the script does, what it must not do, and that this server would show the difference.
        String golden = redis.command(
                "EVAL",
                "local n = 1764000000000000 return {string.format('%.0f', n), tostring(n), '' .. n, "
                        + "string.format('%.0f', 9007199254740991)}",
                "0");
        assertThat(golden.lines()).containsExactly("1764000000000000", "1.764e+15", "1.764e+15", "9007199254740991");
        wire.nextToken(ACCOUNT);
        long token = token(wire.acquire(ACCOUNT, me));
        assertThat(redis.command("GET", keys.counter(fenced(ACCOUNT)))).isEqualTo(Long.toString(token));
        assertThat(Fixture.value(redis, options, fenced(ACCOUNT)))
                .matches(LockValue.hex(me) + "\\|" + token + "\\|[0-9]{16}\\|[0-9]+\\|[^|]+\\|payments");
        assertThat(redis.command("GET", keys.boot(fenced(ACCOUNT))))
                .matches("1\\|[0-9a-f]{40}\\|[0-9a-f]{40}\\|[0-9]{16}");
    }

    @Test
    void aCounterAnHourAheadIsNeverLoweredAndGrantsNothing() throws SendFailure {
        wire.nextToken(ACCOUNT);
        String ahead = Long.toString(serverMicros(redis) + HOUR);
        redis.command("SET", keys.counter(fenced(ACCOUNT)), ahead);
        try (Locks locks = RedisLocks.connect(redis.uri(), options)) {
            FencedLock lock = locks.fenced(ACCOUNT);
            assertThatThrownBy(() -> lock.acquireWithin(Duration.ofMillis(200)))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("Lock 'account:42' not acquired")
                    .hasMessageContaining("its token counter stands at " + ahead)
                    .hasMessageContaining("and its clock at ")
                    .hasMessageContaining("S = 10 s");
            assertThatThrownBy(lock::tryAcquire).isInstanceOf(BackendUnavailableException.class);
        }
        assertThat(redis.command("GET", keys.counter(fenced(ACCOUNT)))).isEqualTo(ahead);
        assertThat(Fixture.value(redis, options, fenced(ACCOUNT))).isEmpty();
    }

    @Test
    void aCounterThatIsALittleTooFarAheadIsWaitedFor() throws Exception {
        wire.nextToken(ACCOUNT);
        long ahead = serverMicros(redis) + 10 * SECOND + 300_000;
        redis.command("SET", keys.counter(fenced(ACCOUNT)), Long.toString(ahead));
        try (Locks locks = RedisLocks.connect(redis.uri(), options);
                FencedLease lease = locks.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(5))) {
            assertThat(lease.token().value()).isGreaterThan(ahead);
            assertThat(serverMicros(redis) + 10 * SECOND).isGreaterThan(ahead);
        }
    }

    @Test
    void aCounterAtTheEndOfTheNumbersIsRefused() throws SendFailure {
        wire.nextToken(ACCOUNT);
        redis.command("SET", keys.counter(fenced(ACCOUNT)), Long.toString(FencingToken.VALUE_LIMIT - 1));
        try (Locks locks = RedisLocks.connect(redis.uri(), options)) {
            assertThatThrownBy(() -> locks.fenced(ACCOUNT).tryAcquire())
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessageContaining("counter")
                    .hasMessageContaining("is at 9007199254740991")
                    .hasMessageContaining("below 2^53");
        }
        assertThat(Fixture.value(redis, options, fenced(ACCOUNT))).isEmpty();
    }

    @Test
    void aFreshBucketWaitsForTheSkewBetweenMastersOnce() throws Exception {
        Duration skew = Duration.ofSeconds(2);
        // Who tries once waits for K only where that is well within a command timeout.
        LockOptions cautious = Fixture.options()
                .masterClockSkew(skew)
                .commandTimeout(skew.multipliedBy(2))
                .build();
        try (Locks locks = RedisLocks.connect(redis.uri(), cautious)) {
            long start = System.nanoTime();
            // Tries once, and waits for K all the same: a new server is nobody's fault.
            assertThat(locks.fenced(ACCOUNT).tryAcquire()).hasValueSatisfying(FencedLease::close);
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(skew);
            start = System.nanoTime();
            assertThat(locks.fenced(ACCOUNT).tryAcquire()).hasValueSatisfying(FencedLease::close);
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(skew);
        }
    }

    @Test
    void aFloorIsPassedForItsLockAloneAndLeavesTheCounter() throws SendFailure, InterruptedException {
        LockName neighbour = sameBucket(ACCOUNT);
        wire.nextToken(ACCOUNT);
        String counter = redis.command("GET", keys.counter(fenced(ACCOUNT)));
        long poisoned = serverMicros(redis) + 23 * HOUR;
        try (Locks locks = RedisLocks.connect(redis.uri(), options);
                Locks others = RedisLocks.connect(redis.uri(), options)) {
            FencedLock lock = locks.fenced(ACCOUNT);
            lock.raiseFloor(new FencingToken(ACCOUNT, poisoned, other));
            try (FencedLease lease = lock.acquire()) {
                assertThat(lease.token().value()).isEqualTo(poisoned + 1);
            }
            assertThat(redis.command("GET", keys.counter(fenced(ACCOUNT)))).isEqualTo(counter);
            // The floor lies in Redis now, so other processes pass it too.
            try (FencedLease lease = others.fenced(ACCOUNT).acquire()) {
                assertThat(lease.token().value()).isEqualTo(poisoned + 2);
            }
            try (FencedLease lease = others.fenced(neighbour).acquire()) {
                assertThat(lease.token().value()).isLessThan(serverMicros(redis) + 11 * SECOND);
            }
            long ttl = Long.parseLong(redis.command("PTTL", keys.floor(fenced(ACCOUNT))));
            assertThat(Duration.ofMillis(ttl))
                    .isBetween(Duration.ofHours(23), Duration.ofHours(23).plusSeconds(11));
        }
    }

    @Test
    void aFloorMoreThanADayAheadIsRefusedOnceAndForgotten() throws SendFailure {
        wire.nextToken(ACCOUNT);
        long forged = serverMicros(redis) + 25 * HOUR;
        try (Locks locks = RedisLocks.connect(redis.uri(), options)) {
            FencedLock lock = locks.fenced(ACCOUNT);
            lock.raiseFloor(new FencingToken(ACCOUNT, forged, other));
            assertThatThrownBy(lock::tryAcquire)
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessageContaining("claimed with token " + forged)
                    .hasMessageContaining("at most 24 h");
            assertThat(lock.tryAcquire()).hasValueSatisfying(FencedLease::close);
            assertThat(redis.command("EXISTS", keys.floor(fenced(ACCOUNT)))).isEqualTo("0");
        }
    }

    @Test
    void aFloorOfAnotherLockIsRejected() {
        try (Locks locks = RedisLocks.connect(redis.uri(), options)) {
            FencingToken foreign = new FencingToken(LockName.of("account", 43), 5, other);
            assertThatThrownBy(() -> locks.fenced(ACCOUNT).raiseFloor(foreign))
                    .isInstanceOf(TokenRejectedException.class)
                    .hasMessageContaining("it belongs to another lock");
        }
    }

    @Test
    void aGrantAndItsReleaseAreOneScriptEachAndAskInfoOnceInASecond() throws SendFailure {
        wire.nextToken(ACCOUNT);
        long scripts = calls("evalsha") + calls("eval");
        long infos = calls("info");
        long start = serverMicros(redis);
        for (int i = 0; i < 100; i++) {
            UUID holder = UUID.randomUUID();
            token(wire.acquire(ACCOUNT, holder));
            answer(wire.transport().release(fenced(ACCOUNT), holder, Duration.ZERO));
        }
        long seconds = (serverMicros(redis) - start) / SECOND + 1;
        assertThat(calls("evalsha") + calls("eval") - scripts).isEqualTo(200);
        // Two sections each time, and one call each for our own three looks.
        assertThat(calls("info") - infos).isLessThanOrEqualTo(2 * seconds + 4);
    }

    @Test
    void aClockBehindWhatTheClientCheckedAsksInfoAgain() throws SendFailure {
        wire.nextToken(ACCOUNT);
        long now = serverMicros(redis);
        assertThat(acquireKnowing(now - SECOND / 2)).as("known, and fresh").hasSize(1);
        assertThat(acquireKnowing(now - 2 * SECOND)).as("too old").hasSize(4);
        assertThat(acquireKnowing(now + 5 * SECOND))
                .as("the clock was set back, so nobody knows how old it is")
                .hasSize(4)
                .last()
                .asString()
                .matches("[0-9a-f]{40}\\|[0-9a-f]{40}");
    }

    /** The reply to a client that saw this bucket's incarnation at a time; the lock is free again afterwards. */
    private List<String> acquireKnowing(long checked) {
        LockKey lock = fenced(ACCOUNT);
        String[] boot = redis.command("GET", keys.boot(lock)).split("\\|", 4);
        String known = "1|" + boot[1] + "|" + boot[2] + "|" + checked + "|" + checked + "|500|COUNTED|10000000|0|0|";
        List<String> command = new ArrayList<>(List.of("EVAL", Script.ACQUIRE.source(), "6"));
        command.addAll(List.of(keys.all(lock)));
        command.addAll(List.of(LockValue.hex(me), known, "10000", "who"));
        List<String> reply =
                redis.command(command.toArray(String[]::new)).lines().toList();
        redis.command("DEL", keys.lock(lock));
        return reply;
    }

    @Test
    void namesWithBracesColonsAndAnyScriptStayInTheirBucket() throws SendFailure {
        Set<Long> tokens = new HashSet<>();
        for (String part : new String[] {"{b1}", "}{", ":lock:f:", "Ünïcödé \uD83D\uDD12", "x".repeat(500)}) {
            LockName name = LockName.of("a", part);
            wire.nextToken(name);
            tokens.add(token(wire.acquire(name, me)));
            assertThat(keys.lock(fenced(name)))
                    .startsWith(keys.counter(fenced(name)).replace(":counter", ":lock:f:a:"));
            assertThat(Fixture.value(redis, options, fenced(name))).startsWith(LockValue.hex(me));
        }
        assertThat(tokens).hasSize(5);
    }

    private LockName sameBucket(LockName name) {
        for (int i = 0; ; i++) {
            LockName candidate = LockName.of("neighbour", i);
            if (keys.counter(fenced(candidate)).equals(keys.counter(fenced(name)))) {
                return candidate;
            }
        }
    }

    private long calls(String command) {
        return Fixture.calls(redis, command);
    }
}
