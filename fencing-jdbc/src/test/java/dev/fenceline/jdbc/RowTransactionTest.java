package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineEvent.WriteEnded;
import dev.fenceline.FencelineEvent.WriteOutcome;
import dev.fenceline.LockName;
import dev.fenceline.RowExistsException;
import dev.fenceline.RowMissingException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.TokenRejectedException;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;
import org.postgresql.core.TransactionState;
import org.postgresql.jdbc.AutoSave;

/** Statements of row mode in a transaction of the user's. */
@Tag("server")
class RowTransactionTest extends OneRow {

    @Test
    void whatIsWrittenTakesEffectWithTheTransaction() throws SQLException {
        RowClaim<Long> claim = rows.claim(older, id, VALUE);
        try (Connection connection = transaction(database.source())) {
            RowClaim<Long> within = claim.in(connection);
            within.update(value(1));
            within.delete();
            within.insert(value(2));
            within.upsert(value(3));
            assertThat(within.read()).contains(3L);
            assertThat(within.row()).as("what was read at the claim").contains(100L);
            connection.rollback();
            assertThat(stored()).isEqualTo("100");
            within.update(RowValues.ofSql("value", "value + ?", 5));
            assertThat(stored()).isEqualTo("100");
            connection.commit();
        }
        assertThat(stored()).isEqualTo("105");
        assertThat(events.of(WriteEnded.class))
                .as("whether it is committed is not ours to tell")
                .isEmpty();
    }

    @Test
    void aTransactionInWhichAStaleWriterWasRefusedCannotCommit() throws SQLException {
        RowClaim<Long> claim = rows.claim(older, id, VALUE);
        rows.claim(newer, id, VALUE);
        database.account(5, 100);
        try (Connection connection = transaction(database.source())) {
            TestDatabase.write(connection, 5, 0);
            assertThatThrownBy(() -> claim.in(connection).update(value(7)))
                    .isInstanceOf(StaleTokenException.class)
                    .hasMessageStartingWith("Update on " + resource + " refused: token " + older);
            connection.commit();
        }
        assertThat(database.balance(5)).as("swallowed, and not committed").isEqualTo(100);
        assertThat(events.of(WriteEnded.class).stream().map(WriteEnded::outcome))
                .containsExactly(WriteOutcome.STALE);
    }

    @Test
    void aStaleReaderIsRefusedAndCannotCommitEither() throws SQLException {
        RowClaim<Long> claim = rows.claim(older, id, VALUE);
        rows.claim(newer, id, VALUE);
        database.account(6, 100);
        try (Connection connection = transaction(database.source())) {
            TestDatabase.write(connection, 6, 0);
            assertThatThrownBy(() -> claim.in(connection).read())
                    .isInstanceOf(StaleTokenException.class)
                    .hasMessageStartingWith("Reading on " + resource + " refused: ");
            connection.commit();
        }
        assertThat(database.balance(6)).isEqualTo(100);
    }

    @Test
    void aMissingRowLeavesTheTransactionUsable() throws SQLException {
        RowClaim<Long> claim = rows.claim(older, id, VALUE);
        claim.delete();
        try (Connection connection = transaction(database.source())) {
            RowClaim<Long> within = claim.in(connection);
            assertThat(within.read()).isEmpty();
            assertThatThrownBy(() -> within.update(value(7))).isInstanceOf(RowMissingException.class);
            within.insert(value(8));
            connection.commit();
        }
        assertThat(stored()).isEqualTo("8");
    }

    @Test
    void anExistingRowIsToldByTheNameOfTheKey() throws SQLException {
        RowClaim<Long> claim = rows.claim(older, id, VALUE);
        String tag = "taken " + id;
        database.execute("INSERT INTO thing (id, value, tag) VALUES (" + -id + ", 1, '" + tag + "')");
        try (Connection connection = transaction(database.source())) {
            assertThatThrownBy(() -> claim.in(connection).insert(value(7)))
                    .isInstanceOf(RowExistsException.class)
                    .hasMessage("Insert of " + resource + " under token " + older + " refused: the row exists, and the"
                            + " transaction has failed. Nothing happened. Read it under a claim and update it, or use"
                            + " upsert.");
            connection.rollback();
            claim.in(connection).delete();
            assertThatThrownBy(() -> claim.in(connection).insert(value(7).and("tag", tag)))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("thing_tag_key");
        }
        assertThat(stored()).isEqualTo("100");
    }

