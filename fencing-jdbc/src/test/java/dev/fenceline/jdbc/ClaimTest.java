package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencelineEvent.ClaimEnded;
import dev.fenceline.FencelineEvent.ClaimOutcome;
import dev.fenceline.FencelineEvent.StaleRefused;
import dev.fenceline.FencelineEvent.UnsafeSetting;
import dev.fenceline.FencelineEvent.WriteEnded;
import dev.fenceline.FencelineEvent.WriteOutcome;
import dev.fenceline.FencingToken;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.TokenRejectedException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("server")
class ClaimTest extends TwoGrants {

    RecordedEvents events = new RecordedEvents();
    PostgresFence fence;

    @BeforeEach
    void fence() {
        fence = PostgresFence.on(database.source()).listener(events);
        database.account(1, 100);
    }

    @Test
    void aTransactionUnderTheNewestClaimCommits() throws Exception {
        Claim<Connection> claim = fence.claim(older);

        long read = claim.inTransaction(c -> {
            long balance = TestDatabase.read(c, 1);
            TestDatabase.write(c, 1, balance + 10);
            return balance;
        });

        assertThat(read).isEqualTo(100);
        assertThat(database.balance(1)).isEqualTo(110);
        assertThat(claim.token()).isEqualTo(older);
        assertThat(events.of(WriteEnded.class))
                .singleElement()
                .satisfies(ended -> assertThat(ended.outcome()).isEqualTo(WriteOutcome.APPLIED));
    }

    @Test
    void anOlderTokenIsRefusedWithBothTokensAndTheMarkStays() {
        fence.claim(newer);

        assertThatThrownBy(() -> fence.claim(older))
                .isInstanceOfSatisfying(StaleTokenException.class, e -> {
                    assertThat(e.presented()).isEqualTo(older);
                    assertThat(e.newest()).isEqualTo(newer);
                    assertThat(e.resource()).isEqualTo("PostgreSQL guard '" + older.lock() + "'");
                })
                .hasMessageContaining(
                        "Claim on PostgreSQL guard '" + older.lock() + "' refused: token " + older + " is older by")
                .hasMessageContaining("do not retry with this token");
        assertThat(database.mark(older)).isEqualTo(newer);
        assertThat(events.of(ClaimEnded.class))
                .extracting(ClaimEnded::outcome)
                .containsExactly(ClaimOutcome.ADMITTED, ClaimOutcome.STALE);
        assertThat(events.of(StaleRefused.class)).hasSize(1);
    }

    @Test
    void theSameNumberOfAnotherHolderIsRefused() {
        FencingToken twin = new FencingToken(older.lock(), older.value(), UUID.randomUUID());
        fence.claim(older);

        assertThatThrownBy(() -> fence.claim(twin))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageContaining("has the number of " + older + ", which another holder has claimed here first");
    }

    @Test
    void aWriterThatWasOvertakenIsRefusedAndTellsItOnce() {
        Claim<Connection> stale = fence.claim(older);
        fence.claim(newer);

        for (int attempt = 0; attempt < 2; attempt++) {
            assertThatThrownBy(() -> stale.useTransaction(c -> TestDatabase.write(c, 1, 0)))
                    .isInstanceOfSatisfying(
                            StaleTokenException.class,
                            e -> assertThat(e.newest()).isEqualTo(newer))
                    .hasMessageContaining("Transaction on PostgreSQL guard '" + older.lock() + "' refused: token "
                            + older + " is older by");
        }
        assertThat(database.balance(1)).isEqualTo(100);
        assertThat(events.of(StaleRefused.class))
                .containsExactly(new StaleRefused("PostgreSQL guard '" + older.lock() + "'", older, newer));
        assertThat(events.of(WriteEnded.class))
                .extracting(WriteEnded::outcome)
                .containsExactly(WriteOutcome.STALE, WriteOutcome.STALE);
    }

    @Test
    void resumingGoesOnUnderAClaimMadeElsewhere() {
        fence.claim(older);

        JdbcWork.add(fence.resume(older), 1, 10);

        assertThat(database.balance(1)).isEqualTo(110);
    }

