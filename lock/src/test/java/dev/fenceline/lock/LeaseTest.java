package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.eventually;
import static dev.fenceline.lock.Fixture.fenced;
import static dev.fenceline.lock.Fixture.value;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.FencelineEvent;
import dev.fenceline.LeaseLostException;
import dev.fenceline.LeaseLostException.Reason;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.Servers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How long a lease lives: renewal, every way to lose it, and what it still does afterwards. */
@Tag("server")
class LeaseTest {

    private static final EmbeddedServers SERVERS = Servers.embedded();
    private static final RedisProcess REDIS = SERVERS.redis(RedisSpec.master());
    private static final Duration LEASE = Duration.ofMillis(600);

    private final List<FencelineEvent> events = new CopyOnWriteArrayList<>();
    private final List<LeaseLostException> lost = new CopyOnWriteArrayList<>();
    private final LockOptions.Builder builder = Fixture.options()
            .lease(LEASE)
            .commandTimeout(Duration.ofMillis(300))
            .listener(events::add);

    @AfterAll
    static void stopServers() {
        SERVERS.close();
    }

    @AfterEach
    void resume() {
        REDIS.resume();
    }

    @Test
    void aLockThatIsHeldIsRenewedOnceAPeriodHoweverManyCyclesWentBefore() throws InterruptedException {
        Duration period = Duration.ofMillis(200);
        LockOptions options =
                builder.lease(Duration.ofSeconds(2)).renewalPeriod(period).build();
        try (Locks locks = RedisLocks.connect(REDIS.uri(), options)) {
            for (int i = 0; i < 200; i++) {
                locks.fenced(ACCOUNT).acquire().close();
            }
            try (FencedLease lease = locks.fenced(ACCOUNT).acquire()) {
                long before = Fixture.calls(REDIS, "pexpire");
                long fivePeriods = period.toNanos() * 5 + period.toNanos() / 2;
                long start = System.nanoTime();
                await("five periods and a half are over")
                        .atMost(Duration.ofSeconds(5))
                        .until(() -> System.nanoTime() - start >= fivePeriods);
                long sent = Fixture.calls(REDIS, "pexpire") - before;
                // A loaded machine makes the periods longer, and us look later; it adds no renewal.
                long periods = (System.nanoTime() - start) / period.toNanos();
                assertThat(sent).isBetween(2L, periods + 1);
                assertThat(events)
                        .filteredOn(FencelineEvent.LeaseRenewed.class::isInstance)
                        .hasSizeBetween(2, (int) periods + 1);
                assertThat(lease.isHeld()).isTrue();
            }
            long after = Fixture.calls(REDIS, "pexpire");
            long end = System.nanoTime();
            await("two periods are over")
                    .atMost(Duration.ofSeconds(5))
                    .until(() -> System.nanoTime() - end >= period.toNanos() * 2);
            assertThat(Fixture.calls(REDIS, "pexpire"))
                    .as("renewal ends with the release")
                    .isEqualTo(after);
        }
    }

    @Test
    void renewalCarriesALeaseBeyondItsTime() throws InterruptedException {
        try (Locks locks = RedisLocks.connect(REDIS.uri(), builder.build());
                FencedLease lease = locks.fenced(ACCOUNT).acquire()) {
            long start = System.nanoTime();
            await("twice the lease is over")
                    .atMost(Duration.ofSeconds(5))
                    .until(() -> System.nanoTime() - start > 2 * LEASE.toNanos());
            lease.requireHeld();
            lease.renew();
            assertThat(lease.remaining()).isBetween(LEASE.dividedBy(2), LEASE);
            assertThat(locks.fenced(ACCOUNT).tryAcquire()).isEmpty();
        }
    }

    @Test
    void aLeaseThatTheServerForgotIsLostAtTheNextRenewalAndNotMadeAgain() throws InterruptedException {
        LockOptions options = builder.build();
        try (Locks locks = RedisLocks.connect(REDIS.uri(), options)) {
            FencedLease lease = locks.fenced(ACCOUNT).acquire();
            lease.onLost(lost::add);
            REDIS.command("FLUSHALL");
            eventually("the loss is told", () -> !lost.isEmpty());
            assertLost(lease, Reason.REFUSED, "the lock server no longer knows it");
            assertThat(value(REDIS, options, fenced(ACCOUNT))).isEmpty();
            lease.close();
        }
        assertToldOnce(Reason.REFUSED);
    }

    @Test
    void askingForRenewalFindsOutAtOnce() throws InterruptedException {
        try (Locks locks = RedisLocks.connect(
                REDIS.uri(), builder.lease(Duration.ofSeconds(10)).build())) {
            FencedLease lease = locks.fenced(ACCOUNT).acquire();
            REDIS.command("FLUSHALL");
            assertThatThrownBy(lease::renew)
                    .isInstanceOf(LeaseLostException.class)
                    .hasMessageContaining("the lock server no longer knows it");
            assertThat(lease.isHeld()).isFalse();
        }
    }

