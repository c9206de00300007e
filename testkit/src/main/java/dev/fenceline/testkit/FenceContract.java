package dev.fenceline.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.StaleTokenException;
import dev.fenceline.TokenRejectedException;
import dev.fenceline.testkit.FenceDriver.Session;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.assertj.core.api.ThrowableAssertAlternative;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What every fence promises, whatever it guards: a claim is admitted iff it is newer or the same, and afterwards only the
 * newest claim writes. A storage extends this, or {@link NamedFenceContract} if its resource knows the name of its lock, and
 * supplies a driver.
 *
 * <p>The tokens are made by hand, which nobody else should do: that is what shows the rules apart from any lock service.
 */
@Timeout(60) // a backend that hangs fails, and the build goes on
public abstract class FenceContract {

    private static final String INITIAL = "100";

    private final LockName lock = LockName.of("contract", UUID.randomUUID());
    private final long now = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    private @Nullable FenceDriver made;

    /** For subclasses. */
    protected FenceContract() {}

    /**
     * Makes a resource that no token has been claimed on.
     *
     * @param resource the lock that guards it, a fresh one for each test
     * @param value what it holds
     * @return the ways to it
     */
    protected abstract FenceDriver resource(LockName resource, String value);

    @BeforeEach
    void makeResource() {
        made = resource(lock, INITIAL);
    }

    final FenceDriver fence() {
        return Objects.requireNonNull(made);
    }

    final LockName lock() {
        return lock;
    }

    /** A token that was issued so many microseconds after the test began. */
    final FencingToken token(long micros) {
        return new FencingToken(lock, now + micros, UUID.randomUUID());
    }

    private FencingToken tokenAhead(Duration ahead) {
        return token(TimeUnit.SECONDS.toMicros(ahead.toSeconds()));
    }

    @Test
    void theFirstClaimIsAdmittedHoweverOldItIs() {
        fence().claim(new FencingToken(lock, 1, UUID.randomUUID())).write("200");
        assertThat(fence().read()).isEqualTo("200");
    }

    @Test
    void aNewerClaimIsAdmittedAndSeesTheWorkOfTheOlder() {
        fence().claim(token(1)).write("200");
        Session newer = fence().claim(token(2));
        assertThat(newer.read()).isEqualTo("200");
        newer.write("300");
        assertThat(fence().read()).isEqualTo("300");
    }

    @Test
    void anOlderClaimIsRefusedWithBothTokensAndLeavesTheValue() {
        FencingToken older = token(1);
        FencingToken newer = token(1_000_001);
        fence().claim(newer).write("200");
        assertStale(() -> fence().claim(older), older, newer)
                .withMessageContaining(Long.toString(older.value()))
                .withMessageContaining(Long.toString(newer.value()))
                .withMessageContaining("is older by 1 s than");
        assertThat(fence().read()).isEqualTo("200");
    }

    @Test
    void ofTwoHoldersWithOneNumberOnlyTheFirstIsAdmitted() {
        FencingToken first = token(1);
        FencingToken second = token(1);
        Session session = fence().claim(first);
        assertStale(() -> fence().claim(second), second, first)
                .withMessageContaining("which another holder has claimed here first");
        session.write("200");
        assertThat(fence().read()).isEqualTo("200");
    }

    @Test
    void theSameTokenClaimsAgainAndBothClaimsWrite() {
        FencingToken token = token(1);
        Session lostReply = fence().claim(token);
        Session again = fence().claim(token);
        again.write("200");
        lostReply.write("300");
        assertThat(fence().read()).isEqualTo("300");
    }

    @Test
    void aWriteUnderAnOvertakenClaimIsRefusedForGoodAndLeavesTheValue() {
        FencingToken older = token(1);
        FencingToken newer = token(2);
        Session overtaken = fence().claim(older);
        overtaken.write("200");
        Session current = fence().claim(newer);
        for (int attempt = 0; attempt < 2; attempt++) {
            assertStale(() -> overtaken.write("late"), older, newer).withMessageContaining("do not retry");
            assertThat(fence().read()).isEqualTo("200");
        }
        current.write("300");
        assertStale(() -> overtaken.write("late"), older, newer);
        assertThat(fence().read()).isEqualTo("300");
    }

