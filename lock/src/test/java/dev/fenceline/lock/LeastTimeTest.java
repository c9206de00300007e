package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.answer;
import static dev.fenceline.lock.Fixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.Lease;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.lock.LockTransport.ReleaseReply;
import dev.fenceline.lock.LockTransport.RenewReply;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.RedisServer;
import dev.fenceline.testkit.SharedServers;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A release that keeps the lock: whatever of its holder is still on its way changes nothing of the time. */
@Tag("server")
class LeastTimeTest {

    private static final LockName REPORT = LockName.of("report", "nightly");
    private static final LockKey KEY = new LockKey(LockKind.EFFICIENCY, REPORT);

    private final RedisServer redis = SharedServers.redis();
    private final LockOptions options = Fixture.options().build();

    @Test
    void noLateCommandOfItsHolderChangesTheTime() throws Exception {
        String key = new KeySpace(options.keyPrefix()).lock(KEY);
        try (Fixture.Wire wire = new Fixture.Wire(redis, options);
                Locks locks = RedisLocks.connect(redis.uri(), options)) {
            Lease lease =
                    locks.efficiency(REPORT).holdAtLeast(Duration.ofMinutes(1)).acquire();
            UUID holder = LockValue.holder(redis.command("GET", key).substring(0, 32));
            lease.close();
            assertThat(answer(wire.transport().renew(KEY, holder))).isEqualTo(RenewReply.REFUSED);
            assertThat(answer(wire.transport().release(KEY, holder, Duration.ZERO)))
                    .isEqualTo(ReleaseReply.ABSENT);
            assertThat(Long.parseLong(redis.command("PTTL", key))).isBetween(50_000L, 60_000L);
            assertThat(LockValue.parse(redis.command("GET", key)))
                    .satisfies(kept -> assertThat(kept.process().application()).isEqualTo("payments"));
        }
    }

    /** The control: PEXPIRE under the old holder, as the issue has it. */
    @Test
    void underItsOldHolderALateRenewalWouldShortenTheTime() throws Exception {
        String key = new KeySpace(options.keyPrefix()).lock(KEY);
        try (Fixture.Wire wire = new Fixture.Wire(redis, options);
                Locks locks = RedisLocks.connect(redis.uri(), options);
                Lease lease = locks.efficiency(REPORT).acquire()) {
            UUID holder = LockValue.holder(redis.command("GET", key).substring(0, 32));
            redis.command("PEXPIRE", key, "60000");
            assertThat(answer(wire.transport().renew(KEY, holder))).isEqualTo(RenewReply.RENEWED);
            assertThat(Long.parseLong(redis.command("PTTL", key))).isLessThan(11_000L);
            assertThat(lease.isHeld()).isTrue();
        }
    }

    @Test
    void whoWaitsInTheSameProcessGetsTheLockWhenTheTimeIsOverAndNotBefore() throws Exception {
        Duration atLeast = Duration.ofMillis(600);
        try (Locks locks = RedisLocks.connect(redis.uri(), options)) {
            Lease lease = locks.efficiency(REPORT).holdAtLeast(atLeast).acquire();
            long start = System.nanoTime();
            CompletableFuture<Lease> waiter = locks.efficiency(REPORT).acquireAsync(Duration.ofSeconds(10));
            lease.close();
            try (Lease next = waiter.get(10, TimeUnit.SECONDS)) {
                next.requireHeld();
                assertThat(Duration.ofNanos(System.nanoTime() - start))
                        .isBetween(atLeast.minusMillis(1), Duration.ofSeconds(5));
            }
        }
    }

    @Test
    void aGrantThatWasGivenUpBeforeItsWorkBeganIsNotKept() {
        try (FaultProxy proxy = FaultProxy.to(redis.host(), redis.port());
                Locks locks = RedisLocks.connect("redis://" + proxy.host() + ":" + proxy.port(), options)) {
            var lock = locks.efficiency(REPORT).holdAtLeast(Duration.ofMinutes(1));
            var reply = proxy.onRequest(Script.ACQUIRE.digest()).holdReply();
            CompletableFuture<Lease> future = lock.acquireAsync();
            eventually("the grant is made and not yet known", reply::fired);
            future.cancel(false);
            reply.letGo();
            eventually(
                    "the lock is free",
                    () -> redis.command("GET", new KeySpace(options.keyPrefix()).lock(KEY))
                            .isEmpty());
        }
    }
}
