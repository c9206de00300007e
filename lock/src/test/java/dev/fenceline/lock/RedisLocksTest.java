package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.awaitFree;
import static dev.fenceline.lock.Fixture.fenced;
import static dev.fenceline.lock.Fixture.options;
import static dev.fenceline.lock.Fixture.serverMicros;
import static dev.fenceline.lock.Fixture.value;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.FencelineEvent;
import dev.fenceline.FencelineEvent.AcquireEnded;
import dev.fenceline.FencelineEvent.AcquireOutcome;
import dev.fenceline.Lease;
import dev.fenceline.LeaseLostException;
import dev.fenceline.LockName;
import dev.fenceline.LockNotAcquiredException;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.testkit.RedisServer;
import dev.fenceline.testkit.SharedServers;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("server")
class RedisLocksTest {

    private final RedisServer redis = SharedServers.redis();
    private final List<FencelineEvent> events = new CopyOnWriteArrayList<>();
    private final LockOptions options = options().listener(events::add).build();
    private final Locks locks = RedisLocks.connect(redis.uri(), options);
    private final Locks others = RedisLocks.connect(redis.uri(), options);

    @AfterEach
    void close() {
        locks.close();
        others.close();
    }

    @Test
    void tokensOfALockRise() throws InterruptedException {
        long last = 0;
        for (int i = 0; i < 20; i++) {
            try (FencedLease lease =
                    (i % 2 == 0 ? locks : others).fenced(ACCOUNT).acquire()) {
                assertThat(lease.token().value()).isGreaterThan(last);
                assertThat(lease.token().lock()).isEqualTo(ACCOUNT);
                last = lease.token().value();
            }
        }
    }

    @Test
    void aTokenIsMicrosecondsOfTheServersClockWithinTheTolerance() throws InterruptedException {
        try (FencedLease lease = locks.fenced(ACCOUNT).acquire()) {
            assertThat(lease.token().value() - serverMicros(redis)).isBetween(-5_000_000L, 10_000_000L);
        }
    }

    @Test
    void whoWaitsInVainIsToldWhoHoldsTheLock() throws InterruptedException {
        try (FencedLease held = locks.fenced(ACCOUNT).acquire()) {
            assertThat(held.isHeld()).isTrue();
            assertThat(others.fenced(ACCOUNT).tryAcquire()).isEmpty();
            assertThatThrownBy(() -> others.fenced(ACCOUNT).acquireWithin(Duration.ofMillis(60)))
                    .isInstanceOfSatisfying(LockNotAcquiredException.class, e -> {
                        assertThat(e.lock()).isEqualTo(ACCOUNT);
                        assertThat(e.holder()).hasValueSatisfying(holder -> {
                            assertThat(holder.application()).isEqualTo("payments");
                            assertThat(holder.pid())
                                    .isEqualTo(ProcessHandle.current().pid());
                        });
                    })
                    .hasMessageContaining("Lock 'account:42' not acquired within")
                    .hasMessageContaining("held by payments (host ");
        }
        assertThat(events)
                .filteredOn(AcquireEnded.class::isInstance)
                .extracting(event -> ((AcquireEnded) event).outcome())
                .containsExactly(AcquireOutcome.ACQUIRED, AcquireOutcome.NOT_ACQUIRED, AcquireOutcome.NOT_ACQUIRED);
    }

    @Test
    void whoWaitsForItselfIsToldSo() throws InterruptedException {
        try (FencedLease held = locks.fenced(ACCOUNT).acquire()) {
            assertThat(held.isHeld()).isTrue();
            assertThatThrownBy(() -> locks.fenced(ACCOUNT).acquireWithin(Duration.ofMillis(20)))
                    .isInstanceOf(LockNotAcquiredException.class)
                    .hasMessageContaining("held by this very process")
                    .hasMessageContaining("Locks are not reentrant");
        }
    }

