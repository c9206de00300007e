package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.fenceline.FencelineEvent.WriteEnded;
import dev.fenceline.FencelineEvent.WriteOutcome;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.RowMissingException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.TokenRejectedException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Row mode in transactions of the user's that look at one snapshot: what that does not show is to be tried again. */
@Tag("server")
@SuppressWarnings("resource") // Closed with its transaction.
class RowSnapshotTest extends OneRow {

    private static final String ALL = "{0}";

    @BeforeEach
    void another() {
        database.account(8, 100);
    }

    /** A transaction whose snapshot is taken, and which has written elsewhere. */
    private static Connection begun(String isolation) throws SQLException {
        Connection connection = transaction(database.source());
        connection.createStatement().execute("SET TRANSACTION ISOLATION LEVEL " + isolation);
        TestDatabase.write(connection, 8, 0);
        return connection;
    }

    private void isToBeRunAgain(Connection connection, String isolation, String step, String seen, ThrowingCallable use)
            throws SQLException {
        assertThatThrownBy(use)
                .isInstanceOf(RetryableConflictException.class)
                .hasMessage(
                        step + " of " + resource + " under token " + older + " refused: its transaction looks at a"
                                + " snapshot (" + isolation + ") from before the row was claimed, where " + seen
                                + ". Its transaction has failed: roll back, and run it again in one that begins after the claim.");
        connection.commit();
        assertThat(database.balance(8)).as("swallowed, and not committed").isEqualTo(100);
    }

    @ParameterizedTest(name = ALL)
    @ValueSource(strings = {"repeatable read", "serializable"})
    void aSnapshotFromBeforeTheClaimIsRunAgainAndThenWrites(String isolation) throws SQLException {
        for (String step : new String[] {"Update", "Delete", "Reading"}) {
            database.execute("UPDATE thing SET fence_token = 0, fence_holder = NULL WHERE id = " + id);
            try (Connection connection = begun(isolation)) {
                RowClaim<Long> claim = rows.claim(older, id, VALUE);
                RowClaim<Long> within = claim.in(connection);
                isToBeRunAgain(connection, isolation, step, "the row's mark is not set", () -> {
                    switch (step) {
                        case "Update" -> within.update(value(7));
                        case "Delete" -> within.delete();
                        default -> within.read();
                    }
                });
                connection.createStatement().execute("SET TRANSACTION ISOLATION LEVEL " + isolation);
                within.update(value(within.read().orElseThrow() + 1));
                connection.commit();
            }
        }
        assertThat(stored()).isEqualTo("103");
        assertThat(events.of(WriteEnded.class).stream().map(WriteEnded::outcome))
                .containsOnly(WriteOutcome.RETRYABLE)
                .hasSize(2);
    }

    @ParameterizedTest(name = ALL)
    @ValueSource(strings = {"repeatable read", "serializable"})
    void aRowThatCameAfterTheSnapshotAndWasClaimedThenIsNotTakenForMissing(String isolation) throws SQLException {
        for (String step : new String[] {"Update", "Reading"}) {
            remove();
            try (Connection connection = begun(isolation)) {
                database.execute("INSERT INTO thing (id, value) VALUES (" + id + ", 50)");
                RowClaim<Long> within = rows.claim(older, id, VALUE).in(connection);
                isToBeRunAgain(connection, isolation, step, "there is no such row", () -> {
                    if (step.equals("Update")) {
                        within.update(value(7));
                    } else {
                        within.read();
                    }
                });
                within.update(value(51));
                connection.commit();
            }
            assertThat(stored()).isEqualTo("51");
        }
    }

    @Test
    void theAgeOfASnapshotIsMeasuredWithTheServersOwnOperators() throws SQLException {
        database.execute("CREATE SCHEMA evil;"
                + " CREATE FUNCTION evil.never(timestamptz, timestamptz) RETURNS interval LANGUAGE sql"
                + " AS $$SELECT interval '-1 day'$$;"
                + " CREATE OPERATOR evil.- (LEFTARG = timestamptz, RIGHTARG = timestamptz, FUNCTION = evil.never)");
        try (Connection connection = begun("repeatable read")) {
            connection.createStatement().execute("SET LOCAL search_path = evil, pg_catalog");

            assertThat(RowSnapshot.of(connection).mayPrecede(Duration.ZERO)).isTrue();
        }
    }

