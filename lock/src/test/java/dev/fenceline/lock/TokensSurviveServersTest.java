package dev.fenceline.lock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.FencedLease;
import dev.fenceline.FencedLock;
import dev.fenceline.FencingToken;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.Servers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What happens to servers, told once, with ours and with the folklore. In each story the counter is lost or falls back
 * between two grants, while the tokens are ahead of the clock (as in the first seconds of a bucket, or after the clock was set
 * back), so that the clock alone would not save them.
 */
@Tag("server")
class TokensSurviveServersTest {

    private static final EmbeddedServers SERVERS = Servers.embedded();

    private final LockOptions options = Fixture.options().build();
    private final TokenSource ours = TokenSource.fenceline(options);
    private final TokenSource naive = TokenSource.naive();

    @AfterAll
    static void stopServers() {
        SERVERS.close();
    }

    @Test
    void flushall() {
        assertThat(flushed(ours)).satisfies(TokensSurviveServersTest::rises);
        assertThat(flushed(naive)).satisfies(TokensSurviveServersTest::repeats);
    }

    private static List<Long> flushed(TokenSource source) {
        try (RedisProcess redis = SERVERS.redis(RedisSpec.master())) {
            List<Long> tokens = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                tokens.add(source.next(redis));
                source.setClockBack(redis);
                tokens.add(source.next(redis));
                redis.command("FLUSHALL");
            }
            tokens.add(source.next(redis));
            return tokens;
        }
    }

    @Test
    void aRestartWithoutPersistence() {
        assertThat(restarted(ours)).satisfies(TokensSurviveServersTest::rises);
        assertThat(restarted(naive)).satisfies(TokensSurviveServersTest::repeats);
    }

    private static List<Long> restarted(TokenSource source) {
        try (RedisProcess redis = SERVERS.redis(RedisSpec.master())) {
            List<Long> tokens = new ArrayList<>(List.of(source.next(redis)));
            source.setClockBack(redis);
            tokens.add(source.next(redis));
            redis.restart();
            tokens.add(source.next(redis));
            return tokens;
        }
    }

    @Test
    void aRestartWithALogWhoseEndIsLost() {
        assertThat(restartedWithAnOldLog(ours)).satisfies(TokensSurviveServersTest::rises);
        assertThat(restartedWithAnOldLog(naive)).satisfies(TokensSurviveServersTest::repeats);
    }

    private static List<Long> restartedWithAnOldLog(TokenSource source) {
        try (RedisProcess redis = SERVERS.redis(RedisSpec.master().persistent())) {
            List<Long> tokens = new ArrayList<>(List.of(source.next(redis)));
            // The file stays as it is, as if the last second of it had not reached the disk.
            redis.command("CONFIG", "SET", "appendonly", "no");
            tokens.add(source.next(redis));
            tokens.add(source.next(redis));
            redis.restart();
            tokens.add(source.next(redis));
            return tokens;
        }
    }

    @Test
    void aRestartWithTheWholeLog() {
        try (RedisProcess redis = SERVERS.redis(RedisSpec.master().persistent())) {
            List<Long> tokens = new ArrayList<>(List.of(ours.next(redis), ours.next(redis)));
            String boot = redis.command("GET", new KeySpace(options.keyPrefix()).boot(Fixture.fenced(Fixture.ACCOUNT)));
            redis.restart();
            tokens.add(ours.next(redis));
            assertThat(tokens).satisfies(TokensSurviveServersTest::rises);
            assertThat(redis.command("GET", new KeySpace(options.keyPrefix()).boot(Fixture.fenced(Fixture.ACCOUNT))))
                    .as("the boot key tells the restart")
                    .startsWith("1|")
                    .isNotEqualTo(boot);
        }
    }

    @Test
    void thePromotionOfALaggingReplica() {
        assertThat(promoted(ours)).satisfies(TokensSurviveServersTest::rises);
        assertThat(promoted(naive)).satisfies(TokensSurviveServersTest::repeats);
    }

    private static List<Long> promoted(TokenSource source) {
        try (RedisProcess a = SERVERS.redis(RedisSpec.master());
                RedisProcess b = SERVERS.redis(RedisSpec.master().replicaOf(a))) {
            List<Long> tokens = new ArrayList<>(List.of(source.next(a)));
            a.awaitReplicaInSync();
            cutOff(a, b);
            tokens.add(source.next(a));
            tokens.add(source.next(a));
            a.kill();
            b.resume();
            b.command("REPLICAOF", "NO", "ONE");
            tokens.add(source.next(b));
            return tokens;
        }
    }

    @Test
    void aPromotionPassesTheOldMasterByTheToleranceAndTheSkewAndWaitsForTheSkew() {
        TokenSource cautious = TokenSource.fenceline(
                Fixture.options().masterClockSkew(Duration.ofMillis(250)).build());
        try (RedisProcess a = SERVERS.redis(RedisSpec.master());
                RedisProcess b = SERVERS.redis(RedisSpec.master().replicaOf(a))) {
            cautious.next(a);
            a.awaitReplicaInSync();
            a.kill();
            b.command("REPLICAOF", "NO", "ONE");
            long promoted = Fixture.serverMicros(b);
            assertThat(cautious.next(b)).isGreaterThan(promoted + 10_250_000);
            assertThat(Fixture.serverMicros(b)).isGreaterThan(promoted + 250_000);
        }
    }

    @Test
    void aFloorFallsWithTheDataAndIsRaisedByTheNextRefusal() throws InterruptedException {
        try (RedisProcess redis = SERVERS.redis(RedisSpec.master());
                Locks locks = RedisLocks.connect(redis.uri(), options)) {
            FencedLock lock = locks.fenced(Fixture.ACCOUNT);
            FencingToken mark =
                    new FencingToken(Fixture.ACCOUNT, Fixture.serverMicros(redis) + 3_600_000_000L, UUID.randomUUID());
            lock.raiseFloor(mark);
            assertThat(value(lock)).isGreaterThan(mark.value());
            redis.command("FLUSHALL");
            assertThat(value(lock))
                    .as("the limit: below a token that was issued before; its claim is refused")
                    .isLessThan(mark.value());
            lock.raiseFloor(mark);
            assertThat(value(lock)).isGreaterThan(mark.value());
        }
    }

    private static long value(FencedLock lock) throws InterruptedException {
        try (FencedLease lease = lock.acquire()) {
            return lease.token().value();
        }
    }

    @Test
    void aFailoverThereAndBackWithoutAGrantInBetween() {
        assertThat(thereAndBack(ours)).satisfies(TokensSurviveServersTest::rises);
        assertThat(thereAndBack(naive)).satisfies(TokensSurviveServersTest::repeats);
    }

    private static List<Long> thereAndBack(TokenSource source) {
        try (RedisProcess a = SERVERS.redis(RedisSpec.master());
                RedisProcess b = SERVERS.redis(RedisSpec.master().replicaOf(a))) {
            List<Long> tokens = new ArrayList<>(List.of(source.next(a)));
            a.awaitReplicaInSync();
            failThereAndBack(a, b, () -> {
                tokens.add(source.next(a));
                tokens.add(source.next(a));
            });
            tokens.add(source.next(a));
            return tokens;
        }
    }

    /** A, B as its replica, then B the master and A its replica, then A the master again; what is done in between is lost. */
    static void failThereAndBack(RedisProcess a, RedisProcess b, Runnable lost) {
        cutOff(a, b);
        lost.run();
        // While A sleeps B cannot fetch what it lacks.
        a.pause();
        b.resume();
        b.command("REPLICAOF", "NO", "ONE");
        a.resume();
        a.command("REPLICAOF", b.host(), Integer.toString(b.port()));
        b.awaitReplicaInSync();
        a.command("REPLICAOF", "NO", "ONE");
    }

    /** The replica gets nothing from now on, and does not know. */
    private static void cutOff(RedisProcess master, RedisProcess replica) {
        replica.pause();
        master.command("CLIENT", "KILL", "TYPE", "replica");
    }

    private static void rises(List<? extends Long> tokens) {
        for (int i = 1; i < tokens.size(); i++) {
            assertThat(tokens.get(i))
                    .as("each token is above the one before: %s", tokens)
                    .isGreaterThan(tokens.get(i - 1));
        }
    }

    private static void repeats(List<? extends Long> tokens) {
        assertThat(new HashSet<>(tokens).size())
                .as("the control repeats a token, or these stories prove nothing: %s", tokens)
                .isLessThan(tokens.size());
    }
}