    @Test
    void theKeyOfAPartitionIsKnownToo() throws SQLException {
        database.execute(
                "CREATE TABLE parted (id bigint PRIMARY KEY, value bigint, fence_token bigint NOT NULL DEFAULT 0,"
                        + " fence_holder uuid) PARTITION BY HASH (id); CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH"
                        + " (MODULUS 2, REMAINDER 0); CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1)");
        FencedTable<Long> parted = FencedTable.of("parted").key("id", key -> LockName.of("thing", key));
        RowClaim<Long> claim =
                PostgresRows.on(database.source(), parted).listener(events).claim(older, id, VALUE);
        claim.insert(value(1));
        claim.update(value(2));
        claim.upsert(value(3));
        try (Connection connection = transaction(database.source())) {
            assertThatThrownBy(() -> claim.in(connection).insert(value(7))).isInstanceOf(RowExistsException.class);
        }
        claim.delete();
        assertThat(claim.read()).isEmpty();
    }

    @Test
    void aTokenThatWasNeverClaimedIsRejected() throws SQLException {
        RowClaim<Long> claim = rows.claim(older, id, VALUE);
        database.execute("UPDATE thing SET fence_token = 0, fence_holder = NULL WHERE id = " + id);
        try (Connection connection = transaction(database.source())) {
            assertThatThrownBy(() -> claim.in(connection).update(value(7))).isInstanceOf(TokenRejectedException.class);
            assertThatThrownBy(() -> claim.in(connection).read()).isInstanceOf(TokenRejectedException.class);
        }
    }

    @Test
    void autoCommitIsRefusedBeforeAnythingIsSent() throws SQLException {
        RowClaim<Long> claim = rows.claim(older, id, VALUE);
        try (Connection connection = database.source().getConnection()) {
            assertThatThrownBy(() -> claim.in(connection).update(value(7)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage(
                            "Update of " + resource
                                    + " refused: the connection is in auto-commit, where each statement is"
                                    + " a transaction of its own. Nothing was sent; begin a transaction, or leave out in(...).");
            assertThatThrownBy(() -> claim.in(connection).read()).isInstanceOf(IllegalStateException.class);
        }
        assertThat(stored()).isEqualTo("100");
    }

    @Test
    void aDriverThatTakesBackEachFailureIsRefusedBeforeAnythingIsSent() throws SQLException {
        RowClaim<Long> claim = rows.claim(older, id, VALUE);
        var source = database.sourceNamed("autosaving");
        source.setAutosave(AutoSave.ALWAYS);
        try (Connection connection = transaction(source)) {
            assertThatThrownBy(() -> claim.in(connection).update(value(7)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("Update of " + resource + " refused: the driver's autosave=always rolls back each"
                            + " statement that fails alone, so a transaction in which this is refused could be committed."
                            + " Nothing was sent; set autosave=never.");
            assertThatThrownBy(() -> claim.in(connection).read()).isInstanceOf(IllegalStateException.class);
            assertThat(Session.transactionState(connection)).isEqualTo(TransactionState.IDLE);
            connection.unwrap(PGConnection.class).setAutosave(AutoSave.CONSERVATIVE);
            claim.in(connection).update(value(8));
            connection.commit();
        }
        assertThat(stored()).isEqualTo("8");
    }

    /** Why it is refused: the driver makes good what was to spoil the transaction. */
    @Test
    void withAutosaveAFailedStatementLeavesATransactionThatCommits() throws SQLException {
        var source = database.sourceNamed("autosaving");
        source.setAutosave(AutoSave.ALWAYS);
        try (Connection connection = transaction(source)) {
            connection.createStatement().execute("UPDATE thing SET value = 7 WHERE id = " + id);
            assertThatThrownBy(() ->
                            connection.createStatement().execute("SELECT fenceline.refuse_row_v1('thing', '', 1, '2')"))
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("FL001"));
            connection.commit();
        }
        assertThat(stored()).as("accepted, although it was refused").isEqualTo("7");
    }

    @Test
    void aLostConnectionBeforeTheCommitWroteNothing() throws SQLException {
        RowClaim<Long> claim = rows.claim(older, id, VALUE);
        try (Connection connection = transaction(database.sourceNamed("victim"))) {
            claim.in(connection).update(value(7));
            database.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'victim'");
            assertThatThrownBy(() -> claim.in(connection).update(value(8)))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageStartingWith(
                            "Update under token " + older + " on " + resource + " failed, the connection was lost: ")
                    .hasMessageEndingWith(" Nothing of it happened; try again under the same claim.");
        }
        assertThat(stored()).isEqualTo("100");
    }

    @Test
    void aRowIsWrittenInsideAFencedTransactionOfTheSameToken() throws SQLException {
        Claim<Connection> unit =
                PostgresFence.on(database.source()).listener(events).claim(older);
        RowClaim<Long> claim = rows.claim(older, id, VALUE);
        unit.useTransaction(connection -> claim.in(connection).update(value(7)));
        assertThat(stored()).isEqualTo("7");

        rows.claim(newer, id, VALUE);
        assertThatThrownBy(() ->
                        unit.useTransaction(connection -> claim.in(connection).update(value(8))))
                .isInstanceOf(StaleTokenException.class);
        assertThat(stored()).isEqualTo("7");
    }
}