    @Test
    void aResumedClaimWritesUntilItIsOvertaken() {
        FencingToken token = token(1);
        FencingToken newer = token(2);
        fence().claim(token);
        Session resumed = fence().resume(token);
        resumed.write("200");
        assertThat(fence().read()).isEqualTo("200");
        fence().claim(newer);
        assertStale(() -> resumed.write("late"), token, newer);
        assertStale(() -> fence().resume(token).write("late"), token, newer);
        assertThat(fence().read()).isEqualTo("200");
    }

    @Test
    void resumingNeverRaisesTheMark() {
        FencingToken claimed = token(1);
        FencingToken unclaimed = token(2);
        Session current = fence().claim(claimed);
        assertRejected(
                        () -> fence().resume(unclaimed).write("late"),
                        TokenRejectedException.Reason.NOT_CLAIMED,
                        unclaimed)
                .withMessageContaining("never claimed here");
        current.write("200");
        assertThat(fence().read()).isEqualTo("200");
    }

    @Test
    void resumingOnAnUntouchedResourceIsRejected() {
        FencingToken unclaimed = token(1);
        assertRejected(
                        () -> fence().resume(unclaimed).write("late"),
                        TokenRejectedException.Reason.NOT_CLAIMED,
                        unclaimed)
                .withMessageContaining("never claimed here");
        assertThat(fence().read()).isEqualTo(INITIAL);
    }

    @Test
    void aTokenOfTheFarFutureIsRejectedAndDoesNotBlockTheResource() {
        FencingToken forged = tokenAhead(Duration.ofHours(26));
        assertRejected(() -> fence().claim(forged), TokenRejectedException.Reason.FAR_FUTURE, forged)
                .withMessageContaining("ahead of the resource's clock");
        fence().claim(token(1)).write("200");
        assertThat(fence().read()).isEqualTo("200");
    }

    @Test
    void aTokenAsFarAheadAsALockServiceMayIssueIsAdmitted() {
        fence().claim(tokenAhead(Duration.ofHours(23))).write("200");
        assertThat(fence().read()).isEqualTo("200");
    }

    @Test
    void theMarkSurvivesRefusals() {
        FencingToken current = token(1_000);
        Session session = fence().claim(current);
        for (int age = 1; age <= 3; age++) {
            FencingToken older = token(1_000 - age);
            assertStale(() -> fence().claim(older), older, current);
        }
        session.write("200");
        FencingToken between = token(999);
        assertStale(() -> fence().claim(between), between, current);
        assertThat(fence().read()).isEqualTo("200");
    }

    /** The case that a check of the order alone, on writes alone, gets wrong. */
    @Test
    void readByTheNewerLateWriteByTheOlderWriteByTheNewerLosesNothing() {
        FencingToken older = token(1);
        FencingToken newer = token(2);
        Session a = fence().claim(older);
        int seenByA = Integer.parseInt(a.read());
        Session b = fence().claim(newer);
        int seenByB = Integer.parseInt(b.read());

        assertStale(() -> a.write(Integer.toString(seenByA + 1)), older, newer);
        b.write(Integer.toString(seenByB + 10));

        assertThat(fence().read()).isEqualTo("110");
    }

    private static ThrowableAssertAlternative<StaleTokenException> assertStale(
            ThrowingCallable call, FencingToken presented, FencingToken newest) {
        return assertThatExceptionOfType(StaleTokenException.class)
                .isThrownBy(call)
                .satisfies(e -> {
                    assertThat(e.presented()).isEqualTo(presented);
                    assertThat(e.newest()).isEqualTo(newest);
                    assertThat(e.resource()).isNotBlank();
                });
    }

    static ThrowableAssertAlternative<TokenRejectedException> assertRejected(
            ThrowingCallable call, TokenRejectedException.Reason reason, FencingToken presented) {
        return assertThatExceptionOfType(TokenRejectedException.class)
                .isThrownBy(call)
                .satisfies(e -> {
                    assertThat(e.reason()).isEqualTo(reason);
                    assertThat(e.presented()).isEqualTo(presented);
                });
    }
}
