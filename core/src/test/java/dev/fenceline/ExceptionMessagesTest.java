package dev.fenceline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What was refused, on which resource, which values were compared, what to do now. */
class ExceptionMessagesTest {

    private static final LockName ACCOUNT = LockName.of("account", 42);
    private static final FencingToken OLD = new FencingToken(ACCOUNT, 1_764_429_000_000_000L, new UUID(0xa1L << 56, 1));
    private static final FencingToken NEW = new FencingToken(ACCOUNT, 1_764_429_012_400_000L, new UUID(0xb2L << 56, 2));

    @Test
    void staleNamesBothTokensAndTheirDistance() {
        StaleTokenException e = new StaleTokenException("Claim", "PostgreSQL guard 'account:42'", OLD, NEW, null);
        assertThat(e)
                .hasMessage(
                        "Claim on PostgreSQL guard 'account:42' refused: token 1764429000000000/a1000000 of 'account:42'"
                                + " is older by 12.4 s than 1764429012400000/b2000000 of 'account:42', already accepted here."
                                + " A newer holder has taken over; stop, and do not retry with this token.");
        assertThat(e.presented()).isEqualTo(OLD);
        assertThat(e.newest()).isEqualTo(NEW);
        assertThat(e.resource()).isEqualTo("PostgreSQL guard 'account:42'");
    }

    /** Nobody has taken over, and whoever looks for another holder looks in vain. */
    @Test
    void staleUnderARaisedMarkNamesTheOperatorAndWhatHappensNext() {
        FencingToken raised =
                new FencingToken(ACCOUNT, NEW.value(), UUID.fromString("c3000000-1234-8abc-9abc-726169736564"));
        StaleTokenException e = new StaleTokenException("Claim", "guard", OLD, raised, null);
        assertThat(e)
                .hasMessage(
                        "Claim on guard refused: token 1764429000000000/a1000000 of 'account:42' is older by 12.4 s than"
                                + " 1764429012400000/c3000000 of 'account:42', to which an operator has raised the mark. That shut out every"
                                + " earlier holder; stop, and do not retry with this token. Acquire the lock anew, a second time if the first"
                                + " new token is still below that mark: the one after it is above.");
        assertThat(e.byOperator()).isTrue();
        assertThat(new StaleTokenException("Claim", "guard", OLD, NEW, null).byOperator())
                .isFalse();
    }

    /** A holder is random: neither the version nor the end alone makes it one of a raised mark. */
    @Test
    void aHolderThatOnlyResemblesOneOfARaisedMarkIsAHolder() {
        for (String holder :
                new String[] {"c3000000-1234-4abc-9abc-726169736564", "c3000000-1234-8abc-9abc-726169736565"}) {
            FencingToken other = new FencingToken(ACCOUNT, NEW.value(), UUID.fromString(holder));
            assertThat(new StaleTokenException("Claim", "guard", OLD, other, null))
                    .hasMessageContaining("A newer holder has taken over");
        }
    }

    @Test
    void staleWithTheSameNumberSaysSo() {
        FencingToken twin = new FencingToken(ACCOUNT, OLD.value(), NEW.holder());
        assertThat(new StaleTokenException("Transaction", "guard", OLD, twin, null))
                .hasMessageContaining("has the number of 1764429000000000/b2000000")
                .hasMessageContaining("another holder has claimed here first");
    }

    @Test
    void farFutureNamesTheDistanceAndTheBound() {
        assertThat(TokenRejectedException.farFuture("guard", OLD, Duration.ofHours(26), Duration.ofHours(25)))
                .hasMessageContaining("it is 26 h ahead of the resource's clock, and at most 25 h are allowed");
    }

    @Test
    void notClaimedNamesTheMark() {
        assertThat(TokenRejectedException.notClaimed("guard", OLD, "absent"))
                .hasMessageContaining("rejected by guard, whose mark is absent")
                .hasMessageContaining("acquire, claim, then read");
    }

    @Test
    void notAcquiredNamesTheHoldersProcess() {
        HolderProcess process = new HolderProcess("billing", "node-7", 4711, Instant.parse("2026-11-29T10:00:00Z"));
        LockNotAcquiredException e = new LockNotAcquiredException(ACCOUNT, Duration.ofSeconds(2), process);
        assertThat(e)
                .hasMessage("Lock 'account:42' not acquired within 2 s: held by billing (host node-7, pid 4711) since"
                        + " 2026-11-29T10:00:00Z. Nothing is held; try again, or wait longer.");
        assertThat(e.holder()).contains(process);
        assertThat(e.lock()).isEqualTo(ACCOUNT);
        assertThat(new LockNotAcquiredException(ACCOUNT, Duration.ofMillis(250), null))
                .hasMessageContaining("within 250 ms: held by an unknown holder. Nothing is held");
    }

    @Test
    void notAcquiredFromOurselvesSaysThatLocksAreNotReentrant() {
        HolderProcess process = new HolderProcess("billing", "node-7", 4711, Instant.parse("2026-11-29T10:00:00Z"));
        assertThat(LockNotAcquiredException.heldByOurselves(ACCOUNT, Duration.ofSeconds(2), process))
                .hasMessageContaining("held by this very process, billing (host node-7, pid 4711)")
                .hasMessageContaining("Locks are not reentrant");
    }

    @Test
    void leaseLostSaysHowAndThatNothingWasSent() {
        LeaseLostException e =
                new LeaseLostException(ACCOUNT, LeaseLostException.Reason.DEADLINE_PASSED, Duration.ofSeconds(11));
        assertThat(e)
                .hasMessage("The lease of 'account:42', acquired 11 s ago, is over: it was not renewed in time."
                        + " Nothing was sent. Acquire the lock again and begin at the read.");
        assertThat(e.reason()).isEqualTo(LeaseLostException.Reason.DEADLINE_PASSED);
    }

    @Test
    void aLeaseThatIsTooOldToBeRenewedIsNotCalledOver() {
        LeaseLostException e = LeaseLostException.notRenewed(ACCOUNT, Duration.ofMinutes(10), Duration.ofMillis(3_200));
        assertThat(e)
                .hasMessage(
                        "The lease of 'account:42', acquired 10 min ago, is not renewed any more: it was held for the"
                                + " maximum time (maxHold). It runs for another 3.2 s. Nothing was sent. Finish within that time, or"
                                + " acquire the lock again and begin at the read.");
        assertThat(e.reason()).isEqualTo(LeaseLostException.Reason.MAX_HOLD);
    }

    @Test
    void anUnknownOutcomeResolvesThroughItsResolver() {
        OutcomeUnknownException resolvable =
                new OutcomeUnknownException("m", () -> OutcomeUnknownException.Resolution.APPLIED, null);
        assertThat(resolvable.resolvable()).isTrue();
        assertThat(resolvable.resolve()).isEqualTo(OutcomeUnknownException.Resolution.APPLIED);

        OutcomeUnknownException open = new OutcomeUnknownException("m", null, null);
        assertThat(open.resolvable()).isFalse();
        assertThatThrownBy(open::resolve)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("the storage kept no record");
    }

    @Test
    void exceptionsSurviveSerializationWithTheirMessage() throws Exception {
        StaleTokenException before = new StaleTokenException("Claim", "guard", OLD, NEW, null);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(before);
        }
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            assertThat((Throwable) in.readObject()).hasMessage(before.getMessage());
        }
    }
}
