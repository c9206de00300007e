package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.FencedLease;
import dev.fenceline.FencelineEvent.ClaimEnded;
import dev.fenceline.FencelineEvent.ClaimOutcome;
import dev.fenceline.FencelineEvent.StaleRefused;
import dev.fenceline.FencelineEvent.WriteEnded;
import dev.fenceline.FencelineEvent.WriteOutcome;
import dev.fenceline.FencingToken;
import dev.fenceline.LeaseLostException;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.RowExistsException;
import dev.fenceline.RowMissingException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.TokenRejectedException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Zero rows, and whatever else a statement of row mode may end with, told apart. */
@Tag("server")
class RowOutcomesTest extends OneRow {

    private WriteOutcome last() {
        var ended = events.of(WriteEnded.class);
        WriteEnded last = ended.get(ended.size() - 1);
        assertThat(last.resource()).isEqualTo(resource);
        return last.outcome();
    }

    @Test
    void aClaimAndAWriteAreToldAndASessionIsToldStaleOnce() throws SQLException {
        RowClaim<Long> old = rows.claim(older, id, VALUE);
        old.update(value(1));
        rows.claim(newer, id, VALUE);
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> old.update(value(2))).isInstanceOfSatisfying(StaleTokenException.class, e -> {
                assertThat(e.presented()).isEqualTo(older);
                assertThat(e.newest()).isEqualTo(newer);
                assertThat(e.resource()).isEqualTo(resource);
            });
        }
        assertThatThrownBy(() -> rows.claim(older, id, VALUE))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageStartingWith("Claim on " + resource + " refused: token " + older + " is older by ");

        assertThat(events.of(ClaimEnded.class).stream().map(ClaimEnded::outcome))
                .containsExactly(ClaimOutcome.ADMITTED, ClaimOutcome.ADMITTED, ClaimOutcome.STALE);
        assertThat(events.of(WriteEnded.class).stream().map(WriteEnded::outcome))
                .containsExactly(WriteOutcome.APPLIED, WriteOutcome.STALE, WriteOutcome.STALE);
        assertThat(events.of(StaleRefused.class)).as("one for each session").hasSize(2);
    }

    @Test
    void theSameNumberOfAnotherHolderIsRefused() throws SQLException {
        rows.claim(older, id, VALUE);
        FencingToken twin = new FencingToken(older.lock(), older.value(), UUID.randomUUID());

        assertThatThrownBy(() -> rows.claim(twin, id, VALUE))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageContaining("token " + twin + " has the number of " + older
                        + ", which another holder has claimed here first");
        assertThat(rows.claim(older, id, VALUE).row()).as("the holder itself").contains(100L);
    }

    @Test
    void resumingGoesByEqualityAndNeverRaises() throws SQLException {
        assertThatThrownBy(() -> rows.resume(older, id, VALUE))
                .isInstanceOfSatisfying(
                        TokenRejectedException.class,
                        e -> assertThat(e.reason()).isEqualTo(TokenRejectedException.Reason.NOT_CLAIMED))
                .hasMessageStartingWith("Token " + older + " rejected by " + resource + ", whose mark is not set: ");
        rows.claim(older, id, VALUE).update(value(7));
        assertThat(rows.resume(older, id, VALUE).row()).contains(7L);
        assertThatThrownBy(() -> rows.resume(newer, id, VALUE))
                .isInstanceOf(TokenRejectedException.class)
                .hasMessageContaining("whose mark is " + older + ": ");
        rows.claim(newer, id, VALUE);
        assertThatThrownBy(() -> rows.resume(older, id, VALUE))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageStartingWith("Reading on " + resource + " refused: ");
    }

    @Test
    void aSessionThatNeverClaimedIsRejectedAndNotTakenForStale() throws SQLException {
        RowClaim<Long> claim = rows.claim(older, id, VALUE);
        database.execute("UPDATE thing SET fence_token = 0, fence_holder = NULL WHERE id = " + id);

        assertThatThrownBy(() -> claim.update(value(7)))
                .isInstanceOf(TokenRejectedException.class)
                .hasMessageStartingWith("Token " + older + " rejected by " + resource + ", whose mark is not set: ");
        assertThat(last()).isEqualTo(WriteOutcome.ROLLED_BACK);
    }

    @Test
    void aMissingRowIsToldAndTheClaimGoesOn() throws SQLException {
        RowClaim<Long> claim = rows.claim(older, id, VALUE);
        claim.delete();

        assertThatThrownBy(() -> claim.update(value(7)))
                .isInstanceOf(RowMissingException.class)
                .hasMessage("Update of " + resource + " under token " + older
                        + " refused: there is no such row: it is deleted, or was never inserted."
                        + " Nothing happened. Insert it under the same claim, or stop.");
        assertThat(last()).isEqualTo(WriteOutcome.MISSING);
        assertThatThrownBy(claim::delete)
                .isInstanceOf(RowMissingException.class)
                .hasMessageStartingWith("Delete of " + resource);
        assertThatThrownBy(() -> rows.blind(older, id).update(value(7))).isInstanceOf(RowMissingException.class);
        claim.insert(value(7));
        assertThat(stored()).isEqualTo("7");
    }

    @Test
    void aRowThatWasRemovedPastTheFenceIsMissingAndSaidSo() throws SQLException {
        RowClaim<Long> claim = rows.claim(older, id, VALUE);
        remove();

        assertThatThrownBy(() -> claim.update(value(7)))
                .isInstanceOf(RowMissingException.class)
                .hasMessageContaining(
                        "there is no such row: it was removed without the fence, or was never claimed; the"
                                + " guard's mark is not set. Nothing happened.");
    }

    @Test
    void aViolatedConstraintComesOutAsItIs() throws SQLException {
        RowClaim<Long> claim = rows.claim(older, id, VALUE);

        assertThatThrownBy(() -> claim.update(value(-1)))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("23514"))
                .hasMessageContaining("violates check constraint");
        assertThat(last()).isEqualTo(WriteOutcome.ROLLED_BACK);
        assertThatThrownBy(() -> claim.upsert(RowValues.of("tag", "x")))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("23502"));
        assertThatThrownBy(() -> claim.update(RowValues.of("no such column", 1)))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("42703"));
        assertThat(stored()).isEqualTo("100");
    }

    @Test
    void aWriteThatATriggerHoldsBackIsNotReportedAsApplied() throws SQLException {
        database.execute("CREATE FUNCTION hold_back() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';"
                + " CREATE TRIGGER hold_back BEFORE UPDATE ON thing FOR EACH ROW WHEN (NEW.value = 4711)"
                + " EXECUTE FUNCTION hold_back()");
        RowClaim<Long> claim = rows.claim(older, id, VALUE);

        assertThatThrownBy(() -> claim.update(value(4711)))
                .isInstanceOf(RetryableConflictException.class)
                .hasMessageContaining(
                        "refused: nothing was written although nobody newer is there: its mark, " + older
                                + " now, changed meanwhile, or a trigger or policy of the table keeps the write from it. Nothing of it");
        assertThat(stored()).isEqualTo("100");
    }

    @Test
    void anotherUniqueColumnIsNotTakenForAnExistingRow() throws SQLException {
        String tag = "tag of " + id;
        rows.claim(older, id, VALUE).update(RowValues.of("tag", tag));
        long absent = -id;
        RowClaim<Long> claim = rows.claim(Grants.next(TABLE.lock(absent)), absent, VALUE);

        assertThatThrownBy(() -> claim.insert(value(1).and("tag", tag)))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("23505"))
                .hasMessageContaining("thing_tag_key");
        claim.insert(value(1));
        assertThatThrownBy(() -> claim.insert(value(2)))
                .isInstanceOf(RowExistsException.class)
                .hasMessageContaining("the row exists, and its mark is " + claim.token());
    }

    @Test
    void whatIsNoValueOfARowIsRefusedBeforeItIsSent() throws SQLException {
        RowClaim<Long> claim = rows.claim(older, id, VALUE);

        assertThatThrownBy(() -> claim.update(RowValues.of("fence_token", 1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Update of " + resource + " refused: column fence_token holds the mark, which is written by"
                        + " itself. Nothing was sent; leave it out.");
        assertThatThrownBy(() -> claim.insert(RowValues.of("id", 1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Insert of " + resource
                        + " refused: column id is a part of the key, which stays. Nothing was sent; leave it out.");
        assertThatThrownBy(() -> claim.update(RowValues.none()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Update of " + resource + " refused: it sets no column. Nothing was sent; give it a value.");
        assertThatThrownBy(() -> value(1).and("value", 2))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Column value is given two values; give it one.");
        assertThat(events.of(WriteEnded.class)).isEmpty();
    }

    @Test
    void valuesAndExpressionsAreWrittenAsTheyAreMeant() throws SQLException {
        RowClaim<Long> claim = rows.claim(older, id, VALUE);
        claim.update(RowValues.ofSql("value", "value + ? * ?", 10, 2).and("tag", null));
        assertThat(stored()).isEqualTo("120");
        claim.upsert(RowValues.ofSql("value", "abs(?::bigint)", -7).and("tag", "t" + id));
        assertThat(stored()).isEqualTo("7");
        assertThat(database.text("SELECT tag FROM thing WHERE id = " + id)).isEqualTo("t" + id);
    }

    // What lets no mark rise.

    @ParameterizedTest
    @EnumSource(names = {"CLAIM", "CLAIM_OF_NO_ROW", "BLIND_UPDATE", "BLIND_INSERT", "BLIND_UPSERT"})
    void aTokenFromTheFarFutureIsRejectedAndTheRowStaysUsable(RowForms form) throws SQLException {
        if (!form.needsRow) {
            remove();
        }
        FencingToken forged = new FencingToken(older.lock(), FencingToken.VALUE_LIMIT - 1, UUID.randomUUID());

        assertThatThrownBy(() -> form.ready(rows, forged, id).run())
                .isInstanceOfSatisfying(
                        TokenRejectedException.class,
                        e -> assertThat(e.reason()).isEqualTo(TokenRejectedException.Reason.FAR_FUTURE))
                .hasMessageStartingWith("Token " + forged + " rejected by " + resource + ": it is ")
                .hasMessageContaining("and at most 25 h are allowed");

        form.ready(rows, older, id).run();
        assertThat(stored()).isEqualTo(form.after);
    }

    @Test
    void aForgedTokenThatIsResumedDoesNotRaiseTheGuardByADeletion() throws SQLException {
        FencingToken forged = new FencingToken(older.lock(), FencingToken.VALUE_LIMIT - 1, UUID.randomUUID());
        database.execute("UPDATE thing SET fence_token = " + forged.value() + ", fence_holder = '" + forged.holder()
                + "' WHERE id = " + id);

        RowClaim<Long> resumed = rows.resume(forged, id, VALUE);
        assertThatThrownBy(resumed::delete).isInstanceOf(TokenRejectedException.class);
        assertThatThrownBy(() -> resumed.upsert(value(1))).isInstanceOf(TokenRejectedException.class);
        assertThat(stored()).isEqualTo("100");
    }

    @Test
    void aClaimWithoutDurableCommitIsRefused() {
        var unsafe = database.sourceNamed("unsafe");
        unsafe.setOptions("-c synchronous_commit=off");

        assertThatThrownBy(() -> on(unsafe).claim(older, id, VALUE))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessage(
                        "Claim on " + resource + " refused: ERROR: Claim refused: synchronous_commit is off, so a crash"
                                + " could forget the mark after it was acknowledged (SQLSTATE FL003). Set synchronous_commit = on"
                                + " for this role or database.");
        assertThatThrownBy(() -> on(unsafe).blind(older, id).update(value(1)))
                .isInstanceOf(BackendMisconfiguredException.class);
        assertThat(stored()).isEqualTo("100");
    }

    @Test
    void aLostLeaseClaimsNothingAndSendsNothingAndAClaimGoesOn() throws SQLException {
        var source = new HookedSource(database.source(), number -> {});
        PostgresRows<Long> counted = on(source);
        FencedLease lease = Grants.lease(TABLE.lock(id));
        RowClaim<Long> claim = counted.claim(lease, id, VALUE);
        BlindRow blind = counted.blind(lease, id);
        lease.close();
        int opened = source.opened();

        assertThatThrownBy(() -> counted.claim(lease, id, VALUE))
                .isInstanceOf(LeaseLostException.class)
                .hasMessageContaining("Nothing was sent.");
        assertThatThrownBy(() -> blind.update(value(1))).isInstanceOf(LeaseLostException.class);
        assertThat(source.opened()).isEqualTo(opened);
        claim.update(value(7));
        assertThat(stored()).as("the fence decides, not the lease").isEqualTo("7");
    }

    // Waiting.

    @Test
    void aClaimThatIsBlockedForTooLongNamesTheBlocker() throws SQLException {
        try (Connection blocker = transaction(database.sourceNamed("the blocker"))) {
            raise(blocker, older);

            assertThatThrownBy(() -> rows.claimTimeout(Duration.ofMillis(50)).claim(newer, id, VALUE))
                    .isInstanceOf(RetryableConflictException.class)
                    .hasMessageMatching("Claim of token .* on .* was blocked for longer than 50 ms, by pid \\d+,"
                            + " application_name 'the blocker'\\. Nothing happened\\. While the lease runs, claim again with"
                            + " the same token\\.");
        }
        assertThat(events.of(ClaimEnded.class).stream().map(ClaimEnded::outcome))
                .containsExactly(ClaimOutcome.TIMED_OUT);
        assertThat(rows.claim(newer, id, VALUE).row()).contains(100L);
    }

    @Test
    void aClaimOfNoRowThatIsBlockedAtTheGuardNamesTheBlocker() throws SQLException {
        remove();
        rows.claim(older, id, VALUE);
        try (Connection blocker = transaction(database.sourceNamed("the blocker"))) {
            run(blocker, "UPDATE fenceline.guard SET token = ?, holder = ? WHERE lock = '" + newer.lock() + "'", newer);

            assertThatThrownBy(() -> rows.claimTimeout(Duration.ofMillis(50)).claim(newer, id, VALUE))
                    .isInstanceOf(RetryableConflictException.class)
                    .hasMessageContaining("blocked for longer than 50 ms, by pid ")
                    .hasMessageContaining("application_name 'the blocker'");
        }
    }

    @Test
    void aBlockedWriteGivesUpAndTheClaimIsStillGood() throws SQLException {
        FencedLease lease = Grants.lease(TABLE.lock(id));
        RowClaim<Long> claim = rows.claim(lease, id, VALUE);
        // Whoever's lease is over waits for a second at most.
        lease.close();
        try (Connection blocker = transaction(database.sourceNamed("the blocker"))) {
            run(blocker, "UPDATE thing SET fence_token = ?, fence_holder = ? WHERE id = " + id, claim.token());

            assertThatThrownBy(() -> claim.update(value(7)))
                    .isInstanceOf(RetryableConflictException.class)
                    .hasMessageMatching("Update of .* refused: it was blocked for longer than 1000 ms, by pid \\d+,"
                            + " application_name 'the blocker'\\. Nothing of it happened\\. .*");
        }
        assertThat(last()).isEqualTo(WriteOutcome.RETRYABLE);
        claim.update(value(7));
        assertThat(stored()).isEqualTo("7");
    }

    // A driver that does not count.

    @Test
    void aCountThatTheDriverDoesNotKnowIsAnUnknownOutcome() throws SQLException {
        try (Connection connection = database.source().getConnection()) {
            RowClaim<Long> claim =
                    on(new BoundSource(uncounted(connection)).source()).claim(older, id, VALUE);

            assertThatThrownBy(() -> claim.update(value(7)))
                    .isInstanceOfSatisfying(
                            OutcomeUnknownException.class,
                            e -> assertThat(e.resolvable()).isFalse())
                    .hasMessage("Update of " + resource + " under token " + older
                            + " may have happened: the driver does not"
                            + " say how many rows were written, but -2. Read the row under its claim before the write is done"
                            + " again; a fence that is recorded() settles a lost answer by itself.");
            assertThat(last()).isEqualTo(WriteOutcome.UNKNOWN);
            assertThat(claim.read()).as("which tells").contains(7L);
            connection.setAutoCommit(false);
            assertThatThrownBy(() -> claim.in(uncounted(connection)).update(value(8)))
                    .isInstanceOf(OutcomeUnknownException.class)
                    .hasMessageContaining(
                            "may have happened: the driver does not say how many rows were written, but -2.");
        }
    }

    /** As a driver or a wrapper that rewrites statements: SUCCESS_NO_INFO. */
    private static Connection uncounted(Connection connection) {
        return proxy(Connection.class, connection, PreparedStatement.class);
    }

    private static <T> T proxy(Class<T> type, T target, Class<?> wrapped) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, args) -> {
            Object result;
            try {
                result = method.invoke(target, args);
            } catch (InvocationTargetException e) {
                throw e.getTargetException();
            }
            if (method.getName().equals("executeUpdate")) {
                return Statement.SUCCESS_NO_INFO;
            }
            return wrapped == PreparedStatement.class && result instanceof PreparedStatement statement
                    ? proxy(PreparedStatement.class, statement, void.class)
                    : result;
        }));
    }

    @Test
    void aReaderThatFailsIsTheUsersOwnAndTheClaimIsMade() throws SQLException {
        assertThatThrownBy(() -> rows.claim(older, id, row -> row.getLong("no such column")))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("no such column");
        assertThatThrownBy(() -> rows.claim(older, id, row -> {
                    throw new IllegalStateException("mine");
                }))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("mine");
        assertThat(rows.resume(older, id, VALUE).row()).contains(100L);
    }

    @Test
    void aReaderThatMakesNothingOfARowIsToldWhichRow() throws SQLException {
        RowReader<String> tag = row -> row.getString("tag");
        String message =
                "Reading of " + resource + " under token " + older + " refused: the row is there, and the reader"
                        + " made null of it, which would say that it is not. A claim that was under way is made. Return an object;"
                        + " for a column that may be null, an Optional of it.";
        assertThatThrownBy(() -> rows.claim(older, id, tag))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(message);
        assertThatThrownBy(() -> rows.resume(older, id, tag))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(message);
        assertThat(rows.resume(older, id, row -> Optional.ofNullable(row.getString("tag")))
                        .row())
                .contains(Optional.empty());
    }
}
