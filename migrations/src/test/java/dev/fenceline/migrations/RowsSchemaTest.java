package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.LockName;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the database does for row mode by itself. */
@Tag("server")
class RowsSchemaTest {

    private static final String ME = "'00000000-0000-0000-0000-000000000001'";

    Database database;

    @BeforeEach
    void install() {
        database = Database.prepared();
        database.execute("CREATE SCHEMA bank; CREATE TABLE bank.account (id bigint, part text, other numeric,"
                + " fence_token bigint NOT NULL DEFAULT 0, fence_holder uuid, PRIMARY KEY (id, part))");
    }

    private void insert(long id, String part, long token) {
        database.execute("INSERT INTO bank.account VALUES (" + id + ", '" + part.replace("'", "''") + "', 0, " + token
                + ", " + (token == 0 ? "NULL" : ME) + ")");
    }

    private List<String> marks() {
        return database.rows(
                "SELECT lock || ' ' || token || ' ' || right(holder::text, 1) FROM fenceline.guard ORDER BY 1");
    }

    /** To read the row as jsonb would call the first, to store its number as it is the second. */
    @Test
    void aTableOwnersOwnCastNeverRunsWithTheRightsOfTheFence() throws SQLException {
        String owner = database.newRole("row_caster_");
        database.execute("CREATE SCHEMA casts AUTHORIZATION " + owner);
        FenceMigrations.on(database.source()).grantProtectionTo(owner);
        try (Connection connection = database.as(owner).getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TYPE casts.kind AS ENUM ('9');"
                    + " CREATE FUNCTION casts.spy(casts.kind) RETURNS json LANGUAGE plpgsql AS"
                    + " 'BEGIN RAISE EXCEPTION ''runs as %'', current_user; END';"
                    + " CREATE CAST (casts.kind AS json) WITH FUNCTION casts.spy(casts.kind);"
                    + " CREATE FUNCTION casts.number(casts.kind) RETURNS bigint LANGUAGE plpgsql AS"
                    + " 'BEGIN RAISE EXCEPTION ''runs as %'', current_user; END';"
                    + " CREATE CAST (casts.kind AS bigint) WITH FUNCTION casts.number(casts.kind) AS IMPLICIT;"
                    + " CREATE TABLE casts.thing (id int PRIMARY KEY, kind casts.kind,"
                    + " fence_token bigint NOT NULL DEFAULT 0, fence_holder uuid);"
                    + " INSERT INTO casts.thing VALUES (1, '9', 8, " + ME + ");"
                    + " SELECT fenceline.keep_marks_v1('casts.thing', 'thing', 'id');"
                    + " CREATE TABLE casts.own (id int PRIMARY KEY, fence_token casts.kind, fence_holder uuid);"
                    + " INSERT INTO casts.own VALUES (1, '9', " + ME + ");"
                    + " CREATE TRIGGER t AFTER DELETE ON casts.own FOR EACH ROW"
                    + " EXECUTE FUNCTION fenceline.keep_mark_of_row_v1('own', 'id')");
            statement.execute("DELETE FROM casts.thing; DELETE FROM casts.own");
            statement.execute("CREATE TRIGGER u AFTER DELETE ON casts.thing FOR EACH ROW"
                    + " EXECUTE FUNCTION fenceline.keep_mark_of_row_v1('own', 'to_jsonb');"
                    + " INSERT INTO casts.thing VALUES (2, '9', 8, " + ME + ")");
            assertThatThrownBy(() -> statement.execute("DELETE FROM casts.thing"))
                    .as("($1).to_jsonb, where there is no such column, is a call")
                    .hasMessageContaining("column \"to_jsonb\" does not exist");
        }
        assertThat(marks()).containsExactly("own:1 9 1", "thing:1 8 1");
    }

    @Test
    void theMarkOfADeletedRowIsKeptByItsTriggerAndLostWithoutIt() {
        insert(1, "a:b", 7);
        insert(2, "never claimed", 0);
        database.execute("SELECT fenceline.keep_marks_v1('bank.account', 'account', 'id', 'part')");
        database.execute("DELETE FROM bank.account");
        assertThat(marks()).containsExactly("account:1:a%3Ab 7 1");

        insert(1, "a:b", 6);
        database.execute("SET session_replication_role = replica; DELETE FROM bank.account");
        assertThat(marks()).as("never lowered").containsExactly("account:1:a%3Ab 7 1");
        insert(1, "a:b", 8);
        database.execute("SET session_replication_role = replica; DELETE FROM bank.account");
        assertThat(marks()).as("in every mode of the session").containsExactly("account:1:a%3Ab 8 1");

        database.execute("DROP TRIGGER fenceline_keep_mark ON bank.account");
        insert(1, "a:b", 9);
        database.execute("DELETE FROM bank.account");
        assertThat(marks()).containsExactly("account:1:a%3Ab 8 1");
    }

    @Test
    void theTriggerWorksForARoleThatMayOnlyDelete() {
        String role = database.newRole("deleter_");
        database.execute("GRANT USAGE ON SCHEMA bank TO \"" + role + "\"; GRANT SELECT, DELETE ON bank.account TO \""
                + role + "\"; SELECT fenceline.keep_marks_v1('bank.account', 'account', 'id', 'part')");
        insert(1, "x", 7);
        Database.execute(database.as(role), "DELETE FROM bank.account");
        assertThat(marks()).containsExactly("account:1:x 7 1");
    }

    /** To keep marks is the owner's to set up; the role of the application writes and deletes, and the trigger runs for it. */
    @Test
    void onlyARoleThatMayPutTriggersOnTablesKeepsMarks() {
        String app = database.newRole("app_");
        database.execute("CREATE SCHEMA own AUTHORIZATION \"" + app + "\"");
        FenceMigrations.on(database.source()).grantTo(app);
        FenceMigrations.on(database.source()).grantRowsTo(app);
        Database.execute(
                database.as(app),
                "CREATE TABLE own.thing (id int PRIMARY KEY, fence_token bigint NOT NULL DEFAULT 0, fence_holder uuid);"
                        + " INSERT INTO own.thing VALUES (1, 7, " + ME + ")");
        String keep = "SELECT fenceline.keep_marks_v1('own.thing', 'thing', 'id')";
        assertThatThrownBy(() -> Database.run(database.as(app), keep))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("42501"))
                .hasMessageContaining("permission denied for function keep_marks_v1");
        assertThatThrownBy(() -> Database.run(
                        database.as(app),
                        "CREATE TRIGGER t AFTER DELETE ON own.thing FOR EACH ROW EXECUTE FUNCTION"
                                + " fenceline.keep_mark_of_row_v1('any lock', 'id')"))
                .hasMessageContaining("permission denied for function ")
                .hasMessageContaining("keep_mark_of_row_v1");

        FenceMigrations.on(database.source()).grantProtectionTo(app);
        Database.execute(database.as(app), keep + "; DELETE FROM own.thing");
        assertThat(marks()).containsExactly("thing:1 7 1");
    }

    @Test
    void aMarkThatNoFenceCanHaveWrittenIsNotKept() {
        database.execute("SELECT fenceline.keep_marks_v1('bank.account', 'account', 'id', 'part')");
        insert(1, "x", 1L << 52);
        assertThatThrownBy(() -> Database.run(database.source(), "DELETE FROM bank.account"))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("FL004"))
                .hasMessageContaining(
                        "Deletion from bank.account refused: the mark of the row, 4503599627370496, is more than"
                                + " 25 h ahead of this server's clock")
                .hasMessageContaining(
                        "Set fence_token of that row to 0 and fence_holder to NULL, then delete it again.");
        database.execute("UPDATE bank.account SET fence_token = 0, fence_holder = NULL; DELETE FROM bank.account");
        assertThat(marks()).as("it would lock out every honest holder").isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "nothing | it has no column nothing",
                "other | column other is numeric, and a lock is named by whole numbers, text and uuid",
            })
    void aTableThatItCannotServeIsRefused(String column, String why) {
        assertThatThrownBy(() -> Database.run(
                        database.source(),
                        "SELECT fenceline.keep_marks_v1('bank.account', 'account', '" + column + "')"))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("FL008"))
                .hasMessageContaining("Marks of bank.account cannot be kept: " + why);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "42",
                "",
                "a:b",
                "%3A",
                "100 %",
                "'; DROP TABLE x; --",
                "\"quoted\"",
                "tab less",
                "\u00e9",
                "e\u0301",
                "\u1e9b\u0323",
                "\ud83d\udd12",
                "\uac00\u11a8",
            })
    void theServerNamesALockAsTheClientDoes(String part) {
        UUID id = UUID.randomUUID();
        String quoted = "'" + part.replace("'", "''") + "'";
        assertThat(database.rows("SELECT fenceline.row_lock_v1('thing', ARRAY[" + quoted + ", '-7', '" + id + "'])"))
                .containsExactly(LockName.of("thing", part, -7, id).toString());
    }

    @Test
    void aRecordIsPlainAndNotOlderThanAResolversMemory() {
        String id = "'11111111-1111-1111-1111-111111111111'";
        database.execute("SELECT fenceline.resolve_v1(" + id + ", now(), 1000)");
        assertThatThrownBy(() -> Database.run(database.source(), "SELECT fenceline.record_row_v1(" + id + ", now())"))
                .as("after the verdict that it never will")
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("23505"));
        assertThatThrownBy(() -> Database.run(
                        database.source(),
                        "SELECT fenceline.record_row_v1(gen_random_uuid(), now() - interval '7 days 1 minute')"))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("FL007"))
                .hasMessageContaining("Write refused: its time is more than 7 days ago");
        database.execute(
                "INSERT INTO fenceline.operation SELECT gen_random_uuid(), now() - interval '9 days', 'applied'"
                        + " FROM generate_series(1, 3)");
        database.execute("SELECT fenceline.record_row_v1(gen_random_uuid(), now())");
        assertThat(database.rows(
                        "SELECT count(*) FROM fenceline.operation WHERE entered_at < now() - interval '8 days'"))
                .as("one in, two out")
                .containsExactly("1");
    }

    @Test
    void pruningProbesTheIndexAndDoesNotReadItToItsEnd() throws SQLException {
        String prune = database.rows("SELECT prosrc FROM pg_proc WHERE proname = 'prune_operations_v1'")
                .get(0)
                .replace("p_most", "2");
        assertThat(planOf(prune))
                .anyMatch(line -> line.contains("Index Cond: (entered_at <"))
                .noneMatch(line -> line.contains("Filter: (entered_at"));

        String bound = "(SELECT clock_timestamp() - interval '8 days')";
        assertThat(prune).contains(bound);
        assertThat(planOf(prune.replace(bound, bound.substring(8, bound.length() - 1))))
                .as("compared with the clock itself, which is another one for each row")
                .anyMatch(line -> line.contains("Filter: (entered_at <"));
    }

    private List<String> planOf(String sql) throws SQLException {
        try (Connection connection = database.source().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SET enable_seqscan = off; SET enable_bitmapscan = off");
            List<String> lines = new ArrayList<>();
            try (ResultSet plan = statement.executeQuery("EXPLAIN (COSTS OFF) " + sql)) {
                while (plan.next()) {
                    lines.add(plan.getString(1));
                }
            }
            return lines;
        }
    }

    @Test
    void aRefusalNamesTableLockAndTokens() {
        assertThatThrownBy(() -> Database.run(
                        database.source(), "SELECT fenceline.refuse_row_v1('bank.account', 'account:1', 7, '8')"))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("FL001"))
                .hasMessageContaining("Write to bank.account under token 7 of lock 'account:1' refused: the mark is 8");
    }

    @Test
    void aRoleThatIsNotThereIsTold() {
        assertThatThrownBy(() -> FenceMigrations.on(database.source()).grantRowsTo("no one"))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessage(
                        "Granting the use of row mode to role 'no one' failed: ERROR: role \"no one\" does not exist"
                                + " (SQLSTATE 42704). To do: create the role first: CREATE ROLE \"no one\" LOGIN.");
    }
}
