package dev.fenceline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.LeaseLostException.Reason;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** Several locks as one: their order, their common limit, and what is given back when one of them cannot be had. */
class FencedLocksTest {

    private static final LockName A = LockName.of("account", "a");
    private static final LockName B = LockName.of("account", "b");
    private static final LockName C = LockName.of("account", "c");
    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final List<LockName> log = new CopyOnWriteArrayList<>();
    private final LockInMemory a = new LockInMemory(A, log);
    private final LockInMemory b = new LockInMemory(B, log);
    private final LockInMemory c = new LockInMemory(C, log);
    private final FencedLocks locks = FencedLocks.of(List.of(b, c, a), LIMIT);

    @Test
    void locksAreTakenInTheOrderOfTheirNamesAndReleasedInTheReverseOne() throws InterruptedException {
        assertThat(locks.names()).containsExactly(A, B, C);
        try (FencedLeases leases = locks.acquire()) {
            assertThat(leases.all()).extracting(Lease::lock).containsExactly(A, B, C);
            assertThat(leases.lease(B)).isSameAs(b.newest());
            assertThat(log).containsExactly(A, B, C);
            log.clear();
        }
        assertThat(log).containsExactly(C, B, A);
    }

    @Test
    void asynchronouslyTheOrderIsTheSame() {
        FencedLeases leases =
                locks.acquireAsync().orTimeout(10, TimeUnit.SECONDS).join();
        assertThat(log).containsExactly(A, B, C);
        log.clear();
        leases.closeAsync().orTimeout(10, TimeUnit.SECONDS).join();
        assertThat(log).containsExactly(C, B, A);
        assertThat(locks.tryAcquireAsync().orTimeout(10, TimeUnit.SECONDS).join())
                .hasValueSatisfying(again -> assertThat(again.isHeld()).isTrue());
    }

    @Test
    void aMarkRaisesTheFloorOfItsOwnLockAlone() {
        FencingToken mark = new FencingToken(B, 7, UUID.randomUUID());
        locks.raiseFloor(mark);
        assertThat(b.floors()).containsExactly(mark);
        assertThat(a.floors()).isEmpty();
        assertThat(c.floors()).isEmpty();

        FencingToken foreign = new FencingToken(LockName.of("account", "d"), 7, UUID.randomUUID());
        assertThatThrownBy(() -> locks.raiseFloor(foreign))
                .isInstanceOf(TokenRejectedException.class)
                .hasMessageContaining("it belongs to another lock");
    }

    @Test
    void oneNameTwiceIsRefused() {
        assertThatThrownBy(() -> FencedLocks.of(List.of(a, b, new LockInMemory(A)), LIMIT))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Lock 'account:a' is named twice")
                .hasMessageContaining("from an account to itself");
    }

    @Test
    void noNameIsRefused() {
        assertThatThrownBy(() -> FencedLocks.of(List.of(), LIMIT))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at least one lock");
    }

    @Test
    void aLimitOutOfRangeIsRefusedBeforeAnythingIsTaken() {
        for (Duration limit : List.of(Duration.ofSeconds(-1), Duration.ofDays(367))) {
            assertThatThrownBy(() -> locks.acquireWithin(limit))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("maxWait of " + Durations.text(limit))
                    .hasMessageContaining("366 days");
            assertThatThrownBy(() -> locks.acquireAsync(limit))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("366 days");
        }
        assertThat(log).isEmpty();
    }

    @Test
    void whenALaterOneIsHeldTheEarlierOnesAreReleasedBeforeItIsTold() {
        c.take();
        assertThat(locks.tryAcquire()).isEmpty();
        assertThat(log).containsExactly(A, B, B, A);
        log.clear();
        assertThatThrownBy(locks::acquire)
                .isInstanceOf(LockNotAcquiredException.class)
                .hasMessageContaining("Lock 'account:c' not acquired");
        assertThat(log).containsExactly(A, B, B, A);
        log.clear();
        assertThat(locks.tryAcquireAsync().orTimeout(10, TimeUnit.SECONDS).join())
                .isEmpty();
        assertThat(log).containsExactly(A, B, B, A);
    }