    @Test
    void aServerThatSleepsCostsTheLeaseAtItsDeadline() throws InterruptedException {
        try (Locks locks = RedisLocks.connect(REDIS.uri(), builder.build())) {
            FencedLease lease = locks.fenced(ACCOUNT).acquire();
            lease.onLost(lost::add);
            REDIS.pause();
            assertThatThrownBy(lease::renew)
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("Lease of 'account:42' not renewed")
                    .hasMessageContaining("did not answer within 300 ms");
            eventually("the loss is told", () -> !lost.isEmpty());
            assertLost(lease, Reason.DEADLINE_PASSED, "it was not renewed in time");
            // Late for the caller, but quiet: the release goes on in the background.
            lease.close();
            REDIS.resume();
        }
        assertToldOnce(Reason.DEADLINE_PASSED);
        assertThat(events)
                .filteredOn(FencelineEvent.ReleaseFailed.class::isInstance)
                .hasSize(1);
    }

    @Test
    void aLostLeaseIsStillReleasedIfTheServerHasIt() throws InterruptedException {
        LockOptions options = builder.build();
        try (Locks locks = RedisLocks.connect(REDIS.uri(), options)) {
            FencedLease lease = locks.fenced(ACCOUNT).acquire();
            REDIS.pause();
            eventually("the deadline has passed", () -> !lease.isHeld());
            REDIS.resume();
            // As if a renewal had been executed whose answer was lost.
            REDIS.command(
                    "SET",
                    new KeySpace(options.keyPrefix()).lock(fenced(ACCOUNT)),
                    LockValue.hex(lease.token().holder()) + "|" + lease.token().value() + "|0|1|h|a",
                    "PX",
                    "60000");
            lease.close();
            Fixture.awaitFree(REDIS, options, ACCOUNT, Duration.ofSeconds(3));
        }
    }

    @Test
    void closingTheLocksFreesALostLeaseThatItsOwnerNeverClosed() throws Exception {
        TestClock clock = new TestClock();
        LockOptions options = builder.lease(Duration.ofSeconds(10)).build();
        try (Fixture.Wire wire = new Fixture.Wire(REDIS, options)) {
            ConnectedLocks locks = wire.locks(clock);
            FencedLease lease = locks.fenced(ACCOUNT).acquire();
            clock.wallAhead(Duration.ofSeconds(1));
            assertLost(lease, Reason.SUSPENDED, "the machine was suspended while it ran");
            assertThat(value(REDIS, options, fenced(ACCOUNT)))
                    .as("lost here, and still taken at the server")
                    .isNotEmpty();
            locks.close();
            assertThat(value(REDIS, options, fenced(ACCOUNT))).isEmpty();
        }
    }

    @Test
    void aLostLeaseIsForgottenOnceTheServerCannotHaveItAnyMore() throws Exception {
        TestClock clock = new TestClock();
        try (Fixture.Wire wire = new Fixture.Wire(REDIS, builder.build());
                ConnectedLocks locks = wire.locks(clock)) {
            FencedLease lease = locks.fenced(ACCOUNT).acquire();
            clock.wallAhead(Duration.ofSeconds(1));
            assertThat(lease.isHeld()).isFalse();
            assertThat(locks.heldLeases()).isEqualTo(1);
            eventually("the lease is forgotten", () -> locks.heldLeases() == 0);
        }
    }

    @Test
    void aHoldThatIsTooLongIsNoLongerRenewed() throws InterruptedException {
        try (Locks locks =
                RedisLocks.connect(REDIS.uri(), builder.maxHold(LEASE).build())) {
            FencedLease lease = locks.fenced(ACCOUNT).acquire();
            lease.onLost(lost::add);
            eventually("the loss is told", () -> !lost.isEmpty());
            assertLost(lease, Reason.MAX_HOLD, "it was held for the maximum time");
        }
        assertToldOnce(Reason.MAX_HOLD);
    }

    @Test
    void askingForRenewalBeyondTheMaximumHoldIsRefusedWhileTheLeaseRunsOn() throws Exception {
        TestClock clock = new TestClock();
        LockOptions options = builder.lease(Duration.ofSeconds(10))
                .maxHold(Duration.ofSeconds(15))
                .build();
        try (Fixture.Wire wire = new Fixture.Wire(REDIS, options);
                ConnectedLocks locks = wire.locks(clock)) {
            FencedLease lease = locks.fenced(ACCOUNT).acquire();
            clock.advance(Duration.ofSeconds(8));
            lease.renew();
            clock.advance(Duration.ofSeconds(8));
            assertThatThrownBy(lease::renew)
                    .isInstanceOfSatisfying(
                            LeaseLostException.class,
                            thrown -> assertThat(thrown.reason()).isEqualTo(Reason.MAX_HOLD))
                    .hasMessageContaining("The lease of 'account:42', acquired 16 s ago, is not renewed any more")
                    .hasMessageContaining("It runs for another 1.9 s");
            assertThat(lease.isHeld()).isTrue();
        }
    }

