package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The rules of the functions for several locks, for sharing, for reading and for one statement. */
@Tag("server")
class GuardFormsTest {

    private static final String ME = "'00000000-0000-0000-0000-000000000001'";
    private static final String BOTH =
            "ARRAY['a', 'b'], ARRAY[10, 11]::bigint[], ARRAY[" + ME + ", " + ME + "]::uuid[]";

    Database database;

    @BeforeEach
    void claimed() {
        database = Database.prepared();
        database.rows("SELECT claimed_at FROM fenceline.claim_v2(" + BOTH + ", 1000)");
    }

    private static String claim(long a, long b) {
        return "SELECT claimed_at FROM fenceline.claim_v2(ARRAY['a', 'b'], ARRAY[" + a + ", " + b
                + "]::bigint[], ARRAY[" + ME + ", " + ME + "]::uuid[], 1000)";
    }

    @Test
    void aClaimRaisesAllMarksOrNone() {
        assertThatThrownBy(() -> Database.run(database.source(), claim(20, 5)))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("FL001"))
                .hasMessageContaining("Claim of token 5/00000000 on lock 'b' refused: the mark is token 11/00000000")
                .hasMessageContaining("Detail: 2 11 00000000-0000-0000-0000-000000000001");
        assertThat(database.rows("SELECT token FROM fenceline.guard ORDER BY lock"))
                .containsExactly("10", "11");
        database.rows(claim(20, 11));
        assertThat(database.rows("SELECT token FROM fenceline.guard ORDER BY lock"))
                .containsExactly("20", "11");
    }

    @Test
    void aTokenFromTheFarFutureRefusesAllAndIsNumbered() {
        assertThatThrownBy(() -> Database.run(database.source(), claim(20, 1L << 52)))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("FL004"))
                .hasMessageContaining(
                        "Claim of token 4503599627370496/00000000 on lock 'b' refused: it is more than 25 h ahead")
                .hasMessageContaining("Detail: 2 ");
        assertThat(database.rows("SELECT token FROM fenceline.guard ORDER BY lock"))
                .containsExactly("10", "11");
    }

    @Test
    void enteringComparesEveryMark() {
        for (String function : new String[] {"enter_v2", "enter_concurrent_v1", "enter_reading_v1"}) {
            String stale = BOTH.replace("11", "9");
            assertThat(database.rows("SELECT begun_at FROM fenceline." + function + "(" + BOTH + ", 1000, 1000)"))
                    .hasSize(1);
            assertThatThrownBy(() -> Database.run(
                            database.source(), "SELECT * FROM fenceline." + function + "(" + stale + ", 1000, 1000)"))
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("FL001"))
                    .hasMessageContaining(
                            "Fenced work under token 9 of lock 'b' refused: the mark is token 11/00000000");
        }
    }

    @Test
    void whoEnteredByReadingLeavesInTheSameTransactionOnly() throws SQLException {
        try (Connection connection = database.source().getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            String begun;
            try (var row = statement.executeQuery(
                    "SELECT begun_at, has_snapshot FROM fenceline.enter_reading_v1(" + BOTH + ", 1000, 1000)")) {
                row.next();
                begun = row.getString(1);
                assertThat(row.getBoolean(2)).as("READ COMMITTED has none").isFalse();
            }
            statement.execute("SELECT fenceline.leave_reading_v1(" + BOTH + ", '" + begun + "')");
            connection.commit();
            assertThatThrownBy(
                            () -> statement.execute("SELECT fenceline.leave_reading_v1(" + BOTH + ", '" + begun + "')"))
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("FL006"))
                    .hasMessageContaining("End refused: a transaction begun at");
        }
    }

    @Test
    void aStatementThatSawAnOlderVersionOfAMarkIsRefused() {
        String seen =
                database.rows("SELECT fenceline.seen_v1(ARRAY['a', 'b'])::text").get(0);
        String hold = "SELECT held_at FROM fenceline.hold_v1(" + BOTH + ", 1000, 1000, ";
        assertThat(database.rows(hold + "'" + seen + "'::xid[])")).hasSize(1);

        assertThatThrownBy(() -> Database.run(database.source(), hold + "'" + seen + "'::xid[])"))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("40001"))
                .hasMessageContaining(
                        "Another transaction under token 10 of lock 'a' has ended since this statement began");
        assertThat(database.rows(hold + "fenceline.seen_v1(ARRAY['a', 'b']))")).hasSize(1);
    }

    @Test
    void aStatementThatFindsNoMarkToHoldIsStaleOrLate() {
        String refuse = "SELECT fenceline.refuse_held_v1('a', %d, (SELECT newest_holder FROM fenceline.mark_v1('a')))";

        assertThatThrownBy(() -> Database.run(database.source(), refuse.formatted(9)))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("FL001"))
                .hasMessageContaining("Fenced work under token 9 of lock 'a' refused: the mark is token 10/00000000");
        assertThatThrownBy(() -> Database.run(database.source(), refuse.formatted(10)))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("40001"))
                .hasMessageContaining(
                        "Another transaction under token 10 of lock 'a' has ended since this statement began");
    }

    @ParameterizedTest
    @CsvSource({"0, 2s, 3s", "50ms, 50ms, 50ms", "1min, 2s, 3s"})
    void aStatementShortensTheLimitsOfItsSessionForItself(String before, String waits, String lasts)
            throws SQLException {
        try (Connection connection = database.source().getConnection();
                Statement statement = connection.createStatement()) {
            boolean hasTransactionLimit = number(statement, "SHOW server_version_num") >= 170000;
            statement.execute("SET lock_timeout = '" + before + "'");
            if (hasTransactionLimit) {
                statement.execute("SET transaction_timeout = '" + before + "'");
            }
            String limit = "SELECT fenceline.limit_statement_v1(2000, 3000)::text";
            String shown = ", current_setting('lock_timeout'), current_setting('transaction_timeout', true)";

            try (var row = statement.executeQuery(limit + shown)) {
                row.next();
                assertThat(row.getString(2)).isEqualTo(waits);
                assertThat(row.getString(3)).isEqualTo(hasTransactionLimit ? lasts : null);
            }
            try (var row = statement.executeQuery("SHOW lock_timeout")) {
                row.next();
                assertThat(row.getString(1)).as("afterwards").isEqualTo(before);
            }
        }
    }

    private static int number(Statement statement, String sql) throws SQLException {
        try (var row = statement.executeQuery(sql)) {
            row.next();
            return row.getInt(1);
        }
    }

    @Test
    void aStatementOnWhatTheServerToldLongAgoLeavesNoRecord() {
        assertThatThrownBy(() -> Database.run(
                        database.source(),
                        "SELECT fenceline.record_v1(" + ME + ", now() - interval '7 days 1 minute', 1)"))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("FL007"))
                .hasMessageContaining("it was sent on what this server told more than 7 days ago");
        database.rows("SELECT fenceline.record_v1(" + ME + ", now() - interval '6 days', 3)");
        assertThat(database.rows("SELECT fenceline.changed_v1(" + ME + ")")).containsExactly("3");
        assertThat(database.rows("SELECT fenceline.resolve_v1(" + ME + ", now() - interval '6 days', 1000)"))
                .containsExactly("applied");
    }

    @Test
    void theFunctionsOfTheFirstVersionGoOn() {
        assertThat(database.rows("SELECT admitted FROM fenceline.claim_v1('a', 12, " + ME + ", 1000)"))
                .containsExactly("t");
        assertThat(database.rows("SELECT entered_xid FROM fenceline.enter_v1('a', 12, " + ME + ", 1000, 1000)"))
                .hasSize(1);
        assertThat(database.rows("SELECT fenceline.version_v1()")).containsExactly("5");
    }
}
