package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencedLeases;
import dev.fenceline.FencedLocks;
import dev.fenceline.FencelineEvent.ClaimEnded;
import dev.fenceline.FencelineEvent.ClaimOutcome;
import dev.fenceline.FencelineEvent.StaleRefused;
import dev.fenceline.FencelineEvent.WriteEnded;
import dev.fenceline.FencelineEvent.WriteOutcome;
import dev.fenceline.FencingToken;
import dev.fenceline.LeaseLostException;
import dev.fenceline.LockName;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.TokenRejectedException;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Several locks are claimed and entered as one, and what is refused is said of the one that it is about. */
@Tag("server")
class SeveralLocksTest {

    static TestDatabase database;

    final RecordedEvents events = new RecordedEvents();
    PostgresFence fence;
    LockName from;
    LockName to;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
    }

    @BeforeEach
    void accounts() {
        fence = PostgresFence.on(database.source()).listener(events);
        LockName first = Grants.freshLock();
        LockName second = Grants.freshLock();
        from = first.compareTo(second) < 0 ? first : second;
        to = from.equals(first) ? second : first;
        database.account(1, 100);
        database.account(2, 100);
    }

    private FencedLocks both() {
        return Grants.locks(List.of(to, from));
    }

    private static void transfer(Connection c, long amount) throws java.sql.SQLException {
        TestDatabase.write(c, 1, TestDatabase.read(c, 1) - amount);
        TestDatabase.write(c, 2, TestDatabase.read(c, 2) + amount);
    }

    @Test
    void underSeveralLocksAllAreClaimedAndTheWorkIsOneTransaction() throws Exception {
        long left = fence.under(both()).waitAtMost(Duration.ofSeconds(10)).call(c -> {
            transfer(c, 10);
            return TestDatabase.read(c, 1);
        });

        assertThat(left).isEqualTo(90);
        assertThat(database.balance(2)).isEqualTo(110);
        assertThat(events.of(ClaimEnded.class))
                .extracting(ended -> ended.token().lock())
                .containsExactly(from, to);
        assertThat(events.of(WriteEnded.class))
                .extracting(WriteEnded::outcome)
                .containsExactly(WriteOutcome.APPLIED, WriteOutcome.APPLIED);
        try (FencedLeases free = both().tryAcquire().orElseThrow(() -> new AssertionError("still held"))) {
            Claim<Connection> claim = fence.claim(free);
            assertThat(claim.tokens()).extracting(FencingToken::lock).containsExactly(from, to);
            assertThatThrownBy(claim::token)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("This claim has 2 tokens, and which one is meant is not said; use tokens().");
            assertThat(claim.update("UPDATE account SET balance = balance + ?", 1))
                    .isEqualTo(2);
            assertThat((long) fence.resume(claim.tokens()).readOnly(c -> TestDatabase.read(c, 2)))
                    .isEqualTo(111);
        }
    }

    @Test
    void oneStaleLockRefusesTheClaimOfAllAndIsTheOneThatIsNamed() {
        FencingToken oldFrom = Grants.next(from);
        FencingToken oldTo = Grants.next(to);
        FencingToken newTo = Grants.next(to);
        fence.claim(newTo);

        assertThatThrownBy(() -> fence.claim(List.of(oldTo, oldFrom)))
                .isInstanceOfSatisfying(StaleTokenException.class, e -> {
                    assertThat(e.presented()).isEqualTo(oldTo);
                    assertThat(e.newest()).isEqualTo(newTo);
                })
                .hasMessageStartingWith(
                        "Claim on PostgreSQL guard '" + to + "' refused: token " + oldTo + " is older by");
        assertThat(database.number("SELECT count(*) FROM fenceline.guard WHERE lock = '" + from + "'"))
                .as("nothing of the claim stays")
                .isZero();
        assertThat(events.of(StaleRefused.class)).hasSize(1);
        assertThat(events.of(ClaimEnded.class))
                .extracting(ClaimEnded::outcome)
                .containsExactly(ClaimOutcome.ADMITTED, ClaimOutcome.STALE, ClaimOutcome.STALE);
    }

    @Test
    void aTransactionIsStaleWhenOneOfItsLocksIs() {
        Claim<Connection> claim = fence.claim(List.of(Grants.next(from), Grants.next(to)));
        FencingToken newTo = Grants.next(to);
        fence.claim(newTo);

        for (int attempt = 0; attempt < 2; attempt++) {
            assertThatThrownBy(() -> claim.useTransaction(c -> transfer(c, 10)))
                    .isInstanceOfSatisfying(
                            StaleTokenException.class,
                            e -> assertThat(e.newest()).isEqualTo(newTo))
                    .hasMessageStartingWith("Transaction on PostgreSQL guard '" + to + "' refused: token ");
        }
        assertThatThrownBy(() -> claim.update("UPDATE account SET balance = 0"))
                .isInstanceOf(StaleTokenException.class);
        assertThat(database.balance(1)).isEqualTo(100);
        assertThat(events.of(StaleRefused.class)).hasSize(1);
    }

    @Test
    void theFloorOfTheLockThatWasStaleIsRaised() throws Exception {
        FencingToken last = Grants.next(to);
        FencingToken ahead = new FencingToken(to, last.value() + 3_600_000_000L, UUID.randomUUID());
        fence.claim(ahead);

        assertThatThrownBy(() -> fence.under(both()).run(c -> transfer(c, 10))).isInstanceOf(StaleTokenException.class);
        fence.under(both()).run(c -> transfer(c, 10));

        assertThat(database.balance(1)).isEqualTo(90);
        assertThat(database.mark(ahead).value()).isGreaterThan(ahead.value());
    }

    @Test
    void aBlockedClaimOfSeveralWaitsOnceForAllAndNamesTheBlocker() throws Exception {
        FencingToken oldFrom = Grants.next(from);
        FencingToken oldTo = Grants.next(to);
        PostgresFence holder = PostgresFence.on(database.sourceNamed("the-holder"));
        List<FencingToken> newer = List.of(Grants.next(from), Grants.next(to));

        holder.claim(oldTo).useTransaction(c -> {
            TestDatabase.write(c, 2, 101);
            assertThatThrownBy(() -> fence.claimTimeout(Duration.ofMillis(50)).claim(newer))
                    .isInstanceOf(RetryableConflictException.class)
                    .hasMessageStartingWith("Claim of tokens " + newer.get(0) + ", " + newer.get(1)
                            + " on PostgreSQL guards '" + from + "', '" + to
                            + "' was blocked for longer than 50 ms, by pid ")
                    .hasMessageContaining("application_name 'the-holder'");
        });
        assertThat(database.mark(oldTo)).isEqualTo(oldTo);
        assertThatThrownBy(() -> fence.resume(List.of(oldFrom, oldTo)))
                .isInstanceOf(TokenRejectedException.class)
                .hasMessageContaining("Token " + oldFrom + " rejected");
    }

    @Test
    void transactionsOfOverlappingLocksLoseNothingWhicheverOrderIsAskedFor() throws Exception {
        FencingToken a = Grants.next(from);
        FencingToken b = Grants.next(to);
        Claim<Connection> one = fence.claim(List.of(a, b));
        Claim<Connection> other = fence.resume(List.of(b, a));

        Race.of(4, turn -> {
            for (int i = 0; i < 10; i++) {
                (turn % 2 == 0 ? one : other).useTransaction(c -> transfer(c, 1));
            }
        });

        assertThat(database.balance(1)).isEqualTo(60);
        assertThat(database.balance(2)).isEqualTo(140);
    }

    @Test
    void whoClaimsTheSecondLockAfterTheFirstReadLosesAnUpdate() throws Exception {
        // The control: one claim before the read and one after it.
        FencingToken oldTo = Grants.next(to);
        Claim<Connection> before = fence.claim(oldTo);
        fence.claim(Grants.next(from));
        long read = database.balance(2);
        before.useTransaction(c -> TestDatabase.write(c, 2, 150));
        Claim<Connection> late = fence.claim(Grants.next(to));
        late.useTransaction(c -> TestDatabase.write(c, 2, read + 10));

        assertThat(database.balance(2))
                .as("50 of the older holder's were accepted and are gone")
                .isEqualTo(110);
    }

    @Test
    void aClaimUnderLeasesOfWhichOneIsLostSendsNothing() throws Exception {
        FencedLeases leases = both().acquire();
        leases.lease(to).close();
        try (leases) {
            assertThatThrownBy(() -> fence.claim(leases))
                    .isInstanceOf(LeaseLostException.class)
                    .hasMessageContaining("The lease of '" + to + "'");
        }
        assertThat(database.number("SELECT count(*) FROM fenceline.guard WHERE lock IN ('" + from + "', '" + to + "')"))
                .isZero();
    }

    @Test
    void noTokenAndTwoOfOneLockAreRefused() {
        assertThatThrownBy(() -> fence.claim(List.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("No token given: a claim needs that of at least one lock.");
        assertThatThrownBy(() -> fence.resume(List.of(Grants.next(from), Grants.next(from))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Two tokens of lock '" + from
                        + "' given: a claim has one of each lock, and the newer has ended the older.");
    }
}
