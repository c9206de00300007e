package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.eventually;
import static dev.fenceline.lock.Fixture.fenced;
import static dev.fenceline.lock.Fixture.serverMicros;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.Lease;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** When a wait ends, with which outcome, and what becomes of leases that end at a bad moment. */
@Tag("server")
class LimitsTest {

    private static final EmbeddedServers SERVERS = Servers.embedded();
    private static final Duration LONG = Duration.ofMinutes(1);
    private static RedisProcess redis;

    private final LockOptions options =
            Fixture.options().lease(Duration.ofMinutes(2)).build();
    private final KeySpace keys = new KeySpace(options.keyPrefix());

    @BeforeAll
    static void startServer() {
        redis = SERVERS.redis(RedisSpec.master());
    }

    @AfterAll
    static void stopServers() {
        SERVERS.close();
    }

    private static String through(FaultProxy proxy) {
        return "redis://" + proxy.host() + ":" + proxy.port();
    }

    /** What is known comes a little after the limit: the lock is held, and the server is not silent. */
    @Test
    void aWaiterWhoseLimitPassesWhileTheOneInFrontAsksLearnsWhoHolds() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(redis.host(), redis.port());
                Locks locks = RedisLocks.connect(through(proxy), options)) {
            locks.fenced(ACCOUNT).acquire().close();
            FaultProxy.Armed answer = proxy.onRequest(Script.ACQUIRE.digest()).holdReply();
            CompletableFuture<FencedLease> first = locks.fenced(ACCOUNT).acquireAsync(LONG);
            eventually("it has asked", answer::fired);
            WaitingThread<FencedLease> second =
                    WaitingThread.start(() -> locks.fenced(ACCOUNT).acquireWithin(Duration.ofMillis(20)));
            second.awaitBlocked();
            long limit = System.nanoTime() + 20_000_000;
            eventually("its limit has passed", () -> System.nanoTime() > limit);
            answer.letGo();
            try (FencedLease held = first.get(10, TimeUnit.SECONDS)) {
                assertThatThrownBy(second::result)
                        .isInstanceOf(LockNotAcquiredException.class)
                        .hasMessageContaining("pid " + ProcessHandle.current().pid());
                assertThat(held.isHeld()).isTrue();
            }
        }
    }

    @Test
    void aWaiterBehindOneThatTheTokenRuleRefusesIsToldTheSame() throws Exception {
        try (Locks locks = RedisLocks.connect(redis.uri(), options)) {
            locks.fenced(ACCOUNT).acquire().close();
            String ahead = Long.toString(serverMicros(redis) + 10_000_000 + 30_000_000);
            redis.command("SET", keys.counter(fenced(ACCOUNT)), ahead);
            CompletableFuture<FencedLease> first = locks.fenced(ACCOUNT).acquireAsync(LONG);
            assertThatThrownBy(() -> locks.fenced(ACCOUNT).acquireWithin(Duration.ofMillis(200)))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("its token counter stands at " + ahead);
            first.cancel(true);
        }
    }

    /** Somebody repairs the counter: it is not waited for longer than a lease. */
    @Test
    void aRepairedCounterIsNoticedWithinALease() throws Exception {
        LockOptions brief = Fixture.options().lease(Duration.ofSeconds(1)).build();
        KeySpace its = new KeySpace(brief.keyPrefix());
        try (Locks locks = RedisLocks.connect(redis.uri(), brief)) {
            locks.fenced(ACCOUNT).acquire().close();
            String before = redis.command("GET", its.counter(fenced(ACCOUNT)));
            String ahead = Long.toString(serverMicros(redis) + 3_600_000_000L);
            redis.command("SET", its.counter(fenced(ACCOUNT)), ahead);
            CompletableFuture<FencedLease> waiter = locks.fenced(ACCOUNT).acquireAsync(Duration.ofHours(2));
            redis.command("SET", its.counter(fenced(ACCOUNT)), before);
            waiter.get(20, TimeUnit.SECONDS).close();
        }
    }

    /** No message can be heard any more, and a release skips whoever does not listen. */
    @Test
    void aWaiterThatBecameDeafAsksBySelf() throws Exception {
        String user = "deaf" + System.nanoTime();
        redis.command("ACL", "SETUSER", user, "on", ">secret", "~*", "&*", "+@all");
        try (Locks holding = RedisLocks.connect(redis.uri(), options);
                Locks deaf = RedisLocks.connect(
                        "redis://" + user + ":secret@" + redis.host() + ":" + redis.port(), options)) {
            FencedLease held = holding.fenced(ACCOUNT).acquire();
            CompletableFuture<FencedLease> waiter = deaf.fenced(ACCOUNT).acquireAsync(LONG);
            eventually(
                    "it waits at the server",
                    () -> redis.command("ZCARD", keys.queue(fenced(ACCOUNT))).equals("1"));
            redis.command("ACL", "SETUSER", user, "-subscribe");
            redis.command("CLIENT", "KILL", "TYPE", "pubsub");
            held.close();
            waiter.get(20, TimeUnit.SECONDS).close();
        } finally {
            redis.command("ACL", "DELUSER", user);
        }
    }

    @Test
    void aCloseThatIsOverBeforeItsReleaseEndsToo() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(redis.host(), redis.port())) {
            Locks locks = RedisLocks.connect(through(proxy), options);
            FencedLease lease = locks.fenced(ACCOUNT).acquire();
            proxy.refuse();
            CompletableFuture<Void> closed = lease.closeAsync();
            locks.close();
            closed.get(20, TimeUnit.SECONDS);
        }
    }

    /** As after a long pause: those behind do not wait for its owner to close it. */
    @Test
    void aGrantThatIsOverWhenItComesHoldsNobodyUp() throws Exception {
        LockOptions brief = Fixture.options().lease(Duration.ofSeconds(1)).build();
        SetClock clock = new SetClock();
        try (Fixture.Wire wire = new Fixture.Wire(redis, brief);
                ConnectedLocks locks = wire.locks(clock)) {
            FencedLease over = grantThatIsOver(locks, clock);
            // The owner does nothing, and the line is free all the same.
            CompletableFuture<FencedLease> next = locks.fenced(over.lock()).acquireAsync(Duration.ofHours(20));
            try (FencedLease taken = next.get(20, TimeUnit.SECONDS)) {
                assertThat(taken.token().value()).isGreaterThan(over.token().value());
            }
        }
    }

    private static FencedLease grantThatIsOver(Locks locks, SetClock clock) throws Exception {
        for (int i = 0; i < 5_000; i++) {
            CompletableFuture<FencedLease> grant =
                    locks.fenced(LockName.of("account", i)).acquireAsync(Duration.ofHours(20));
            clock.forward(Duration.ofSeconds(2));
            FencedLease lease = grant.get(20, TimeUnit.SECONDS);
            if (!lease.isHeld()) {
                return lease;
            }
            lease.close();
        }
        throw new AssertionError("No grant came too late.");
    }

    /** Who loses an efficiency lease that is to be kept does not shorten that time for others of the process. */
    @Test
    void aLostLeaseIsNotPassedOnWhileItIsToBeKept() throws Exception {
        LockOptions brief = Fixture.options().lease(Duration.ofSeconds(3)).build();
        SetClock clock = new SetClock();
        try (Fixture.Wire wire = new Fixture.Wire(redis, brief);
                ConnectedLocks locks = wire.locks(clock)) {
            long start = serverMicros(redis);
            Lease lost =
                    locks.efficiency(ACCOUNT).holdAtLeast(Duration.ofMinutes(1)).acquire();
            CompletableFuture<Lease> waiter = locks.efficiency(ACCOUNT).acquireAsync(LONG);
            clock.suspend(Duration.ofMillis(500));
            assertThat(lost.isHeld()).isFalse();
            waiter.get(20, TimeUnit.SECONDS).close();
            assertThat(serverMicros(redis) - start)
                    .as("until its lease time was over at the server")
                    .isGreaterThan(2_000_000);
        }
    }

    /** The clocks of this machine, moved ahead by a test. */
    private static final class SetClock implements LockClock {

        private final AtomicLong nanos = new AtomicLong();
        private final AtomicLong wallMicros = new AtomicLong();

        void forward(Duration time) {
            wallMicros.addAndGet(time.toNanos() / 1_000);
            nanos.addAndGet(time.toNanos());
        }

        /** The monotonic clock stands still, as while a virtual machine is suspended. */
        void suspend(Duration time) {
            wallMicros.addAndGet(time.toNanos() / 1_000);
        }

        @Override
        public long nanoTime() {
            return LockClock.system().nanoTime() + nanos.get();
        }

        @Override
        public long wallMicros() {
            return LockClock.system().wallMicros() + wallMicros.get();
        }
    }
}
