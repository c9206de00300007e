package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.eventually;
import static dev.fenceline.lock.Fixture.fenced;
import static dev.fenceline.lock.Fixture.value;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.FencedLock;
import dev.fenceline.FencelineEvent;
import dev.fenceline.FencingToken;
import dev.fenceline.LeaseLostException;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.RedisServer;
import dev.fenceline.testkit.SharedServers;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What users of other lock libraries have reported, each as a test of ours. Some have their test where the subject is at home:
 *
 * <ul>
 *   <li>wait limit not kept when Redis is down: {@code LostRepliesTest#aDeadLineEndsTheWaitWithinItsLimitAndOneTimeout},
 *       {@code LostRepliesTest#aServerThatRefusesConnectionsEndsTheWaitWithinItsLimit}
 *   <li>interrupted wait that leaves the lock taken: {@code LockScopesContract}, for every method that waits
 *   <li>renewal goes on after unlock: {@code LeaseTest#aLockThatIsHeldIsRenewedOnceAPeriodHoweverManyCyclesWentBefore}
 *   <li>unlock after expiry: {@code LockContract#renewingOrClosingAnExpiredLeaseLeavesTheNewGrantAlone}
 * </ul>
 */
@Tag("server")
class ReportedElsewhereTest {

    private static final Duration SOON = Duration.ofSeconds(3);

    private final RedisServer redis = SharedServers.redis();
    private final FaultProxy proxy = FaultProxy.to(redis.host(), redis.port());
    private final List<FencelineEvent> events = new CopyOnWriteArrayList<>();
    private final LockOptions.Builder builder =
            Fixture.options().commandTimeout(Duration.ofMillis(500)).listener(events::add);

    @AfterEach
    void close() {
        proxy.close();
    }

    private Locks connect(LockOptions options) {
        return RedisLocks.connect("redis://" + proxy.host() + ":" + proxy.port(), options);
    }

    @Test
    void tryLockThatBlocks() throws InterruptedException {
        try (Locks locks = connect(builder.build());
                FencedLease held = locks.fenced(ACCOUNT).acquire()) {
            FencedLock other = locks.fenced(ACCOUNT);
            long start = System.nanoTime();
            assertThat(other.tryAcquire()).isEmpty();
            assertThat(other.tryRun(lease -> {})).isFalse();
            assertThat(sinceMillis(start))
                    .as("two answers of a server that answers")
                    .isLessThan(450);

            proxy.blackhole();
            start = System.nanoTime();
            assertThatThrownBy(other::tryAcquire)
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("Lock 'account:42' not acquired");
            assertThat(sinceMillis(start)).as("one command timeout").isLessThan(750);
            proxy.heal();
            assertThat(held.token().value()).isPositive();
        }
    }

    @Test
    void aTokenThatIsTheNewestOneEvenForAStaleHolder() throws InterruptedException {
        Duration lease = Duration.ofMillis(300);
        try (Locks locks = connect(builder.lease(lease).maxHold(lease).build())) {
            FencedLease stale = locks.fenced(ACCOUNT).acquire();
            FencingToken mine = stale.token();
            eventually("the lease is over", () -> !stale.isHeld());
            try (FencedLease newer = locks.fenced(ACCOUNT).acquireWithin(SOON)) {
                assertThat(newer.token().value()).isGreaterThan(mine.value());
                assertThat(stale.token()).as("of this grant, for ever").isEqualTo(mine);
            }
        }
    }

    @Test
    void unlockByAnotherThreadThanTheOneThatLocked() throws Exception {
        LockOptions options = builder.build();
        try (Locks locks = connect(options)) {
            FencedLease lease = locks.fenced(ACCOUNT).acquire();
            CompletableFuture.runAsync(() -> {
                        lease.renew();
                        lease.close();
                    })
                    .get(10, TimeUnit.SECONDS);
            assertThat(value(redis, options, fenced(ACCOUNT))).isEmpty();
            assertThat(lease.isHeld()).isFalse();
        }
    }

    @Test
    void aCallbackOfTheLossThatMasksWhatTheWorkThrows() {
        CountDownLatch called = new CountDownLatch(1);
        IllegalStateException thrown = new IllegalStateException("the work's own");
        try (Locks locks = connect(builder.lease(Duration.ofMillis(300)).build())) {
            assertThatThrownBy(() -> locks.fenced(ACCOUNT).run(lease -> {
                        lease.onLost(lost -> {
                            called.countDown();
                            throw new IllegalArgumentException("the callback's own, expected by the test");
                        });
                        redis.command("DEL", new KeySpace(builder.build().keyPrefix()).lock(fenced(ACCOUNT)));
                        assertThat(called.await(10, TimeUnit.SECONDS))
                                .as("the callback ran")
                                .isTrue();
                        throw thrown;
                    }))
                    .isSameAs(thrown)
                    .satisfies(e -> assertThat(e.getSuppressed())
                            .singleElement()
                            .isInstanceOf(LeaseLostException.class)
                            .extracting(Throwable::getMessage)
                            .asString()
                            .contains("the lock server no longer knows it"));
        }
    }

    @Test
    void renewalThatDiesAfterAReconnect() throws InterruptedException {
        Duration lease = Duration.ofMillis(1_500);
        LockOptions options = builder.lease(lease).build();
        try (Locks locks = connect(options)) {
            try (FencedLease held = locks.fenced(ACCOUNT).acquire()) {
                for (int i = 0; i < 2; i++) {
                    proxy.refuse();
                    assertThatThrownBy(held::renew)
                            .isInstanceOf(BackendUnavailableException.class)
                            .hasMessageContaining("renewal is tried again in the background");
                    events.clear();
                    proxy.heal();
                    eventually(
                            "a renewal over the new connection",
                            () -> events.stream().anyMatch(FencelineEvent.LeaseRenewed.class::isInstance));
                }
                long start = System.nanoTime();
                eventually("the lease outlives its time", () -> sinceMillis(start) > lease.toMillis());
                held.requireHeld();
            }
            assertThat(value(redis, options, fenced(ACCOUNT))).isEmpty();
        }
    }

    @Test
    void scriptFlushBeforeEveryScript() throws Exception {
        LockOptions options = builder.build();
        try (Locks locks = connect(options);
                Locks others = connect(options)) {
            FencedLease first = locks.fenced(ACCOUNT).acquire();
            redis.command("SCRIPT", "FLUSH");
            first.renew();
            CompletableFuture<FencedLease> waiter = others.fenced(ACCOUNT).acquireAsync(Duration.ofSeconds(10));
            eventually(
                    "the other one waits at the server",
                    () -> !redis.command("KEYS", options.keyPrefix() + ":*").isEmpty());
            redis.command("SCRIPT", "FLUSH");
            first.close();
            try (FencedLease second = waiter.get(10, TimeUnit.SECONDS)) {
                redis.command("SCRIPT", "FLUSH");
                assertThat(locks.fenced(ACCOUNT).tryAcquire()).isEmpty();
                second.requireHeld();
            }
            redis.command("SCRIPT", "FLUSH");
            assertThat(locks.efficiency(ACCOUNT)
                            .holdAtLeast(Duration.ofMillis(50))
                            .tryRun(lease -> {
                                lease.renew();
                                redis.command("SCRIPT", "FLUSH");
                            }))
                    .isTrue();
            assertThat(value(redis, options, fenced(ACCOUNT))).isEmpty();
        }
    }

    @Test
    void aLeaseSoLongThatRedisRejectsIt() throws InterruptedException {
        LockOptions longest = builder.lease(Duration.ofDays(1)).build();
        try (Locks locks = connect(longest);
                FencedLease lease = locks.fenced(ACCOUNT).acquire()) {
            lease.renew();
            String key = new KeySpace(longest.keyPrefix()).lock(fenced(ACCOUNT));
            assertThat(Long.parseLong(redis.command("PTTL", key)))
                    .isBetween(
                            Duration.ofHours(23).toMillis(), Duration.ofDays(1).toMillis());
        }
        assertThatThrownBy(() -> LockOptions.builder().lease(Duration.ofDays(2)).build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("lease of 48 h is not between 100 ms and 24 h");
    }

    @Test
    void twoLocksWhoseNamesArePrefixesOfOneAnother() throws InterruptedException {
        List<LockName> names = List.of(
                LockName.of("a"),
                LockName.of("a", ""),
                LockName.of("a", 1),
                LockName.of("a", 11),
                LockName.of("a", 1, 1));
        try (Locks one = connect(builder.build());
                Locks two = connect(builder.build())) {
            for (LockName name : names) {
                try (FencedLease lease = one.fenced(name).acquire()) {
                    assertThat(lease.lock()).isEqualTo(name);
                    for (LockName other : names) {
                        Optional<FencedLease> theirs = two.fenced(other).tryAcquire();
                        assertThat(theirs.isPresent())
                                .as("'%s' beside '%s'", other, name)
                                .isNotEqualTo(other.equals(name));
                        theirs.ifPresent(FencedLease::close);
                    }
                }
            }
        }
    }

    @Test
    void aLocalLockThatIsNeverFreedWhenTheReleaseFails() throws Exception {
        // The lease is ten seconds, and whoever waited for its end would come too late.
        try (Locks locks = connect(builder.build())) {
            FencedLease lease = locks.fenced(ACCOUNT).acquire();
            CompletableFuture<FencedLease> waiter = locks.fenced(ACCOUNT).acquireAsync(Duration.ofSeconds(20));
            proxy.refuse();
            lease.close();
            assertThat(events)
                    .filteredOn(FencelineEvent.ReleaseFailed.class::isInstance)
                    .hasSize(1);
            proxy.heal();
            try (FencedLease next = waiter.get(5, TimeUnit.SECONDS)) {
                next.requireHeld();
            }
            try (FencedLease again = locks.fenced(ACCOUNT).acquireWithin(SOON)) {
                again.requireHeld();
            }
        }
    }

    private static long sinceMillis(long start) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
    }
}
