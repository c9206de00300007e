package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The rules that the database keeps by itself, whoever calls. */
@Tag("server")
class GuardSchemaTest {

    private static final String ME = "'00000000-0000-0000-0000-000000000001'";
    private static final String OTHER = "'00000000-0000-0000-0000-000000000002'";
    private static final String MARK = "SELECT token || ' ' || right(holder::text, 1) FROM fenceline.guard";

    Database database;

    @BeforeEach
    void claimed() {
        database = Database.prepared();
        claim(10, ME);
    }

    List<String> claim(long token, String holder) {
        return database.rows("SELECT admitted || ' ' || newest_token || ' ' || right(newest_holder::text, 1)"
                + " FROM fenceline.claim_v1('account:1', " + token + ", " + holder + ", 1000)");
    }

    @Test
    void aClaimIsAdmittedIffItIsNewerOrTheMarkItself() {
        assertThat(claim(10, ME)).containsExactly("true 10 1");
        assertThat(claim(10, OTHER)).containsExactly("false 10 1");
        assertThat(claim(9, OTHER)).containsExactly("false 10 1");
        assertThat(claim(11, OTHER)).containsExactly("true 11 2");
        assertThat(claim(10, ME)).containsExactly("false 11 2");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "UPDATE | UPDATE fenceline.guard SET token = 9",
                "UPDATE | UPDATE fenceline.guard SET holder = '00000000-0000-0000-0000-000000000002'",
                "UPDATE | UPDATE fenceline.guard SET lock = 'account:2'",
                "DELETE | DELETE FROM fenceline.guard",
                "DELETE | DELETE FROM fenceline.guard WHERE false",
                "TRUNCATE | TRUNCATE fenceline.guard",
                "UPDATE | SET session_replication_role = replica; UPDATE fenceline.guard SET token = 9",
                "DELETE | SET session_replication_role = replica; DELETE FROM fenceline.guard",
                "TRUNCATE | SET session_replication_role = replica; TRUNCATE fenceline.guard",
            })
    void noMarkIsLoweredHandedOverOrRemovedEvenByTheOwner(String operation, String sql) {
        assertThatThrownBy(() -> Database.run(database.source(), sql))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("FL005"))
                .hasMessageContaining(
                        operation + " on fenceline.guard refused: a mark is never lowered, handed to another"
                                + " holder or removed");
        assertThat(database.rows(MARK)).containsExactly("10 1");
    }

    @Test
    void withoutItsTriggersTheTableWouldForgetAMark() {
        database.execute("DROP TRIGGER keep_mark ON fenceline.guard; DROP TRIGGER keep_row ON fenceline.guard;"
                + " DROP TRIGGER keep_table ON fenceline.guard");

        database.execute("UPDATE fenceline.guard SET token = 9");
        assertThat(database.rows(MARK)).containsExactly("9 1");
        database.execute("DELETE FROM fenceline.guard");
        assertThat(claim(1, OTHER)).containsExactly("true 1 2");
        database.execute("TRUNCATE fenceline.guard");
        assertThat(database.rows(MARK)).isEmpty();
    }

    @Test
    void aRaisedMarkIsAllowedToAnAdministrator() {
        database.execute("UPDATE fenceline.guard SET token = 20, holder = " + OTHER);

        assertThat(database.rows(MARK)).containsExactly("20 2");
    }

    @ParameterizedTest
    @CsvSource({"0", "-1", "9007199254740992"})
    void aTokenOutsideOfItsRangeIsNoMark(long token) {
        assertThatThrownBy(() -> Database.run(
                        database.source(),
                        "INSERT INTO fenceline.guard VALUES ('x', " + token + ", " + ME + ", now(), '')"))
                .hasMessageContaining("violates check constraint");
    }

    @Test
    void aClaimPrunesSomeOldOperationsAndNoYoungOnes() {
        database.execute(
                "INSERT INTO fenceline.operation SELECT gen_random_uuid(), now() - interval '9 days', 'applied'"
                        + " FROM generate_series(1, 30)");
        database.execute(
                "INSERT INTO fenceline.operation VALUES (gen_random_uuid(), now() - interval '7 days 12 hours',"
                        + " 'applied')");

        claim(11, ME);
        assertThat(database.rows("SELECT count(*) FROM fenceline.operation")).containsExactly("11");
        claim(12, ME);
        assertThat(database.rows("SELECT count(*) FROM fenceline.operation")).containsExactly("1");
    }

    @Test
    void eachTransactionPrunesTwoForTheOneThatItAdds() {
        database.execute(
                "INSERT INTO fenceline.operation SELECT gen_random_uuid(), now() - interval '9 days', 'applied'"
                        + " FROM generate_series(1, 45)");
        for (int i = 0; i < 25; i++) {
            database.execute("SELECT fenceline.leave_v1(gen_random_uuid(), pg_current_xact_id()::text, now())");
        }

        assertThat(database.rows(
                        "SELECT count(*) FROM fenceline.operation WHERE entered_at > now() - interval '1 day'"))
                .containsExactly("25");
        assertThat(database.rows(
                        "SELECT count(*) FROM fenceline.operation WHERE entered_at < now() - interval '8 days'"))
                .containsExactly("0");
    }

    @Test
    void aTransactionAboveReadCommittedDoesNotFailForAnotherOneThatPrunes() throws SQLException {
        database.execute(
                "INSERT INTO fenceline.operation SELECT gen_random_uuid(), now() - interval '9 days', 'applied'"
                        + " FROM generate_series(1, 5)");
        try (Connection connection = database.source().getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            statement.execute("SELECT 1 FROM fenceline.operation");
            claim(11, ME);
            statement.execute("SELECT fenceline.leave_v1(gen_random_uuid(), pg_current_xact_id()::text, now())");
            connection.commit();
        }
        assertThat(database.rows("SELECT count(*) FROM fenceline.operation")).containsExactly("1");
    }

    @Test
    void anOperationOlderThanItsRecordsIsTooOldAndNeverRuledOut() {
        assertThat(database.rows("SELECT fenceline.resolve_v1(" + ME + ", now() - interval '7 days 1 minute', 1000)"))
                .containsExactly("too old");
        assertThat(database.rows("SELECT count(*) FROM fenceline.operation")).containsExactly("0");
        assertThat(database.rows("SELECT fenceline.resolve_v1(" + ME + ", now() - interval '6 days', 1000)"))
                .containsExactly("never");
    }

    @Test
    void aTransactionThatEnteredLongAgoCannotLeaveSinceAVerdictOnItMayBePruned() {
        assertThatThrownBy(() -> Database.run(
                        database.source(),
                        "SELECT fenceline.leave_v1(" + ME + ", pg_current_xact_id()::text, now() - interval '8 days')"))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("FL007"))
                .hasMessageContaining("Commit refused: the transaction entered more than 7 days ago");
    }

    @Test
    void enteringShortensTimeoutsForItsTransactionAndNeverLengthensThem() throws SQLException {
        try (Connection connection = database.source().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SET lock_timeout = '1min'; SET idle_in_transaction_session_timeout = '300ms'");
            // Servers before 17 have no limit for a whole transaction, and entering asks them for none.
            boolean limitsTransactions = database.server().majorVersion() >= 17;
            if (limitsTransactions) {
                statement.execute("SET transaction_timeout = '2h'");
            }
            connection.setAutoCommit(false);
            statement.execute("SELECT * FROM fenceline.enter_v1('account:1', 10, " + ME + ", 2500, 60000)");
            assertThat(setting(statement, "lock_timeout")).isEqualTo("2500ms");
            assertThat(setting(statement, "idle_in_transaction_session_timeout"))
                    .isEqualTo("300ms");
            assertThat(setting(statement, "tcp_user_timeout")).isEqualTo("2500");
            if (limitsTransactions) {
                assertThat(setting(statement, "transaction_timeout")).isEqualTo("1min");
            }
            connection.commit();
            assertThat(setting(statement, "lock_timeout")).isEqualTo("1min");
            assertThat(setting(statement, "tcp_user_timeout")).isEqualTo("0");
            statement.execute("SET tcp_user_timeout = 700");
            connection.commit();
            statement.execute("SELECT * FROM fenceline.enter_v1('account:1', 10, " + ME + ", 2500, 60000)");
            assertThat(setting(statement, "tcp_user_timeout")).isEqualTo("700");
        }
    }

    @Test
    void aHostileSearchPathChangesNothing() {
        database.execute("CREATE SCHEMA evil;"
                + " CREATE FUNCTION evil.pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS 'SELECT true';"
                + " ALTER DATABASE \"" + database.name() + "\" SET search_path = evil, pg_catalog");

        assertThat(database.rows("SELECT pg_is_in_recovery()")).containsExactly("t");
        assertThat(claim(11, ME)).containsExactly("true 11 1");
    }

    private static String setting(Statement statement, String name) throws SQLException {
        try (var row = statement.executeQuery("SHOW " + name)) {
            row.next();
            return row.getString(1);
        }
    }
}