    @Test
    void resumingNeverRaisesTheMark() {
        assertThatThrownBy(() -> fence.resume(older))
                .isInstanceOfSatisfying(
                        TokenRejectedException.class,
                        e -> assertThat(e.reason()).isEqualTo(TokenRejectedException.Reason.NOT_CLAIMED))
                .hasMessageContaining("Token " + older + " rejected by PostgreSQL guard '" + older.lock()
                        + "', whose mark is not set: this token was never claimed here");
        fence.claim(older);
        assertThatThrownBy(() -> fence.resume(newer))
                .isInstanceOf(TokenRejectedException.class)
                .hasMessageContaining("whose mark is " + older + ": this token was never claimed here");
        assertThat(database.mark(older)).isEqualTo(older);
    }

    @Test
    void resumingAnOvertakenClaimIsStale() {
        fence.claim(older);
        fence.claim(newer);

        assertThatThrownBy(() -> fence.resume(older))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageContaining(
                        "Resuming on PostgreSQL guard '" + older.lock() + "' refused: token " + older + " is older by");
    }

    @Test
    void enteringComparesForEqualityWhateverTheClaimBelieves() {
        // As after a failover that lost the claim: the session believes in it, and the mark is another.
        Claim<Connection> lost = new Claim<>(fence.source(), FenceSettings.defaults(), Tokens.of(newer), null);
        fence.claim(older);
        assertThatThrownBy(() -> lost.useTransaction(c -> TestDatabase.write(c, 1, 0)))
                .isInstanceOfSatisfying(
                        TokenRejectedException.class,
                        e -> assertThat(e.reason()).isEqualTo(TokenRejectedException.Reason.NOT_CLAIMED))
                .hasMessageContaining(
                        "whose mark is " + older + ": this token was never claimed here, or the claim was lost"
                                + " with a restored or failed-over database");

        FencingToken twin = new FencingToken(older.lock(), older.value(), UUID.randomUUID());
        Claim<Connection> other = new Claim<>(fence.source(), FenceSettings.defaults(), Tokens.of(twin), null);
        assertThatThrownBy(() -> other.useTransaction(c -> TestDatabase.write(c, 1, 0)))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageContaining("token " + twin + " has the number of " + older);
        assertThat(database.balance(1)).isEqualTo(100);
        assertThat(database.mark(older)).isEqualTo(older);
    }

    @Test
    void aTokenFromTheFarFutureIsRejectedAndTheLockStaysUsable() {
        FencingToken forged = new FencingToken(older.lock(), 1L << 52, UUID.randomUUID());

        assertThatThrownBy(() -> fence.claim(forged))
                .isInstanceOfSatisfying(
                        TokenRejectedException.class,
                        e -> assertThat(e.reason()).isEqualTo(TokenRejectedException.Reason.FAR_FUTURE))
                .hasMessageContaining("ahead of the resource's clock, and at most 25 h are allowed");
        fence.claim(older);
        assertThat(database.mark(older)).isEqualTo(older);
    }

    @Test
    void aClaimThatIsBlockedForTooLongNamesTheBlocker() throws Exception {
        PostgresFence holder = PostgresFence.on(database.sourceNamed("the-holder"));
        PostgresFence newcomer = fence.claimTimeout(Duration.ofMillis(50));

        holder.claim(older).useTransaction(c -> {
            long pid = c.unwrap(org.postgresql.PGConnection.class).getBackendPID();
            assertThatThrownBy(() -> newcomer.claim(newer))
                    .isInstanceOf(RetryableConflictException.class)
                    .hasMessage("Claim of token " + newer + " on PostgreSQL guard '" + older.lock()
                            + "' was blocked for longer than 50 ms, by pid " + pid
                            + ", application_name 'the-holder'. Nothing happened. While the lease runs, claim again with the"
                            + " same token.");
        });

        assertThat(database.mark(older)).isEqualTo(older);
        newcomer.claim(newer);
        assertThat(database.mark(older)).isEqualTo(newer);
        assertThat(events.of(ClaimEnded.class))
                .extracting(ClaimEnded::outcome)
                .containsExactly(ClaimOutcome.TIMED_OUT, ClaimOutcome.ADMITTED);
    }

