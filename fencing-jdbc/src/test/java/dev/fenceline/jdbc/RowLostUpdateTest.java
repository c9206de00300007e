package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.RowExistsException;
import dev.fenceline.StaleTokenException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Row mode loses nothing, and each naive variant of one of its rules, on the same row, loses something. */
@Tag("server")
class RowLostUpdateTest extends OneRow {

    private int naively(String sql, FencingToken token) throws SQLException {
        try (Connection connection = database.source().getConnection()) {
            return run(connection, sql, token);
        }
    }

    // Read by the newer one, late write by the older one, write by the newer one.

    @Test
    void withClaimAndEqualityTheLateWriteIsRefused() throws SQLException {
        RowClaim<Long> a = rows.claim(older, id, VALUE);
        RowClaim<Long> b = rows.claim(newer, id, VALUE);

        assertThatThrownBy(() -> a.update(value(a.row().orElseThrow() + 10))).isInstanceOf(StaleTokenException.class);
        b.update(value(b.row().orElseThrow() + 20));

        assertThat(stored())
                .as("the refused 10 were never reported as accepted")
                .isEqualTo("120");
    }

    @Test
    void withWritesThatOnlyRefuseOlderTokensTheLateWriteIsAcceptedAndLost() throws SQLException {
        String write = "UPDATE thing SET value = %d, fence_token = ?, fence_holder = ? WHERE id = " + id
                + " AND fence_token <= %d";
        long readByA = Long.parseLong(stored());
        long readByB = Long.parseLong(stored());

        assertThat(naively(String.format(write, readByA + 10, older.value()), older))
                .isEqualTo(1);
        assertThat(naively(String.format(write, readByB + 20, newer.value()), newer))
                .isEqualTo(1);

        assertThat(stored()).as("10 of A's were accepted and are gone").isEqualTo("120");
    }

    @Test
    void blindWritesDoNotSaveWhoReadsWithoutAClaim() throws SQLException {
        // What blind() says that it does not prevent.
        long readByB = Long.parseLong(stored());
        rows.blind(older, id).update(RowValues.ofSql("value", "value + ?", 10));
        rows.blind(newer, id).update(value(readByB + 20));

        assertThat(stored()).isEqualTo("120");
    }

    // The claim of a row that is being inserted.

    private static final String GUARD = "INSERT INTO fenceline.guard AS g (lock, token, holder, claimed_at, claimed_by)"
            + " VALUES ('%s', %d, '%s', now(), '') ON CONFLICT (lock) DO UPDATE SET token = excluded.token,"
            + " holder = excluded.holder WHERE g.token < excluded.token RETURNING 1";

    @Test
    void guardAndClaimInOneStatementMissTheRowThatTheyWaitedFor() throws Exception {
        remove();
        String both = "WITH g AS (" + String.format(GUARD, newer.lock(), newer.value(), newer.holder())
                + "), c AS (UPDATE thing SET fence_token = ?, fence_holder = ? WHERE id = " + id
                + " AND EXISTS (SELECT 1 FROM g) RETURNING 1) SELECT count(*) FROM c";
        RowClaim<Long> current = rows.claim(older, id, VALUE);
        try (Connection connection = transaction(database.source());
                Connection naive = database.sourceNamed("naive").getConnection()) {
            current.in(connection).insert(value(1));
            Future<Integer> found = threads.submit(() -> {
                try (var statement = naive.prepareStatement(both)) {
                    statement.setLong(1, newer.value());
                    statement.setObject(2, newer.holder());
                    try (var count = statement.executeQuery()) {
                        count.next();
                        return count.getInt(1);
                    }
                }
            });
            database.awaitLockWait("naive");
            connection.commit();

            assertThat(found.get(20, TimeUnit.SECONDS))
                    .as("rows that the naive claim found")
                    .isZero();
        }
        assertThat(stored())
                .as("but there is one, and its mark is the older one")
                .isEqualTo("1");
        current.update(value(2));
        assertThat(stored()).as("which goes on writing behind the newer claim").isEqualTo("2");
    }

    @Test
    void aClaimThatWaitedForAnInsertFindsTheRow() throws Exception {
        remove();
        RowClaim<Long> current = rows.claim(older, id, VALUE);
        try (Connection connection = transaction(database.source())) {
            current.in(connection).insert(value(1));
            Future<RowClaim<Long>> newcomer =
                    threads.submit(() -> named("newer").claim(newer, id, VALUE));
            database.awaitLockWait("newer");
            connection.commit();
            assertThat(newcomer.get(20, TimeUnit.SECONDS).row()).contains(1L);
        }
        assertThatThrownBy(() -> current.update(value(2))).isInstanceOf(StaleTokenException.class);
    }

    // A deleted row, and a writer from before.

    @Test
    void aRowDeletedPastTheGuardComesBackUnderAnOlderToken() throws SQLException {
        RowClaim<Long> old = rows.claim(older, id, VALUE);
        rows.claim(newer, id, VALUE);
        assertThat(naively("DELETE FROM thing WHERE id = " + id + " AND fence_token = ? AND fence_holder = ?", newer))
                .isEqualTo(1);

        old.insert(value(old.row().orElseThrow()));

        assertThat(stored()).as("what was deleted under the newer token").isEqualTo("100");
    }

