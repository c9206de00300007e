package dev.fenceline.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.DistributedLock;
import dev.fenceline.FencedLease;
import dev.fenceline.FencedLock;
import dev.fenceline.FencelineEvent;
import dev.fenceline.FencingToken;
import dev.fenceline.HolderProcess;
import dev.fenceline.Lease;
import dev.fenceline.LeaseLostException;
import dev.fenceline.LockName;
import dev.fenceline.LockNotAcquiredException;
import dev.fenceline.Locks;
import dev.fenceline.TokenRejectedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What every lock service promises, whatever it runs on. A backend extends this and supplies {@link #connect}; its own quirks
 * are tests of its own.
 *
 * <p>Every test has keys under a prefix of its own, so that the tests share one server and leave nothing to clear up.
 */
@Timeout(60) // a backend that hangs fails, and the build goes on
public abstract class LockContract extends EfficiencyLockContract {

    /** For subclasses. */
    protected LockContract() {}

    @Test
    void aGrantExcludesEveryOther() throws InterruptedException {
        Locks one = locks("one");
        Locks two = locks("two");
        FencedLease lease = one.fenced(name).acquire();
        assertThat(lease.isHeld()).isTrue();
        assertThat(lease.lock()).isEqualTo(name);
        assertThat(two.fenced(name).tryAcquire()).isEmpty();
        assertThat(one.fenced(name).tryAcquire()).as("not reentrant").isEmpty();
        assertThat(two.fenced(LockName.of("contract", 2)).tryAcquire())
                .as("another name")
                .isPresent();
    }

    @Test
    void underContentionNoTwoHoldersOverlap() throws Exception {
        List<Locks> processes = List.of(locks(patient("one")), locks(patient("two")));
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger done = new AtomicInteger();
        List<Waiter> workers = new ArrayList<>();
        for (int worker = 0; worker < 4; worker++) {
            FencedLock lock = processes.get(worker % 2).fenced(name);
            workers.add(Waiter.start(() -> {
                for (int i = 0; i < 10; i++) {
                    try (FencedLease lease = lock.acquire()) {
                        assertThat(inside.incrementAndGet())
                                .as("holders of %s", lease.token())
                                .isEqualTo(1);
                        assertThat(lock.tryAcquire()).as("a second grant").isEmpty();
                        inside.decrementAndGet();
                        done.incrementAndGet();
                    }
                }
            }));
        }
        for (Waiter worker : workers) {
            worker.outcome(limit());
        }
        assertThat(done).hasValue(40);
    }

    @Test
    void asFencedAndAsEfficiencyLockOneNameIsTwoLocks() throws InterruptedException {
        Locks one = locks("one");
        Locks two = locks("two");
        one.fenced(name).acquire();
        assertThat(two.efficiency(name).tryAcquire()).isPresent();
        assertThat(one.efficiency(name).tryAcquire()).isEmpty();
        assertThat(two.fenced(name).tryAcquire()).isEmpty();
    }

    @Test
    void tokensRiseFromGrantToGrantAndHoldersDiffer() throws InterruptedException {
        List<Locks> processes = List.of(locks("one"), locks("two"));
        Set<UUID> holders = new HashSet<>();
        long newest = 0;
        for (int i = 0; i < 50; i++) {
            try (FencedLease lease = processes.get(i % 2).fenced(name).acquire()) {
                FencingToken token = lease.token();
                assertThat(token.lock()).isEqualTo(name);
                assertThat(token.value()).isGreaterThan(newest);
                assertThat(holders.add(token.holder())).as("a fresh holder").isTrue();
                newest = token.value();
            }
        }
    }

    @Test
    void aReleaseFreesTheLockAtOnce() throws InterruptedException {
        Locks one = locks("one");
        Locks two = locks("two");
        for (DistributedLock<? extends Lease> mine : List.of(one.fenced(name), one.efficiency(name))) {
            Lease lease = mine.acquire();
            lease.close();
            assertThat(lease.isHeld()).isFalse();
            assertThat(lease.remaining()).isZero();
            assertThatExceptionOfType(LeaseLostException.class)
                    .isThrownBy(lease::requireHeld)
                    .withMessageContaining("The lease of '" + name + "'")
                    .withMessageContaining("this process released it")
                    .satisfies(e -> assertThat(e.reason()).isEqualTo(LeaseLostException.Reason.CLOSED));
        }
        assertThat(two.fenced(name).tryAcquire()).isPresent();
        assertThat(two.efficiency(name).tryAcquire()).isPresent();
    }

    @Test
    void closingALeaseTwiceIsQuietAndDoesNotFreeTheNextGrant() throws InterruptedException {
        Locks one = locks("one");
        FencedLease first = one.fenced(name).acquire();
        first.close();
        FencedLease second = one.fenced(name).acquire();
        first.close();
        second.requireHeld();
        assertThat(locks("two").fenced(name).tryAcquire()).isEmpty();
    }

    @Test
    void aHeldLeaseIsRenewedAndOutlivesItsLeaseTime() throws InterruptedException {
        Duration leaseTime = Duration.ofSeconds(1);
        CountDownLatch renewals = new CountDownLatch(4);
        Locks one = locks(options("one").lease(leaseTime).listener(event -> {
            if (event instanceof FencelineEvent.LeaseRenewed) {
                renewals.countDown();
            }
        }));
        FencedLock competitor = locks("two").fenced(name);
        try (FencedLease lease = one.fenced(name).acquire()) {
            assertThat(lease.remaining()).isPositive().isLessThanOrEqualTo(leaseTime);
            long start = System.nanoTime();
            Polling.until("two lease times pass", limit(), () -> {
                assertThat(competitor.tryAcquire()).as("a second grant").isEmpty();
                return System.nanoTime() - start > 2 * leaseTime.toNanos();
            });
            lease.requireHeld();
            assertThat(renewals.await(limit().toMillis(), TimeUnit.MILLISECONDS))
                    .as("renewals are told to the listener")
                    .isTrue();
        }
    }

    @Test
    void aRenewalByHandGivesAFullLeaseFromNow() throws InterruptedException {
        Duration leaseTime = Duration.ofSeconds(30);
        Locks one = locks(options("one").lease(leaseTime));
        try (FencedLease lease = one.fenced(name).acquire()) {
            Polling.until(
                    "a part of the lease passes",
                    limit(),
                    () -> lease.remaining().compareTo(leaseTime.minusMillis(500)) < 0);
            Duration before = lease.remaining();
            lease.renew();
            assertThat(lease.remaining()).isGreaterThan(before).isLessThanOrEqualTo(leaseTime);
        }
    }

    @Test
    void closingTheLocksFreesWhatWasHeldAndWakesWaiters() throws Exception {
        Locks holder = locks("holder");
        Locks closing = locks(patient("closing"));
        LockName wanted = LockName.of("contract", "wanted");
        holder.fenced(wanted).acquire();
        FencedLease held = closing.fenced(name).acquire();
        Waiter waiter = Waiter.start(() -> closing.fenced(wanted).acquire());
        waiter.awaitWaiting(limit());

        closing.close();

        assertThatExceptionOfType(BackendUnavailableException.class)
                .isThrownBy(() -> waiter.outcome(limit()))
                .withMessageContaining("'contract:wanted'");
        assertThat(held.isHeld()).isFalse();
        assertThat(holder.fenced(name).tryAcquire()).as("what was held").isPresent();
        assertThatExceptionOfType(BackendUnavailableException.class)
                .isThrownBy(() -> closing.fenced(name).tryAcquire())
                .withMessageContaining("'contract:1'");
        closing.close();
    }

    @Test
    void anInterruptedWaitLeavesNothingLocked() throws Exception {
        FencedLease held = locks("holder").fenced(name).acquire();
        FencedLock waiting = locks(patient("waiting")).fenced(name);
        CountDownLatch flagIsClear = new CountDownLatch(1);
        Waiter waiter = Waiter.start(() -> {
            try {
                waiting.acquire();
            } catch (InterruptedException e) {
                if (!Thread.currentThread().isInterrupted()) {
                    flagIsClear.countDown();
                }
                throw e;
            }
        });
        waiter.awaitWaiting(limit());
        waiter.interrupt();

        assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> waiter.outcome(limit()));
        assertThat(flagIsClear.getCount()).as("the flag is clear").isZero();
        held.close();
        // Far less than a lease: a grant that the interrupted waiter left behind would last ten seconds.
        assertThat(locks("next").fenced(name).acquireWithin(Duration.ofSeconds(3)))
                .isNotNull();
    }

    @Test
    void aWaitLimitIsKeptAndTheErrorNamesTheHolder() throws InterruptedException {
        locks("the-other-application").fenced(name).acquire();
        FencedLock wanted = locks("waiting").fenced(name);
        Duration maxWait = Duration.ofMillis(300);
        long start = System.nanoTime();
        assertThatExceptionOfType(LockNotAcquiredException.class)
                .isThrownBy(() -> wanted.acquireWithin(maxWait))
                .withMessageContaining("Lock 'contract:1' not acquired within")
                .withMessageContaining("the-other-application")
                .withMessageContaining("pid " + ProcessHandle.current().pid())
                .satisfies(e -> {
                    HolderProcess holder = e.holder().orElseThrow();
                    assertThat(holder.application()).isEqualTo("the-other-application");
                    assertThat(holder.pid()).isEqualTo(ProcessHandle.current().pid());
                    assertThat(holder.host()).isNotBlank();
                    assertThat(e).hasMessageContaining("host " + holder.host());
                    assertThat(e.lock()).isEqualTo(name);
                });
        Duration waited = Duration.ofNanos(System.nanoTime() - start);
        assertThat(waited).isBetween(maxWait, maxWait.plusSeconds(2));
    }

    @Test
    void tryAcquireAndAZeroWaitDoNotWait() throws InterruptedException {
        locks("holder").fenced(name).acquire();
        FencedLock wanted = locks(options("trying").maxWait(limit())).fenced(name);
        long start = System.nanoTime();
        assertThat(wanted.tryAcquire()).isEmpty();
        assertThatExceptionOfType(LockNotAcquiredException.class)
                .isThrownBy(() -> wanted.acquireWithin(Duration.ZERO))
                .withMessageContaining("not acquired within");
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(2));
    }

    @Test
    void aWaiterGetsTheLockWhenItIsReleased() throws Exception {
        FencedLease held = locks("holder").fenced(name).acquire();
        Locks waiting = locks(patient("waiting"));
        Waiter waiter = Waiter.start(() -> waiting.fenced(name).acquire().requireHeld());
        waiter.awaitWaiting(limit());
        held.close();
        waiter.outcome(limit());
    }

    /** Names that some encodings of keys would mix up or cut off. */
    static Stream<LockName> namesThatLookLikeSyntax() {
        return Stream.of(
                LockName.of("contract", "{a}{b}"),
                LockName.of("contract", "a{"),
                LockName.of("contract", "a:b", "c"),
                LockName.of("contract", "a", "b:c"),
                LockName.of("contract", ""),
                LockName.of("contract", "100 %", "a|b", "*?[x]"),
                LockName.of("contract", "grün", "鍵", "\uD83E\uDD8A"),
                LockName.of("contract", "x".repeat(LockName.MAX_BYTES - "contract:".length())));
    }

    @ParameterizedTest
    @MethodSource("namesThatLookLikeSyntax")
    void everyNameIsALockOfItsOwn(LockName odd) throws InterruptedException {
        Locks one = locks("one");
        Locks two = locks("two");
        FencedLease lease = one.fenced(odd).acquire();
        assertThat(lease.token().lock()).isEqualTo(odd);
        assertThat(two.fenced(odd).tryAcquire()).isEmpty();
        namesThatLookLikeSyntax()
                .filter(other -> !other.equals(odd))
                .forEach(other -> assertThat(two.fenced(other).tryAcquire())
                        .as("'%s' beside '%s'", other, odd)
                        .isPresent());
        lease.close();
        assertThat(two.fenced(odd).tryAcquire()).isPresent();
    }

    @Test
    void anExpiredLeaseIsLostOnceAndItsTokenStillAnswers() throws InterruptedException {
        FencedLease lease = shortLived("sleeper").fenced(name).acquire();
        FencingToken token = lease.token();
        AtomicInteger told = new AtomicInteger();
        LeaseLostException lost = awaitLost(lease, told);

        assertThat(lost.lock()).isEqualTo(name);
        assertThat(lease.isHeld()).isFalse();
        assertThat(lease.remaining()).isZero();
        assertThat(lease.token()).isEqualTo(token);
        assertThatExceptionOfType(LeaseLostException.class)
                .isThrownBy(lease::requireHeld)
                .withMessageContaining("The lease of 'contract:1'")
                .satisfies(e -> assertThat(e.reason()).isEqualTo(lost.reason()));
        assertThatExceptionOfType(LeaseLostException.class)
                .isThrownBy(lease::renew)
                .withMessageContaining("The lease of 'contract:1'");
        AtomicInteger late = new AtomicInteger();
        lease.onLost(e -> late.incrementAndGet());
        Polling.until("a late callback is told at once", limit(), () -> late.get() == 1);
        // While another lease runs its whole course, a second report would come.
        awaitLost(shortLived("witness").fenced(LockName.of("contract", 2)).acquire(), new AtomicInteger());
        lease.close();
        assertThat(told).as("calls of the callback").hasValue(1);
    }

    @Test
    void aClosedLeaseIsNotLost() throws InterruptedException {
        FencedLease lease = shortLived("sleeper").fenced(name).acquire();
        AtomicInteger told = new AtomicInteger();
        lease.onLost(e -> told.incrementAndGet());
        lease.close();
        // The next lease of the same kind runs its whole course; by then the first one would have been reported.
        awaitLost(shortLived("witness").fenced(name).acquireWithin(limit()), new AtomicInteger());
        assertThat(told).as("calls of the callback").hasValue(0);
    }

    @Test
    void renewingOrClosingAnExpiredLeaseLeavesTheNewGrantAlone() throws InterruptedException {
        FencedLease expired = shortLived("sleeper").fenced(name).acquire();
        awaitLost(expired, new AtomicInteger());
        FencedLease newer = locks("newer").fenced(name).acquireWithin(limit());
        assertThat(newer.token().value()).isGreaterThan(expired.token().value());

        assertThatExceptionOfType(LeaseLostException.class).isThrownBy(expired::renew);
        expired.close();

        newer.requireHeld();
        newer.renew();
        assertThat(locks("third").fenced(name).tryAcquire()).isEmpty();
    }

    @Test
    void aRaisedFloorIsPassedByTheNextTokenOfThisLockAlone() throws InterruptedException {
        Locks locks = locks("one");
        FencedLease first = locks.fenced(name).acquire();
        first.close();
        long ahead = TimeUnit.HOURS.toMicros(1);
        FencingToken mark = new FencingToken(name, first.token().value() + ahead, UUID.randomUUID());
        locks.fenced(name).raiseFloor(mark);
        try (FencedLease next = locks.fenced(name).acquire()) {
            assertThat(next.token().value()).isGreaterThan(mark.value());
        }
        try (FencedLease other = locks.fenced(LockName.of("contract", 2)).acquire()) {
            assertThat(other.token().value()).isLessThan(mark.value());
        }
    }

    @Test
    void aFloorOfAnotherLockIsRefused() {
        Locks locks = locks("one");
        FencingToken foreign = new FencingToken(LockName.of("contract", 2), 7, UUID.randomUUID());
        assertThatExceptionOfType(TokenRejectedException.class)
                .isThrownBy(() -> locks.fenced(name).raiseFloor(foreign))
                .withMessageContaining("it belongs to another lock")
                .satisfies(e -> assertThat(e.reason()).isEqualTo(TokenRejectedException.Reason.OTHER_LOCK));
    }
}