    @Test
    void anUnsafeDatabaseIsToldOnce() {
        fence.claim(older);
        fence.claim(newer);

        assertThat(events.of(UnsafeSetting.class)).singleElement().satisfies(unsafe -> {
            assertThat(unsafe.resource())
                    .startsWith("PostgreSQL at jdbc:postgresql://")
                    .doesNotContain("?");
            assertThat(unsafe.setting()).isEqualTo("fsync = off");
        });
    }

    @Test
    void everyListenerHearsOfItOnceHoweverManyFencesThereAre() {
        RecordedEvents others = new RecordedEvents();
        PostgresFence.on(database.source()).listener(others).claim(older);
        PostgresFence.on(database.source())
                .listener(others)
                .claimTimeout(Duration.ofSeconds(5))
                .claim(older);
        PostgresFence.on(database.sourceNamed("another-source"))
                .listener(others)
                .claim(older);
        assertThat(others.of(UnsafeSetting.class)).hasSize(1);

        TestDatabase other = TestDatabase.create();
        PostgresFence.on(other.source()).listener(others).claim(older);
        assertThat(others.of(UnsafeSetting.class))
                .extracting(UnsafeSetting::resource)
                .as("one of each database")
                .hasSize(2)
                .doesNotHaveDuplicates();
    }

    @Test
    void aSerializableDefaultDoesNotDisturbAClaim() throws Exception {
        var strict = database.sourceNamed("strict");
        strict.setOptions("-c default_transaction_isolation=serializable");
        PostgresFence serializable = PostgresFence.on(strict).listener(events);
        List<FencingToken> tokens =
                Stream.generate(() -> Grants.next(older.lock())).limit(160).toList();

        Race.of(8, turn -> {
            for (int i = turn; i < tokens.size(); i += 8) {
                FencingToken mine = tokens.get(i);
                try {
                    serializable.claim(mine);
                } catch (StaleTokenException e) {
                    assertThat(e.newest().value()).isGreaterThan(mine.value());
                }
            }
        });

        assertThat(database.mark(older)).isEqualTo(tokens.get(tokens.size() - 1));
    }

    @Test
    void settingsOutOfRangeAreRefused() {
        assertThatThrownBy(() -> fence.claimTimeout(Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("claimTimeout of 0 ms is not between 1 ms and 3600000 ms.");
        assertThatThrownBy(() -> fence.transactionTimeout(Duration.ofDays(36500)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("transactionTimeout of ");
    }

    @Test
    void aClaimThatWasNotBlockedIsNotSaidToHaveBeen() {
        var lock = Grants.freshLock();
        FencingToken token = Grants.next(lock);
        var hurried = database.sourceNamed("hurried");
        hurried.setOptions("-c statement_timeout=100");
        PostgresFence.on(database.source()).claim(token);
        try (Connection holder = database.source().getConnection()) {
            holder.setAutoCommit(false);
            TestDatabase.enter(holder, token);
            assertThatThrownBy(() -> PostgresFence.on(hurried).claim(token))
                    .isInstanceOf(RetryableConflictException.class)
                    .hasMessageContaining(
                            " was cancelled before its own timeout of 10000 ms: ERROR: canceling statement"
                                    + " due to statement timeout (SQLSTATE 57014). Nothing happened.");
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        TestDatabase racing = TestDatabase.create();
        racing.execute("CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS"
                + " 'BEGIN RAISE EXCEPTION USING ERRCODE = ''40001'', MESSAGE = ''lost''; END';"
                + " CREATE TRIGGER lose BEFORE INSERT ON fenceline.guard FOR EACH ROW EXECUTE FUNCTION lose()");
        assertThatThrownBy(() -> PostgresFence.on(racing.source()).claim(token))
                .isInstanceOf(RetryableConflictException.class)
                .hasMessageContaining(" lost 21 races in a row: ERROR: lost (SQLSTATE 40001). Nothing happened.");
    }
}