    @Test
    void aSuspendedMachineHasLostItsLeaseHoweverLittleTimeItsOwnClockSaw() throws Exception {
        TestClock clock = new TestClock();
        LockOptions options = builder.lease(Duration.ofSeconds(10)).build();
        try (Fixture.Wire wire = new Fixture.Wire(REDIS, options);
                ConnectedLocks locks = wire.locks(clock)) {
            FencedLease lease = locks.fenced(ACCOUNT).acquire();
            lease.onLost(lost::add);
            clock.wallAhead(Duration.ofMillis(90));
            lease.requireHeld();
            clock.wallAhead(Duration.ofMillis(110));
            assertLost(lease, Reason.SUSPENDED, "the machine was suspended while it ran");
            eventually("the loss is told", () -> !lost.isEmpty());
            clock.wallAhead(Duration.ZERO);
            assertThat(lease.isHeld()).as("a loss is final").isFalse();
        }
        assertToldOnce(Reason.SUSPENDED);
    }

    @Test
    void aClockThatRunsAPercentFasterIsAllowedFor() throws Exception {
        TestClock clock = new TestClock();
        LockOptions options = builder.lease(Duration.ofSeconds(10)).build();
        try (Fixture.Wire wire = new Fixture.Wire(REDIS, options);
                ConnectedLocks locks = wire.locks(clock)) {
            FencedLease lease = locks.fenced(ACCOUNT).acquire();
            clock.advance(Duration.ofMillis(9_897));
            assertThat(lease.isHeld()).isTrue();
            clock.advance(Duration.ofMillis(1));
            assertThat(lease.isHeld()).isFalse();
            assertThat(lease.remaining()).isZero();
        }
    }

    @Test
    void callbacksRunOnceEachAlsoWhenTheyComeLateOrThrow() throws InterruptedException {
        List<Thread> threads = new CopyOnWriteArrayList<>();
        try (Locks locks = RedisLocks.connect(REDIS.uri(), builder.build())) {
            FencedLease lease = locks.fenced(ACCOUNT).acquire();
            lease.onLost(thrown -> {
                threads.add(Thread.currentThread());
                throw new IllegalStateException("expected by the test");
            });
            lease.onLost(lost::add);
            REDIS.command("FLUSHALL");
            eventually("the second callback runs", () -> lost.size() == 1);
            lease.onLost(lost::add);
            eventually("a late callback runs", () -> lost.size() == 2);
            assertThat(threads).hasSize(1).first().extracting(Thread::getName).isEqualTo(Notices.THREAD);
        }
        assertThat(lost).hasSize(2);
    }

    @Test
    void aReleaseIsNoLoss() throws Exception {
        LockOptions options = builder.build();
        try (Locks locks = RedisLocks.connect(REDIS.uri(), options)) {
            FencedLease lease = locks.fenced(ACCOUNT).acquire();
            lease.onLost(lost::add);
            lease.close();
            // The callbacks run on one thread, in turn: once another loss was told there, this one would have been.
            FencedLease marker = locks.fenced(ACCOUNT).acquire();
            marker.onLost(lost::add);
            REDIS.command("FLUSHALL");
            eventually("the loss of another lease is told", () -> !lost.isEmpty());
            assertThat(lost).hasSize(1);
        }
    }

    private void assertLost(FencedLease lease, Reason reason, String text) {
        assertThat(lease.isHeld()).isFalse();
        assertThat(lease.remaining()).isZero();
        assertThat(lease.token().value()).isPositive();
        assertThatThrownBy(lease::requireHeld)
                .isInstanceOfSatisfying(LeaseLostException.class, thrown -> {
                    assertThat(thrown.reason()).isEqualTo(reason);
                    assertThat(thrown.lock()).isEqualTo(ACCOUNT);
                })
                .hasMessageContaining("The lease of 'account:42', acquired ")
                .hasMessageContaining(text);
        assertThatThrownBy(lease::renew).isInstanceOf(LeaseLostException.class);
    }

    private void assertToldOnce(Reason reason) {
        assertThat(lost).extracting(LeaseLostException::reason).containsExactly(reason);
        assertThat(events)
                .filteredOn(FencelineEvent.LeaseLost.class::isInstance)
                .extracting(event -> ((FencelineEvent.LeaseLost) event).reason())
                .containsExactly(reason);
    }

    /** Stands still but for what a test adds. */
    private static final class TestClock implements LockClock {

        private final long start = System.nanoTime();
        private final AtomicLong nanos = new AtomicLong();
        private volatile long wallAheadMicros;

        void advance(Duration time) {
            nanos.addAndGet(time.toNanos());
        }

        void wallAhead(Duration time) {
            wallAheadMicros = time.toNanos() / 1_000;
        }

        @Override
        public long nanoTime() {
            return start + nanos.get();
        }

        @Override
        public long wallMicros() {
            return TimeUnit.NANOSECONDS.toMicros(nanos.get()) + wallAheadMicros;
        }
    }
}