    @Test
    void whenALaterOneFailsTheEarlierOnesAreReleasedBeforeItIsTold() {
        BackendUnavailableException down = new BackendUnavailableException("down", null);
        c.failWith(down);
        assertThatThrownBy(locks::tryAcquire).isSameAs(down);
        assertThat(log).containsExactly(A, B, B, A);
        log.clear();
        assertThatThrownBy(locks::acquire).isSameAs(down);
        assertThat(log).containsExactly(A, B, B, A);
        log.clear();
        assertThatThrownBy(() ->
                        locks.acquireAsync().orTimeout(10, TimeUnit.SECONDS).join())
                .isInstanceOf(CompletionException.class)
                .hasCause(down);
        assertThat(log).containsExactly(A, B, B, A);
    }

    @Test
    void theLimitIsForAllOfThemTogether() throws InterruptedException {
        locks.acquireWithin(Duration.ofSeconds(5)).close();
        locks.acquireAsync(Duration.ofSeconds(5))
                .orTimeout(10, TimeUnit.SECONDS)
                .join();
        for (int i = 0; i < 2; i++) {
            Duration first = a.waits().get(i);
            Duration second = b.waits().get(i);
            assertThat(first).isLessThanOrEqualTo(Duration.ofSeconds(5));
            assertThat(second).isLessThan(first);
            assertThat(c.waits().get(i)).isLessThan(second).isGreaterThanOrEqualTo(Duration.ZERO);
        }
    }

    @Test
    void cancellingGivesUpTheStepUnderWayAndReleasesWhatWasTaken() {
        CompletableFuture<FencedLease> held = c.hold();
        CompletableFuture<FencedLeases> acquiring = locks.acquireAsync();
        awaitTrue("the third lock is asked for", () -> !c.waits().isEmpty());
        acquiring.cancel(false);
        awaitTrue("the step is given up", held::isCancelled);
        awaitTrue("what was taken is released", () -> a.granted().stream().noneMatch(Lease::isHeld));
        assertThat(b.granted()).noneMatch(Lease::isHeld);
        assertThatThrownBy(acquiring::join).isInstanceOf(CancellationException.class);
    }

    @Test
    void aGrantThatCrossesACancellationIsReleased() {
        FencedLocks two = FencedLocks.of(List.of(a, c), LIMIT);
        CompletableFuture<FencedLease> held = c.hold();
        CompletableFuture<FencedLeases> acquiring = two.acquireAsync();
        awaitTrue("the second lock is asked for", () -> !c.waits().isEmpty());
        // Between the grant and its delivery: a stage of the grant itself cancels.
        var unused = held.thenAccept(lease -> acquiring.cancel(false));
        c.take();
        held.complete(c.newest());
        awaitTrue("both are released", () -> !a.newest().isHeld() && !c.newest().isHeld());
        assertThat(acquiring).isCancelled();
    }

    @Test
    void oneLostLeaseIsALossOfTheWhole() throws InterruptedException {
        FencedLeases leases = locks.acquire();
        assertThat(leases.isHeld()).isTrue();
        leases.requireHeld();
        assertThat(leases.remaining()).isEqualTo(Duration.ofSeconds(1));
        b.newest().lose(Reason.REFUSED);
        assertThat(leases.isHeld()).isFalse();
        assertThat(leases.remaining()).isZero();
        assertThatThrownBy(leases::requireHeld)
                .isInstanceOf(LeaseLostException.class)
                .hasMessageContaining("The lease of 'account:b'");
        assertThat(leases.lease(A).isHeld()).isTrue();
    }

    @Test
    void aNameThatWasNotAcquiredHasNoLease() throws InterruptedException {
        FencedLeases leases = FencedLocks.of(List.of(b, a), LIMIT).acquire();
        assertThatThrownBy(() -> leases.lease(C))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("No lease of 'account:c' here; acquired were [account:a, account:b].");
    }

    @Test
    void workRunsUnderAllOfThem() throws InterruptedException {
        assertThat(locks.<Integer, RuntimeException>call(leases -> {
                    leases.requireHeld();
                    return leases.all().size();
                }))
                .isEqualTo(3);
        assertThat(a.newest().isHeld()).isFalse();
    }

    @Test
    void anInterruptedThreadTakesNothing() {
        Thread.currentThread().interrupt();
        assertThatThrownBy(locks::acquire)
                .isInstanceOf(InterruptedException.class)
                .hasMessageContaining("account:a");
        assertThat(Thread.interrupted()).as("the flag is clear").isFalse();
        assertThat(log).isEmpty();
    }

    private static void awaitTrue(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as(what).isLessThan(end);
            Thread.onSpinWait();
        }
    }
}