    @Test
    void aRowDeletedWithTheGuardDoesNotComeBackUnderAnOlderToken() throws SQLException {
        RowClaim<Long> old = rows.claim(older, id, VALUE);
        rows.claim(newer, id, VALUE).delete();

        assertThatThrownBy(() -> old.insert(value(100))).isInstanceOf(StaleTokenException.class);
        assertThatThrownBy(() -> rows.blind(older, id).upsert(value(100))).isInstanceOf(StaleTokenException.class);

        assertThat(stored()).isEqualTo("none");
    }

    @Test
    void aDeletionPastTheFenceIsMadeGoodByTheTriggerThatKeepsMarks() throws SQLException {
        TestDatabase kept = TestDatabase.create();
        kept.execute("CREATE TABLE thing (id bigint PRIMARY KEY, value bigint, fence_token bigint NOT NULL DEFAULT 0,"
                + " fence_holder uuid); SELECT fenceline.keep_marks_v1('thing', 'thing', 'id'); INSERT INTO thing VALUES ("
                + id
                + ", 100)");
        PostgresRows<Long> withTrigger = on(kept.source());
        RowClaim<Long> old = withTrigger.claim(older, id, VALUE);
        withTrigger.claim(newer, id, VALUE);

        kept.execute("DELETE FROM thing");

        assertThatThrownBy(() -> old.insert(value(100)))
                .isInstanceOfSatisfying(
                        StaleTokenException.class, e -> assertThat(e.newest()).isEqualTo(newer));
        assertThat(kept.number("SELECT count(*) FROM thing")).isZero();
        // A fenced deletion goes through the same trigger, and finds the guard as it is to be.
        RowClaim<Long> last = withTrigger.claim(Grants.next(older.lock()), id, VALUE);
        last.insert(value(1));
        last.delete();
        assertThat(kept.mark(last.token())).isEqualTo(last.token());
    }

    // An insert of a row that is there.

    @Test
    void anInsertThatDoesNothingOnConflictReportsSuccessAndWritesNothing() throws SQLException {
        naively(
                "WITH g AS (" + String.format(GUARD, older.lock(), older.value(), older.holder())
                        + ") INSERT INTO thing (id, value, fence_token, fence_holder) SELECT " + id
                        + ", 7, ?, ? WHERE EXISTS (SELECT 1 FROM g) ON CONFLICT (id) DO NOTHING",
                older);

        assertThat(stored()).as("no exception, and not 7").isEqualTo("100");
        assertThat(database.mark(older)).as("as if it had been let in").isEqualTo(older);
    }

    @Test
    void anInsertOfARowThatIsThereSaysSo() throws SQLException {
        RowClaim<Long> claim = rows.claim(older, id, VALUE);

        assertThatThrownBy(() -> claim.insert(value(7)))
                .isInstanceOf(RowExistsException.class)
                .hasMessage("Insert of " + resource + " under token " + older
                        + " refused: the row exists, and its mark is " + older
                        + ". Nothing happened. Read it under a claim and update it, or use upsert.")
                .hasCauseInstanceOf(SQLException.class);
        assertThat(stored()).isEqualTo("100");
    }

    // Two rows under one lock, of which one is to stay at least as great as the other.

    private PostgresRows<Long> underOneLock() {
        FencedTable<Long> pairs = FencedTable.of("thing").key("id", key -> LockName.of("thing", Math.abs(key)));
        database.execute("INSERT INTO thing (id, value) VALUES (" + -id + ", 100)");
        return PostgresRows.on(database.source(), pairs).listener(events);
    }

    @Test
    void aClaimOfOneRowKeepsNobodyFromTheOthersUnderItsLock() throws SQLException {
        PostgresRows<Long> pairs = underOneLock();
        RowClaim<Long> a = pairs.claim(older, -id, VALUE);
        // Naively: locked, so the other row is thought to be safe too.
        RowClaim<Long> b = pairs.claim(newer, id, VALUE);
        long limit = database.number("SELECT value FROM thing WHERE id = " + -id);

        a.update(value(10));
        b.update(value(limit));

        assertThat(stored()).as("of 10 that are there").isEqualTo("100");
    }

    @Test
    void whoClaimsAllRowsUnderOneLockBeforeTheFirstReadLosesNothing() throws SQLException {
        PostgresRows<Long> pairs = underOneLock();
        RowClaim<Long> a = pairs.claim(older, -id, VALUE);
        RowClaim<Long> b = pairs.claim(newer, id, VALUE);
        RowClaim<Long> limit = pairs.claim(newer, -id, VALUE);

        assertThatThrownBy(() -> a.update(value(10))).isInstanceOf(StaleTokenException.class);
        b.update(value(limit.row().orElseThrow()));

        assertThat(stored()).isEqualTo("100");
        assertThat(database.number("SELECT value FROM thing WHERE id = " + -id)).isEqualTo(100);
    }

    @Test
    void theCommonMarkOfRowsThatAreNotThereRefusesMoreAndAdmitsNoMore() throws SQLException {
        PostgresRows<Long> pairs = underOneLock();
        database.execute("DELETE FROM thing WHERE abs(id) = " + id);
        RowClaim<Long> a = pairs.claim(older, -id, VALUE);
        pairs.claim(newer, id, VALUE);

        assertThatThrownBy(() -> a.insert(value(1)))
                .as("its row was not claimed by the newer one, and is under the same lock")
                .isInstanceOf(StaleTokenException.class);
        assertThatThrownBy(() -> pairs.blind(older, id).insert(value(1))).isInstanceOf(StaleTokenException.class);
    }
}
