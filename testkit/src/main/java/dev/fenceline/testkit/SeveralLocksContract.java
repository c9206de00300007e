package dev.fenceline.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.fenceline.FencedLease;
import dev.fenceline.FencedLeases;
import dev.fenceline.FencedLock;
import dev.fenceline.LockName;
import dev.fenceline.LockNotAcquiredException;
import dev.fenceline.Locks;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What every lock service promises of several locks that are taken as one. */
abstract class SeveralLocksContract extends LockFuturesContract {

    private static final LockName A = LockName.of("contract", "a");
    private static final LockName B = LockName.of("contract", "b");

    @Test
    void severalLocksAreHeldTogetherAndFreeTogether() throws InterruptedException {
        Locks one = locks("one");
        Locks two = locks("two");
        try (FencedLeases leases = one.fencedAll(B, A).acquire()) {
            leases.requireHeld();
            assertThat(leases.lease(A).token().lock()).isEqualTo(A);
            assertThat(leases.lease(B).token().lock()).isEqualTo(B);
            assertThat(two.fenced(A).tryAcquire()).isEmpty();
            assertThat(two.fenced(B).tryAcquire()).isEmpty();
            assertThat(two.fencedAll(A, B).tryAcquire()).isEmpty();
        }
        assertThat(two.fencedAll(List.of(A, B)).tryAcquire()).isPresent();
    }

    @Test
    void oneNameTwiceIsRefused() {
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> locks("one").fencedAll(A, B, A))
                .withMessageContaining("Lock 'contract:a' is named twice");
    }

    @Test
    void whenOneCannotBeHadTheOthersAreFreeAgain() throws InterruptedException {
        Locks two = locks("two");
        FencedLease held = locks("one").fenced(B).acquire();
        assertThatExceptionOfType(LockNotAcquiredException.class)
                .isThrownBy(() -> two.fencedAll(A, B).acquireWithin(Duration.ofMillis(100)))
                .withMessageContaining("Lock 'contract:b' not acquired within");
        assertThat(locks("three").fenced(A).tryAcquire()).isPresent();
        held.requireHeld();
    }

    @Test
    void twoCallersWithTheNamesInOppositeOrderNeverWaitForEachOther() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger done = new AtomicInteger();
        Locks one = locks(patient("one"));
        Locks two = locks(patient("two"));
        Waiter.Work there = () -> transfers(one, List.of(A, B), inside, done);
        Waiter.Work back = () -> transfers(two, List.of(B, A), inside, done);
        List<Waiter> workers = List.of(Waiter.start(there), Waiter.start(back));
        for (Waiter worker : workers) {
            worker.outcome(limit());
        }
        assertThat(done).hasValue(30);
    }

    private static void transfers(Locks locks, List<LockName> names, AtomicInteger inside, AtomicInteger done)
            throws InterruptedException {
        for (int i = 0; i < 15; i++) {
            locks.fencedAll(names).run(leases -> {
                assertThat(inside.incrementAndGet()).as("transfers at once").isEqualTo(1);
                inside.decrementAndGet();
                done.incrementAndGet();
            });
        }
    }

    /** The control: what {@code fencedAll} is for. */
    @Test
    void lockByLockTwoCallersInOppositeOrderWaitForEachOther() throws Exception {
        CyclicBarrier bothHoldTheirFirst = new CyclicBarrier(2);
        Locks one = locks("one");
        Locks two = locks("two");
        Waiter there = Waiter.start(() -> oneAfterTheOther(one.fenced(A), one.fenced(B), bothHoldTheirFirst));
        Waiter back = Waiter.start(() -> oneAfterTheOther(two.fenced(B), two.fenced(A), bothHoldTheirFirst));
        there.outcome(limit());
        back.outcome(limit());
    }

    private void oneAfterTheOther(FencedLock first, FencedLock second, CyclicBarrier bothHoldTheirFirst)
            throws InterruptedException {
        try (FencedLease lease = first.acquire()) {
            bothHoldTheirFirst.await(limit().toMillis(), TimeUnit.MILLISECONDS);
            assertThatExceptionOfType(LockNotAcquiredException.class)
                    .isThrownBy(() -> second.acquireWithin(Duration.ofMillis(200)));
            bothHoldTheirFirst.await(limit().toMillis(), TimeUnit.MILLISECONDS);
            lease.requireHeld();
        } catch (BrokenBarrierException | TimeoutException e) {
            throw new AssertionError("the other caller did not come", e);
        }
    }

    @Test
    void aCancelledFutureOfSeveralLocksLeavesNothingLocked() throws InterruptedException {
        FencedLease held = locks("holder").fenced(B).acquire();
        CompletableFuture<FencedLeases> future =
                locks(patient("waiting")).fencedAll(A, B).acquireAsync();
        Locks third = locks("third");
        Polling.until(
                "the first lock is taken",
                limit(),
                () -> third.fenced(A)
                        .tryAcquire()
                        .map(lease -> {
                            lease.close();
                            return false;
                        })
                        .orElse(true));
        future.cancel(false);
        assertFreeSoon(A);
        held.close();
        assertFreeSoon(B);
    }

    @Test
    void aFutureOfSeveralLocksEndsWithAllLeases() {
        Locks locks = locks("one");
        FencedLeases leases = outcome(locks.fencedAll(B, A).acquireAsync());
        leases.requireHeld();
        assertThat(leases.all()).extracting(FencedLease::lock).containsExactly(A, B);
        assertThat(outcome(locks("two").fencedAll(A, B).tryAcquireAsync())).isEmpty();
        assertThat(outcome(leases.closeAsync())).isNull();
        assertThat(outcome(locks.fencedAll(A, B).tryAcquireAsync())).isPresent();
    }
}
