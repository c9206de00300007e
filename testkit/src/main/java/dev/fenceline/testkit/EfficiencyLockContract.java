package dev.fenceline.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.EfficiencyLock;
import dev.fenceline.Lease;
import dev.fenceline.Locks;
import dev.fenceline.WhenUnavailable;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What every lock service promises of jobs that several instances start at about the same time. */
abstract class EfficiencyLockContract extends SeveralLocksContract {

    private static final Duration AT_LEAST = Duration.ofMillis(700);

    @Test
    void aJobOfInstancesWhoseTimersDifferRunsOnceIfItIsHeldAtLeastThatLong() {
        AtomicInteger runs = new AtomicInteger();
        Locks one = locks("one");
        EfficiencyLock late = locks("two").efficiency(name).holdAtLeast(AT_LEAST);
        long start = System.nanoTime();
        assertThat(one.efficiency(name).holdAtLeast(AT_LEAST).tryRun(lease -> runs.incrementAndGet()))
                .isTrue();
        assertThat(late.tryRun(lease -> runs.incrementAndGet())).isFalse();
        assertThat(runs).hasValue(1);
        assertThat(one.efficiency(name).tryAcquire()).as("not reentrant").isEmpty();

        Polling.until("the next round may begin", limit(), () -> late.tryRun(lease -> runs.incrementAndGet()));
        Duration held = Duration.ofNanos(System.nanoTime() - start);
        // The lease is ten seconds: it is the least time that frees the lock.
        assertThat(held).isBetween(AT_LEAST, Duration.ofSeconds(5));
    }

    /** The control: what {@code holdAtLeast} is for. */
    @Test
    void withoutALeastTimeAShortJobRunsOnceForEachInstance() {
        AtomicInteger runs = new AtomicInteger();
        assertThat(locks("one").efficiency(name).tryRun(lease -> runs.incrementAndGet()))
                .isTrue();
        assertThat(locks("two").efficiency(name).tryRun(lease -> runs.incrementAndGet()))
                .isTrue();
        assertThat(runs).hasValue(2);
    }

    @Test
    void aJobThatTakesLongerThanTheLeastTimeFreesTheLockAtOnce() {
        EfficiencyLock lock = locks("one").efficiency(name).holdAtLeast(Duration.ofMillis(20));
        assertThat(lock.tryRun(lease -> {
                    long start = System.nanoTime();
                    Polling.until("the least time is over", limit(), () -> System.nanoTime() - start > 30_000_000);
                }))
                .isTrue();
        assertThat(locks("two").efficiency(name).tryAcquire()).isPresent();
    }

    @Test
    void theLeastTimeOutlivesTheLocksOfItsHolder() throws InterruptedException {
        Locks one = locks("one");
        Lease lease = one.efficiency(name).holdAtLeast(Duration.ofSeconds(60)).acquire();
        one.close();
        assertThat(lease.isHeld()).isFalse();
        assertThat(locks("two").efficiency(name).tryAcquire()).isEmpty();
    }

    @Test
    void aLeastTimeOutOfRangeIsRefused() {
        EfficiencyLock lock = locks("one").efficiency(name);
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> lock.holdAtLeast(Duration.ofMillis(-1)))
                .withMessageContaining("holdAtLeast")
                .withMessageContaining("'contract:1'");
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> lock.holdAtLeast(Duration.ofDays(2)))
                .withMessageContaining("holdAtLeast");
    }

    @ParameterizedTest
    @EnumSource
    void aJobRunsWithALeaseAndIsSkippedWhileAnotherDoesIt(WhenUnavailable choice) throws InterruptedException {
        Locks one = locks("one");
        Locks two = locks("two");
        assertThat(one.efficiency(name).whenUnavailable(choice).<Boolean, RuntimeException>tryCall(lease -> {
                    assertThat(two.efficiency(name).whenUnavailable(choice).<RuntimeException>tryRun(other -> {
                                throw new AssertionError("must not run");
                            }))
                            .isFalse();
                    return lease.map(Lease::isHeld).orElse(false);
                }))
                .isEqualTo(Optional.of(true));
        assertThat(two.efficiency(name).whenUnavailable(choice).tryRun(lease -> {}))
                .isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void closedLocksAreAnErrorWhateverWasChosenForAnOutage(WhenUnavailable choice) {
        Locks locks = locks("one");
        locks.close();
        assertThatExceptionOfType(BackendUnavailableException.class)
                .isThrownBy(() -> locks.efficiency(name).whenUnavailable(choice).<RuntimeException>tryRun(lease -> {
                    throw new AssertionError("must not run");
                }))
                .withMessageContaining("'contract:1'");
    }
}
