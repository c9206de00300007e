package dev.fenceline.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.DistributedLock;
import dev.fenceline.Exclusion;
import dev.fenceline.FencedLease;
import dev.fenceline.Lease;
import dev.fenceline.LeaseLostException;
import dev.fenceline.LockName;
import dev.fenceline.LockNotAcquiredException;
import dev.fenceline.Locks;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What every lock service promises of work that runs under a lock, and of waits that are interrupted. */
abstract class LockScopesContract extends LockContractFixture {

    @Test
    void workRunsUnderTheLockWhichIsFreeAfterwards() throws InterruptedException {
        Locks one = locks("one");
        Locks two = locks("two");
        for (DistributedLock<? extends Lease> mine : List.of(one.fenced(name), one.efficiency(name))) {
            DistributedLock<? extends Lease> theirs =
                    mine instanceof dev.fenceline.FencedLock ? two.fenced(name) : two.efficiency(name);
            String result = mine.<String, RuntimeException>call(lease -> {
                lease.requireHeld();
                assertThat(theirs.tryAcquire()).as("a second grant").isEmpty();
                return "done";
            });
            assertThat(result).isEqualTo("done");
            assertThat(theirs.tryAcquire()).as("after the work").isPresent();
        }
    }

    @Test
    void workThatThrowsFreesTheLockAndItsExceptionComesOutAsItIs() {
        IOException thrown = new IOException("disk full");
        assertThatThrownBy(() -> locks("one").fenced(name).run(lease -> {
                    throw thrown;
                }))
                .isSameAs(thrown)
                .hasNoSuppressedExceptions();
        assertThat(locks("two").fenced(name).tryAcquire()).isPresent();
    }

    @Test
    void workIsSkippedWhileAnotherHoldsTheLock() throws InterruptedException {
        Locks two = locks("two");
        AtomicInteger runs = new AtomicInteger();
        try (FencedLease held = locks("one").fenced(name).acquire()) {
            assertThat(two.fenced(name).<Integer, RuntimeException>tryCall(lease -> runs.incrementAndGet()))
                    .isEmpty();
            assertThat(two.fenced(name).tryRun(lease -> runs.incrementAndGet())).isFalse();
            held.requireHeld();
        }
        assertThat(runs).hasValue(0);
        assertThat(two.fenced(name).<Integer, RuntimeException>tryCall(lease -> runs.incrementAndGet()))
                .contains(1);
        assertThat(two.fenced(name).tryRun(lease -> runs.incrementAndGet())).isTrue();
    }

    @Test
    void workIsNotBegunWhenTheWaitLimitIsOver() throws InterruptedException {
        FencedLease held = locks("holder").fenced(name).acquire();
        AtomicInteger runs = new AtomicInteger();
        assertThatExceptionOfType(LockNotAcquiredException.class)
                .isThrownBy(() -> locks("waiting")
                        .fenced(name)
                        .runWithin(Duration.ofMillis(100), lease -> runs.incrementAndGet()))
                .withMessageContaining("Lock 'contract:1' not acquired within");
        assertThat(runs).hasValue(0);
        held.requireHeld();
    }

    @Test
    void workThatReturnsAfterItsLeaseWasLostGivesItsResult() throws InterruptedException {
        String result = shortLived("sleeper").fenced(name).<String, InterruptedException>call(lease -> {
            awaitLost(lease, new AtomicInteger());
            return "done";
        });
        assertThat(result).isEqualTo("done");
    }

    @Test
    void aLostLeaseIsSuppressedOntoWhatTheWorkThrowsAndDoesNotTakeItsPlace() {
        IllegalStateException thrown = new IllegalStateException("insufficient funds");
        assertThatThrownBy(() -> shortLived("sleeper").fenced(name).run(lease -> {
                    awaitLost(lease, new AtomicInteger());
                    throw thrown;
                }))
                .isSameAs(thrown)
                .satisfies(e -> assertThat(e.getSuppressed())
                        .singleElement()
                        .isInstanceOfSatisfying(
                                LeaseLostException.class,
                                lost -> assertThat(lost).hasMessageContaining("The lease of 'contract:1'")));
    }

    /** Every method of a lock, or of several, that waits. */
    enum Wait {
        ACQUIRE {
            @Override
            void on(Exclusion<?> lock) throws InterruptedException {
                lock.acquire();
            }
        },
        ACQUIRE_WITHIN {
            @Override
            void on(Exclusion<?> lock) throws InterruptedException {
                lock.acquireWithin(LONG);
            }
        },
        CALL {
            @Override
            void on(Exclusion<?> lock) throws InterruptedException {
                lock.<Boolean, RuntimeException>call(held -> true);
            }
        },
        CALL_WITHIN {
            @Override
            void on(Exclusion<?> lock) throws InterruptedException {
                lock.<Boolean, RuntimeException>callWithin(LONG, held -> true);
            }
        },
        RUN {
            @Override
            void on(Exclusion<?> lock) throws InterruptedException {
                lock.run(held -> {});
            }
        },
        RUN_WITHIN {
            @Override
            void on(Exclusion<?> lock) throws InterruptedException {
                lock.runWithin(LONG, held -> {});
            }
        };

        private static final Duration LONG = Duration.ofSeconds(20);

        abstract void on(Exclusion<?> lock) throws InterruptedException;
    }

    @ParameterizedTest
    @EnumSource
    void everyWaitForALockEndsByAnInterruptAndLeavesNothingLocked(Wait wait) throws Exception {
        FencedLease held = locks("holder").fenced(name).acquire();
        interrupted(wait, locks(patient("waiting")).fenced(name));
        held.close();
        assertFreeSoon(name);
    }

    @ParameterizedTest
    @EnumSource
    void everyWaitForSeveralLocksEndsByAnInterruptAndLeavesNothingLocked(Wait wait) throws Exception {
        LockName first = LockName.of("contract", 0);
        FencedLease held = locks("holder").fenced(name).acquire();
        interrupted(wait, locks(patient("waiting")).fencedAll(name, first));
        // The first one was had, and is given back although the second one is still held.
        assertFreeSoon(first);
        held.close();
        assertFreeSoon(name);
    }

    @Test
    void methodsThatDoNotWaitKeepTheInterruptFlag() throws InterruptedException {
        Locks locks = locks("one");
        Thread.currentThread().interrupt();
        locks.fenced(name).tryAcquire().orElseThrow().close();
        assertThat(locks.fenced(name).tryRun(lease -> lease.requireHeld())).isTrue();
        assertThat(locks.fencedAll(name).tryRun(leases -> leases.requireHeld())).isTrue();
        assertThat(Thread.interrupted()).as("the flag is kept").isTrue();
        locks.fenced(name).run(lease -> Thread.currentThread().interrupt());
        assertThat(Thread.interrupted()).as("the flag of the work is kept").isTrue();
    }

    private void interrupted(Wait wait, Exclusion<?> lock) {
        CountDownLatch flagIsClear = new CountDownLatch(1);
        Waiter waiter = Waiter.start(() -> {
            try {
                wait.on(lock);
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
    }
}