    @Test
    void aWaiterGetsTheLockWhenItIsReleased() throws Exception {
        FencedLease first = locks.fenced(ACCOUNT).acquire();
        CountDownLatch started = new CountDownLatch(1);
        CompletableFuture<FencedLease> second = CompletableFuture.supplyAsync(() -> {
            started.countDown();
            try {
                return others.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(10));
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        assertThat(started.await(10, TimeUnit.SECONDS)).isTrue();
        first.close();
        try (FencedLease lease = second.get(10, TimeUnit.SECONDS)) {
            assertThat(lease.token().value()).isGreaterThan(first.token().value());
        }
    }

    @Test
    void closingALeaseFreesTheLockAtOnceAndOnlyOnce() throws InterruptedException {
        FencedLease lease = locks.fenced(ACCOUNT).acquire();
        lease.close();
        assertThat(value(redis, options, fenced(ACCOUNT))).isEmpty();
        try (FencedLease next = others.fenced(ACCOUNT).acquire()) {
            lease.close();
            assertThat(value(redis, options, fenced(ACCOUNT)))
                    .contains(Long.toString(next.token().value()));
        }
        assertThat(lease.isHeld()).isFalse();
        assertThat(lease.remaining()).isZero();
        assertThat(lease.token().lock()).isEqualTo(ACCOUNT);
        assertThatThrownBy(lease::requireHeld)
                .isInstanceOf(LeaseLostException.class)
                .hasMessageContaining("'account:42'")
                .hasMessageContaining("this process released it");
        assertThatThrownBy(lease::renew).isInstanceOf(LeaseLostException.class);
        assertThat(events)
                .filteredOn(FencelineEvent.LeaseClosed.class::isInstance)
                .hasSize(2);
    }

    @Test
    void theSameNameIsAnotherLockForEfficiencyAndLeavesNoCounter() throws InterruptedException {
        LockName report = LockName.of("report", "nightly");
        try (Lease cheap = locks.efficiency(report).acquire()) {
            assertThat(cheap).isNotInstanceOf(FencedLease.class);
            assertThat(others.efficiency(report).tryAcquire()).isEmpty();
            assertThat(redis.command("KEYS", options.keyPrefix() + "*"))
                    .isEqualTo(new KeySpace(options.keyPrefix()).lock(new LockKey(LockKind.EFFICIENCY, report)));
            Optional<FencedLease> safe = others.fenced(report).tryAcquire();
            assertThat(safe).isPresent();
            safe.get().close();
        }
        assertThat(others.efficiency(report).tryAcquire()).hasValueSatisfying(Lease::close);
    }

    @Test
    void anInterruptedWaiterLeavesNothingBehind() throws Exception {
        FencedLease held = locks.fenced(ACCOUNT).acquire();
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread waiter = new Thread(() -> {
            try (FencedLease unexpected = others.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(30))) {
                thrown.set(new AssertionError("got " + unexpected));
            } catch (InterruptedException e) {
                thrown.set(Thread.currentThread().isInterrupted() ? new AssertionError("the flag is set", e) : e);
            }
        });
        waiter.start();
        Fixture.eventually("the waiter waits", () -> waiter.getState() == Thread.State.TIMED_WAITING);
        waiter.interrupt();
        waiter.join(10_000);
        assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
        held.close();
        awaitFree(redis, options, ACCOUNT, Duration.ofMillis(500));
        assertThat(others.fenced(ACCOUNT).tryAcquire()).hasValueSatisfying(Lease::close);
    }

    @Test
    void aThreadThatIsInterruptedAlreadySendsNothing() {
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> locks.fenced(ACCOUNT).acquire())
                .isInstanceOf(InterruptedException.class)
                .hasMessageContaining("before lock 'account:42' was asked for");
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(value(redis, options, fenced(ACCOUNT))).isEmpty();
    }

    @Test
    void tryAcquireAndCloseKeepTheInterruptFlag() {
        Thread.currentThread().interrupt();
        Optional<FencedLease> lease = locks.fenced(ACCOUNT).tryAcquire();
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
        assertThat(lease).isPresent();
        lease.get().renew();
        lease.get().close();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(value(redis, options, fenced(ACCOUNT))).isEmpty();
    }

    @Test
    void aNegativeWaitIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> locks.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(-1)))
                .withMessageContaining("zero tries once");
    }

    @Test
    void aWaitBeyondAYearIsRefusedByName() {
        for (Duration wait : new Duration[] {Duration.ofNanos(Long.MAX_VALUE), Duration.ofSeconds(Long.MAX_VALUE)}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> locks.fenced(ACCOUNT).acquireWithin(wait))
                    .withMessageContaining("maxWait of " + wait + " for lock 'account:42' is beyond 366 days");
        }
        assertThat(value(redis, options, fenced(ACCOUNT))).isEmpty();
    }

    @Test
    void aHolderThatDoesNotSayWhoItIsIsCalledUnknown() {
        redis.command("SET", new KeySpace(options.keyPrefix()).lock(fenced(ACCOUNT)), "v2|something", "PX", "5000");
        assertThatThrownBy(() -> locks.fenced(ACCOUNT).acquireWithin(Duration.ofMillis(50)))
                .isInstanceOfSatisfying(
                        LockNotAcquiredException.class,
                        e -> assertThat(e.holder()).isEmpty())
                .hasMessageContaining("held by an unknown holder");
    }

    @Test
    void closingTheLocksReleasesWhatIsHeldAndWakesWaiters() throws Exception {
        LockName other = LockName.of("account", 43);
        FencedLease first = locks.fenced(ACCOUNT).acquire();
        FencedLease second = locks.fenced(other).acquire();
        CompletableFuture<Throwable> waiter = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try (FencedLease unexpected = locks.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(30))) {
                waiter.completeExceptionally(new AssertionError("got " + unexpected));
            } catch (BackendUnavailableException | InterruptedException e) {
                waiter.complete(e);
            }
        });
        thread.start();
        Fixture.eventually("the waiter waits", () -> thread.getState() == Thread.State.TIMED_WAITING);
        long start = System.nanoTime();
        locks.close();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(options.commandTimeout());
        assertThat(waiter.get(10, TimeUnit.SECONDS))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("Lock 'account:42' not acquired: these locks were closed");
        assertThat(value(redis, options, fenced(ACCOUNT))).isEmpty();
        assertThat(value(redis, options, fenced(other))).isEmpty();
        assertThat(List.of(first, second)).noneMatch(Lease::isHeld);
        assertThatThrownBy(() -> locks.fenced(ACCOUNT).tryAcquire())
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("connect anew");
        locks.close();
    }

    @Test
    void closingTheLocksLeavesNoThreadBehind() {
        Locks some = RedisLocks.connect(redis.uri(), options);
        assertThat(some.fenced(ACCOUNT).tryAcquire()).isPresent();
        long with = ourThreads();
        some.close();
        Fixture.eventually("the threads of the closed locks end", () -> ourThreads() < with);
        locks.close();
        others.close();
        Fixture.eventually("no thread of a lock is left", () -> ourThreads() == 0);
    }

    static long ourThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(Thread::isAlive)
                .filter(thread -> thread.getName().startsWith("lettuce-")
                        || thread.getName().startsWith("fenceline-lock"))
                .count();
    }
}
