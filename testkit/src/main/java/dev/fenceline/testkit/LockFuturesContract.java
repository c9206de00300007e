package dev.fenceline.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.FencedLock;
import dev.fenceline.FencelineEvent;
import dev.fenceline.FencelineEvent.AcquireOutcome;
import dev.fenceline.Lease;
import dev.fenceline.LockName;
import dev.fenceline.LockNotAcquiredException;
import dev.fenceline.Locks;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/** What every lock service promises of acquiring and releasing without a thread that waits. */
abstract class LockFuturesContract extends LockScopesContract {

    final <T> T outcome(CompletableFuture<T> future) {
        return future.copy()
                .orTimeout(limit().toMillis(), TimeUnit.MILLISECONDS)
                .join();
    }

    @Test
    void aFutureEndsWithTheLeaseWhenTheLockIsReleased() throws InterruptedException {
        FencedLease held = locks("holder").fenced(name).acquire();
        Locks waiting = locks(patient("waiting"));
        CompletableFuture<FencedLease> future = waiting.fenced(name).acquireAsync();
        assertThat(outcome(waiting.fenced(name).tryAcquireAsync())).isEmpty();
        assertThat(future).isNotDone();
        held.close();
        FencedLease lease = outcome(future);
        lease.requireHeld();
        assertThat(lease.token().value()).isGreaterThan(held.token().value());
        assertThat(locks("third").fenced(name).tryAcquire()).isEmpty();
    }

    @Test
    void aFreeLockIsHadAtOnce() {
        FencedLock lock = locks("one").fenced(name);
        try (FencedLease lease = outcome(lock.acquireAsync(Duration.ZERO))) {
            lease.requireHeld();
        }
        Optional<FencedLease> lease = outcome(lock.tryAcquireAsync());
        assertThat(lease).hasValueSatisfying(Lease::requireHeld);
    }

    @Test
    void aFutureFailsWithWhatTheBlockingMethodThrows() throws InterruptedException {
        locks("the-other-application").fenced(name).acquire();
        Locks locks = locks("waiting");
        assertThatThrownBy(() -> outcome(locks.fenced(name).acquireAsync(Duration.ofMillis(100))))
                .isInstanceOf(CompletionException.class)
                .cause()
                .isInstanceOf(LockNotAcquiredException.class)
                .hasMessageContaining("Lock 'contract:1' not acquired within")
                .hasMessageContaining("the-other-application");
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> locks.fenced(name).acquireAsync(Duration.ofMillis(-1)))
                .withMessageContaining("maxWait");
        locks.close();
        assertThatThrownBy(() -> outcome(locks.fenced(name).tryAcquireAsync()))
                .isInstanceOf(CompletionException.class)
                .cause()
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("'contract:1'");
    }

    @Test
    void aCancelledFutureLeavesNothingLocked() throws InterruptedException {
        List<FencelineEvent> events = new CopyOnWriteArrayList<>();
        FencedLease held = locks("holder").fenced(name).acquire();
        FencedLock lock = locks(patient("waiting").listener(events::add)).fenced(name);
        lock.acquireAsync().cancel(false);
        assertThatThrownBy(() -> outcome(lock.acquireAsync().orTimeout(50, TimeUnit.MILLISECONDS)))
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(TimeoutException.class);
        held.close();
        assertFreeSoon(name);
        Polling.until(
                "each wait is told to have ended",
                limit(),
                () -> outcomes(events).size() == 2);
        assertThat(outcomes(events)).containsOnly(AcquireOutcome.INTERRUPTED);
        assertThat(events)
                .filteredOn(FencelineEvent.AcquireStarted.class::isInstance)
                .hasSize(2);
    }

    @Test
    void aGrantThatCrossesACancellationIsReleased() {
        FencedLock lock = locks("one").fenced(name);
        for (int i = 0; i < 30; i++) {
            // The answer is on its way, and comes before or after the cancellation. Once the future has the lease it is
            // ours.
            CompletableFuture<Optional<FencedLease>> future = lock.tryAcquireAsync();
            if (!future.cancel(false)) {
                outcome(future).ifPresent(Lease::close);
            }
            assertFreeSoon(name);
        }
    }

    @Test
    void whatDependsOnAFutureMayBlockWithoutHoldingUpTheLocks() throws InterruptedException {
        FencedLease held = locks("holder").fenced(name).acquire();
        Locks locks = locks(patient("waiting"));
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        CompletableFuture<Void> dependent = locks.fenced(name).acquireAsync().thenAccept(lease -> {
            blocked.countDown();
            await(goOn);
            lease.close();
        });
        held.close();
        await(blocked);
        for (int i = 0; i < 3; i++) {
            try (FencedLease other =
                    outcome(locks.fenced(LockName.of("contract", 2)).acquireAsync())) {
                other.renew();
            }
        }
        goOn.countDown();
        assertThat(outcome(dependent)).isNull();
    }

    @Test
    void futuresThatWaitHoldNoThreads() throws InterruptedException {
        FencedLease held = locks("holder").fenced(name).acquire();
        FencedLock lock = locks(patient("waiting")).fenced(name);
        assertThat(outcome(lock.tryAcquireAsync()))
                .as("threads that are there for all")
                .isEmpty();
        int before = ManagementFactory.getThreadMXBean().getThreadCount();
        List<CompletableFuture<FencedLease>> futures = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            futures.add(lock.acquireAsync());
        }
        assertThat(ManagementFactory.getThreadMXBean().getThreadCount() - before)
                .as("threads for 100 waits")
                .isLessThan(20);
        futures.forEach(future -> future.cancel(false));
        held.close();
        assertFreeSoon(name);
    }

    @Test
    void closingTheLocksEndsFuturesThatWait() throws InterruptedException {
        locks("holder").fenced(name).acquire();
        Locks closing = locks(patient("closing"));
        CompletableFuture<FencedLease> waiting = closing.fenced(name).acquireAsync();
        closing.close();
        assertThatThrownBy(() -> outcome(waiting))
                .isInstanceOf(CompletionException.class)
                .cause()
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("'contract:1'");
    }

    @Test
    void anAsynchronousReleaseFreesTheLockAndIsQuietTheSecondTime() throws InterruptedException {
        FencedLease lease = locks("one").fenced(name).acquire();
        CompletableFuture<Void> closed = lease.closeAsync();
        assertThat(lease.isHeld()).as("over at once").isFalse();
        assertThat(outcome(closed)).isNull();
        assertThat(locks("two").fenced(name).tryAcquire()).isPresent();
        assertThat(outcome(lease.closeAsync())).isNull();
        lease.close();
        assertThat(locks("three").fenced(name).tryAcquire())
                .as("the next grant is not freed")
                .isEmpty();
    }

    private static List<AcquireOutcome> outcomes(List<FencelineEvent> events) {
        return events.stream()
                .filter(FencelineEvent.AcquireEnded.class::isInstance)
                .map(event -> ((FencelineEvent.AcquireEnded) event).outcome())
                .toList();
    }

    private void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(limit().toMillis(), TimeUnit.MILLISECONDS))
                    .as("the other side came")
                    .isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