    @ParameterizedTest(name = ALL)
    @ValueSource(strings = {"repeatable read", "serializable"})
    void aResumedClaimIsAsOldAsItsFirstAnswer(String isolation) throws SQLException {
        try (Connection connection = begun(isolation)) {
            rows.claim(older, id, VALUE);
            RowClaim<Long> resumed = rows.resume(older, id, VALUE);
            isToBeRunAgain(
                    connection,
                    isolation,
                    "Update",
                    "the row's mark is not set",
                    () -> resumed.in(connection).update(value(7)));
        }
    }

    @ParameterizedTest(name = ALL)
    @ValueSource(strings = {"repeatable read", "serializable"})
    void aRowThatAnotherTransactionOfTheClaimMadeAfterTheSnapshotIsNotTakenForMissing(String isolation)
            throws SQLException {
        remove();
        RowClaim<Long> claim = rows.claim(older, id, VALUE);
        for (boolean reads : new boolean[] {false, true}) {
            try (Connection connection = begun(isolation)) {
                claim.insert(value(50));
                assertThatThrownBy(() -> {
                            if (reads) {
                                claim.in(connection).read();
                            } else {
                                claim.in(connection).update(value(7));
                            }
                        })
                        .isInstanceOf(RetryableConflictException.class)
                        .hasMessageContaining(" of " + resource + " under token " + older
                                + " refused: ERROR: could not serialize access due to concurrent update (SQLSTATE 40001)."
                                + " Its transaction has failed: roll back, and run it again under the same claim");
            }
            claim.delete();
        }
    }

    /** As a caller does who is told to run it again: where the answers come fast, the first may still seem as old as the claim. */
    private Throwable certainAnswer(String isolation, RowClaim<Long> claim) throws SQLException {
        for (int runs = 0; runs < 50; runs++) {
            try (Connection connection = begun(isolation)) {
                Throwable told = catchThrowable(() -> claim.in(connection).update(value(7)));
                if (!(told instanceof RetryableConflictException)) {
                    connection.commit();
                    return told;
                }
            }
        }
        throw new AssertionError("50 transactions, one after the other, were all told to be as old as the claim");
    }

    @ParameterizedTest(name = ALL)
    @ValueSource(strings = {"repeatable read", "serializable"})
    void aSnapshotFromAfterTheClaimGivesTheCertainAnswer(String isolation) throws SQLException {
        RowClaim<Long> claim = rows.claim(older, id, VALUE);
        database.execute("UPDATE thing SET fence_token = 0, fence_holder = NULL WHERE id = " + id);
        assertThat(certainAnswer(isolation, claim))
                .as("the mark was overwritten")
                .isInstanceOf(TokenRejectedException.class);
        database.account(8, 100);
        remove();
        assertThat(certainAnswer(isolation, claim))
                .isInstanceOf(RowMissingException.class)
                .hasMessageContaining("it was removed without the fence, or was never claimed");
        assertThat(database.balance(8))
                .as("a missing row is the user's to judge")
                .isZero();
        rows.claim(newer, id, VALUE);
        assertThat(certainAnswer(isolation, claim)).isInstanceOf(StaleTokenException.class);
    }

    @Test
    void atReadCommittedATransactionFromBeforeTheClaimSeesIt() throws SQLException {
        try (Connection connection = begun("read committed")) {
            RowClaim<Long> within = rows.claim(older, id, VALUE).in(connection);
            within.update(value(within.read().orElseThrow() + 1));
            connection.commit();
        }
        assertThat(stored()).isEqualTo("101");
        assertThat(database.balance(8)).isZero();
    }

    @Test
    void onlyASnapshotThatLastsAndIsOlderThanTheAnswerMayPrecedeIt() {
        Duration ago = Duration.ofSeconds(1);
        assertThat(new RowSnapshot("repeatable read", Duration.ofMillis(999)).mayPrecede(ago))
                .isFalse();
        assertThat(new RowSnapshot("repeatable read", ago).mayPrecede(ago)).isTrue();
        assertThat(new RowSnapshot("serializable", Duration.ofMillis(1001)).mayPrecede(ago))
                .isTrue();
        assertThat(new RowSnapshot("read committed", Duration.ofHours(1)).mayPrecede(ago))
                .isFalse();
        assertThat(new RowSnapshot("read uncommitted", Duration.ofHours(1)).mayPrecede(ago))
                .isFalse();
    }
}
