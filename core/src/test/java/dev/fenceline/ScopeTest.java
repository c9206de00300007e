package dev.fenceline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.LeaseLostException.Reason;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What comes out of work under a lock when the work, the lease or the release goes wrong. */
class ScopeTest {

    private final LockInMemory lock = new LockInMemory(LockName.of("account", 42));

    @Test
    void theResultComesOutAndTheLockIsReleased() throws InterruptedException {
        assertThat(lock.<Boolean, RuntimeException>call(Lease::isHeld)).isTrue();
        assertThat(lock.<Boolean, RuntimeException>callWithin(Duration.ofSeconds(1), Lease::isHeld))
                .isTrue();
        assertThat(lock.<Boolean, RuntimeException>tryCall(Lease::isHeld)).contains(true);
        assertThat(lock.granted()).hasSize(3).noneMatch(Lease::isHeld);
    }

    @Test
    void workOfThatNothingIsLeftRunsToo() throws InterruptedException {
        lock.run(lease -> lease.requireHeld());
        lock.runWithin(Duration.ofSeconds(1), lease -> lease.requireHeld());
        assertThat(lock.tryRun(lease -> lease.requireHeld())).isTrue();
        assertThat(lock.granted()).hasSize(3).noneMatch(Lease::isHeld);
    }

    @Test
    void workIsSkippedWhileSomebodyElseHoldsTheLock() {
        lock.take();
        assertThat(lock.<String, RuntimeException>tryCall(lease -> {
                    throw new AssertionError("must not run");
                }))
                .isEmpty();
        assertThat(lock.<RuntimeException>tryRun(lease -> {
                    throw new AssertionError("must not run");
                }))
                .isFalse();
    }

    @Test
    void workIsNotBegunWhenTheLockCannotBeHad() {
        lock.take();
        assertThatThrownBy(() -> lock.run(lease -> {
                    throw new AssertionError("must not run");
                }))
                .isInstanceOf(LockNotAcquiredException.class)
                .hasMessageContaining("Lock 'account:42' not acquired within");
    }

    @Test
    void aCheckedExceptionComesOutAsItIs() {
        IOException thrown = new IOException("disk full");
        assertThatThrownBy(() -> lock.run(lease -> {
                    throw thrown;
                }))
                .isSameAs(thrown)
                .hasNoSuppressedExceptions();
        assertThat(lock.granted()).hasSize(1).noneMatch(Lease::isHeld);
    }

    @Test
    void aLeaseLostMeanwhileIsSuppressedOntoWhatTheWorkThrows() {
        IllegalStateException thrown = new IllegalStateException("insufficient funds");
        assertThatThrownBy(() -> lock.run(lease -> {
                    lock.newest().lose(Reason.DEADLINE_PASSED);
                    throw thrown;
                }))
                .isSameAs(thrown)
                .satisfies(e -> assertThat(e.getSuppressed())
                        .singleElement()
                        .isInstanceOfSatisfying(LeaseLostException.class, lost -> {
                            assertThat(lost.reason()).isEqualTo(Reason.DEADLINE_PASSED);
                            assertThat(lost).hasMessageContaining("The lease of 'account:42'");
                        }));
    }

    @Test
    void aReleaseThatThrowsIsSuppressedOntoWhatTheWorkThrows() {
        AssertionError thrown = new AssertionError("the work's own error");
        assertThatThrownBy(() -> lock.run(lease -> {
                    lock.newest().throwAtClose(new IllegalStateException("broken release"));
                    throw thrown;
                }))
                .isSameAs(thrown)
                .satisfies(e -> assertThat(e.getSuppressed())
                        .singleElement()
                        .isInstanceOf(IllegalStateException.class)
                        .extracting(Throwable::getMessage)
                        .isEqualTo("broken release"));
    }

    @Test
    void aLossThatTheWorkReportsItselfIsNotToldTwice() {
        assertThatThrownBy(() -> lock.run(lease -> {
                    lock.newest().lose(Reason.REFUSED);
                    lease.requireHeld();
                }))
                .isInstanceOf(LeaseLostException.class)
                .hasMessageContaining("the lock server no longer knows it")
                .hasNoSuppressedExceptions();
    }

    @Test
    void aLeaseThatTheWorkClosedItselfIsNoLoss() {
        assertThatThrownBy(() -> lock.run(lease -> {
                    lease.close();
                    throw new IOException("late");
                }))
                .isInstanceOf(IOException.class)
                .hasMessage("late")
                .hasNoSuppressedExceptions();
    }

    @Test
    void workThatReturnedHasHappenedAlsoAfterALostLease() throws InterruptedException {
        assertThat(lock.<String, RuntimeException>call(lease -> {
                    lock.newest().lose(Reason.SUSPENDED);
                    return "done";
                }))
                .isEqualTo("done");
        assertThat(lock.newest().closings()).isEqualTo(1);
    }

    @Test
    void anInterruptBeforeTheGrantBeginsNothingAndOneInTheWorkIsLeftToIt() throws InterruptedException {
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> lock.run(lease -> {
                    throw new AssertionError("must not run");
                }))
                .isInstanceOf(InterruptedException.class)
                .hasMessageContaining("'account:42'");
        assertThat(Thread.interrupted()).as("the flag is clear").isFalse();

        lock.run(lease -> Thread.currentThread().interrupt());
        assertThat(Thread.interrupted()).as("the flag is kept").isTrue();
    }

    @Test
    @SuppressWarnings("NullAway") // what a caller without null checks does
    void workThatReturnsNullWhereItMayBeSkippedIsToldWhatToUse() {
        assertThatThrownBy(() -> lock.<Optional<String>, RuntimeException>tryCall(lease -> null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("The work ran and returned null; use tryRun without a result.");
        assertThat(lock.granted()).hasSize(1).noneMatch(Lease::isHeld);
    }
}
