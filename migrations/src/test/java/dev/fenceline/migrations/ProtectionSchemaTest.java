package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What protection puts on tables of any shape, what it refuses, and that it takes everything off again. */
@Tag("server")
class ProtectionSchemaTest {

    private static final String LONGEST = "c".repeat(63);
    private static final String TRIGGERS =
            "SELECT concat_ws(' ', t.tgrelid::regclass, t.tgname, t.tgenabled) FROM pg_trigger t"
                    + " WHERE t.tgname LIKE 'fenceline%' AND t.tgrelid <> 'fenceline.guard'::regclass"
                    + " ORDER BY t.tgrelid::regclass::text, t.tgname";

    static Database database;

    @BeforeAll
    static void install() {
        database = Database.prepared();
        database.execute("CREATE DOMAIN public.small AS int; CREATE DOMAIN public.smaller AS public.small;"
                + " CREATE TABLE plain (id int PRIMARY KEY, day date, code char(2), price numeric(9,2), whole numeric(9),"
                + " any_scale numeric, twice int GENERATED ALWAYS AS (id * 2) STORED, domained public.smaller);"
                + " CREATE VIEW plain_view AS SELECT p.id FROM plain p JOIN pg_class c ON true;"
                + " CREATE MATERIALIZED VIEW plain_copy AS SELECT id FROM plain;"
                + " CREATE TABLE measured (id int, at int, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);"
                + " CREATE TABLE measured_1 PARTITION OF measured FOR VALUES FROM (0) TO (10) PARTITION BY RANGE (at);"
                + " CREATE TABLE measured_1_1 PARTITION OF measured_1 FOR VALUES FROM (0) TO (5);"
                + " CREATE TABLE ancestor (id int); CREATE TABLE descendant () INHERITS (ancestor);"
                + " CREATE FOREIGN DATA WRAPPER nothing; CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing;"
                + " CREATE FOREIGN TABLE far_away (id int) SERVER nowhere;"
                + " CREATE TABLE half_foreign (id int) PARTITION BY RANGE (id);"
                + " CREATE FOREIGN TABLE half_foreign_1 PARTITION OF half_foreign FOR VALUES FROM (0) TO (9) SERVER nowhere;"
                + " CREATE TABLE taken (id int);"
                + " CREATE FUNCTION theirs() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';"
                + " CREATE TRIGGER fenceline_update BEFORE UPDATE ON taken FOR EACH ROW EXECUTE FUNCTION theirs()");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "plain_view, 'plain', '{id}', 'enforce' | FL011 | Protection of public.plain_view refused: it is a view of"
                        + " public.plain | Protect the tables that hold the rows.",
                "plain_copy, 'plain', '{id}', 'enforce' | FL011 | Protection of public.plain_copy refused: it is a view of"
                        + " public.plain | Protect the tables that hold the rows.",
                "far_away, 'plain', '{id}', 'enforce' | FL011 | Protection of public.far_away refused: it is not a table of this"
                        + " database | Protect the tables that hold the rows.",
                "half_foreign, 'plain', '{id}', 'enforce' | FL011 | Protection of public.half_foreign refused: one of its"
                        + " partitions is a foreign table | Protect the tables that hold the rows.",
                "measured_1_1, 'plain', '{id}', 'enforce' | FL011 | Protection of public.measured_1_1 refused: it is a partition"
                        + " of public.measured | Protect that, and every partition is protected with it.",
                "ancestor, 'plain', '{id}', 'enforce' | FL011 | Protection of public.ancestor refused: rows of its children"
                        + " public.descendant do not fire its triggers | Protect the tables that hold the rows.",
                "0, 'plain', '{id}', 'enforce' | FL011 | refused: there is no such table | Name a table that exists.",
                "taken, 'plain', '{id}', 'enforce' | FL011 | there is a trigger fenceline_update on public.taken, which is not of"
                        + " this fence | Rename that trigger.",
                "plain, 'plain', '{id,nothing}', 'enforce' | FL011 | Protection of public.plain refused: it has no column"
                        + " nothing | as the catalogue spells them",
                "plain, 'plain', '{id,ctid}', 'enforce' | FL011 | it has no column ctid | as the catalogue spells them",
                "plain, 'plain', '{day}', 'enforce' | FL011 | column day is of type date, whose text is not the same for"
                        + " everybody | A key is made of text, whole numbers, enums and UUIDs.",
                "plain, 'plain', '{code}', 'enforce' | FL011 | column code is of type character(2), whose | A key is made of",
                "plain, 'plain', '{price}', 'enforce' | FL011 | column price is of type numeric(9,2), whose | A key is made of",
                "plain, 'plain', '{any_scale}', 'enforce' | FL011 | column any_scale is of type numeric, | A key is made of",
                "plain, 'plain', '{id}', 'on' | 22023 | Protection of public.plain refused: mode 'on' is neither observe nor"
                        + " enforce | observe records",
                "plain, 'plain', '{id}', NULL | 22023 | refused: mode NULL is neither observe nor enforce | observe records",
                "plain, '4ever', '{id}', 'enforce' | 22023 | Protection of public.plain refused: '4ever' is no class of locks |"
                        + " A class is a letter followed by at most 63 letters",
                "plain, '', '{id}', 'enforce' | 22023 | Protection of public.plain refused: '' is no class of locks | it is account.",
                "plain, '', '{}', 'observe' | 22023 | Protection of public.plain refused: '' is no class of locks | it is account.",
                "plain, NULL, '{id}', 'enforce' | 22023 | refused: NULL is no class of locks | it is account.",
                "plain, 'a:b', '{id}', 'enforce' | 22023 | Protection of public.plain refused: 'a:b' is no class of locks | it is",
                "plain, 'plain', NULL, 'enforce' | 22023 | Protection of public.plain refused: its key is null | with '{}' one"
                        + " lock covers all rows.",
                "plain, 'plain', '{id,NULL}', 'enforce' | 22023 | its key is null, or has a null in it | one lock covers all",
            })
    void whatCannotBeProtectedIsRefused(String arguments, String state, String message, String hint) {
        String call = "SELECT fenceline.protect('" + arguments.replaceFirst(",", "',") + ")";
        assertThatThrownBy(() -> Database.run(database.source(), call))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo(state))
                .hasMessageContaining(message)
                .hasMessageContaining("Hint: ")
                .hasMessageContaining(hint);
        assertThat(database.rows(TRIGGERS))
                .contains("taken fenceline_update O")
                .noneMatch(line -> line.startsWith("plain")
                        || line.startsWith("measured")
                        || line.startsWith("ancestor")
                        || line.startsWith("half"));
    }

    /** Whoever does what the hint says gets a table that can be protected. */
    @ParameterizedTest
    @CsvSource({
        "timestamptz, false",
        "timestamp, false",
        "date, false",
        "interval, false",
        "money, false",
        "int[], false",
        "tstzrange, false",
        "float8, true",
        "boolean, true",
        "char(2), true",
        "'numeric(9,2)', true",
        "bytea, true",
        "jsonb, true",
        "inet, true",
        "bit(3), true"
    })
    void theHintForAColumnThatIsNoKeyCanBeFollowed(String type, boolean generated) throws SQLException {
        Database.run(database.source(), "DROP TABLE IF EXISTS hinted; CREATE TABLE hinted (\"No key\" " + type + ")");
        String add = "ALTER TABLE hinted ADD COLUMN key text GENERATED ALWAYS AS (\"No key\"::text) STORED";
        String beginning =
                "Hint: A key is made of text, whole numbers, enums and UUIDs. Name other columns: a lock may cover several"
                        + " rows. Or add a";

        assertThatThrownBy(() -> Database.run(
                        database.source(), "SELECT fenceline.protect('hinted', 'hinted', ARRAY['No key'], 'observe')"))
                .hasMessageContaining(
                        generated
                                ? beginning + " generated column: text GENERATED ALWAYS AS (\"No key\"::text) STORED."
                                : beginning + " column of such a type that your writers fill.");
        if (generated) {
            Database.run(database.source(), add);
            Database.run(database.source(), "SELECT fenceline.protect('hinted', 'hinted', ARRAY['key'], 'observe')");
        } else {
            assertThatThrownBy(() -> Database.run(database.source(), add))
                    .hasMessageContaining("generation expression is not immutable");
        }
    }

    @Test
    void aColumnThatIsGeneratedWhenItIsReadIsRefusedWhereThereAreSuch() {
        if (Integer.parseInt(database.rows("SHOW server_version_num").get(0)) >= 180000) {
            database.execute("CREATE TABLE virtual (id int, twice int GENERATED ALWAYS AS (id * 2) VIRTUAL)");
            assertThatThrownBy(() -> Database.run(
                            database.source(), "SELECT fenceline.protect('virtual', 'plain', '{twice}', 'enforce')"))
                    .hasMessageContaining(
                            "Protection of public.virtual refused: column twice is generated when it is read");
        } else {
            assertThatThrownBy(() -> Database.run(
                            database.source(),
                            "CREATE TABLE virtual (id int, twice int GENERATED ALWAYS AS (id * 2) VIRTUAL)"))
                    .hasMessageContaining("syntax error");
        }
    }

    @Test
    void everyTriggerFiresAlwaysOnEveryPartitionAlsoOnThoseOfLater() {
        Database own = Database.prepared();
        own.execute("CREATE TABLE measured (id int, at int, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);"
                + " CREATE TABLE measured_1 PARTITION OF measured FOR VALUES FROM (0) TO (10) PARTITION BY RANGE (at);"
                + " CREATE TABLE measured_1_1 PARTITION OF measured_1 FOR VALUES FROM (0) TO (5);");
        String protect = "SELECT fenceline.protect('measured', 'measured', '{id}', '%s')";
        own.execute(String.format(protect, "observe"));
        own.execute("CREATE TABLE measured_2 PARTITION OF measured FOR VALUES FROM (10) TO (20);"
                + " CREATE TABLE measured_3 (LIKE measured INCLUDING ALL);"
                + " ALTER TABLE measured ATTACH PARTITION measured_3 FOR VALUES FROM (20) TO (30)");

        List<String> expected = new ArrayList<>();
        for (String table : List.of("measured", "measured_1", "measured_1_1", "measured_2", "measured_3")) {
            for (String event : List.of("delete", "insert", "truncate", "update")) {
                expected.add(table + " fenceline_" + event + " A");
            }
        }
        List<String> untruncated = expected.stream()
                .filter(line -> !line.matches("measured_[23] fenceline_truncate A"))
                .toList();
        assertThat(own.rows(TRIGGERS)).isEqualTo(untruncated);

        own.execute(String.format(protect, "enforce"));
        own.execute(String.format(protect, "enforce"));
        assertThat(own.rows(TRIGGERS)).isEqualTo(expected);
        assertThatThrownBy(() -> Database.run(
                        own.source(), "SET session_replication_role = replica; INSERT INTO measured VALUES (7, 25)"))
                .hasMessageContaining(
                        "INSERT on public.measured_3 refused: it needs lock 'measured:7' (never claimed)");

        own.execute("ALTER TABLE measured DETACH PARTITION measured_1; SELECT fenceline.unprotect('measured'),"
                + " fenceline.unprotect('measured_1')");
        assertThat(own.rows(TRIGGERS)).isEmpty();
        own.execute("SELECT fenceline.unprotect('measured')");
    }

    @Test
    void oddNamesAndKeysAreProtectedAndLeaveNothingInTheCatalogue() throws SQLException {
        String table = "\"my \"\"app\".\"odd.table 'x' %25 %|\"";
        database.execute("CREATE SCHEMA \"my \"\"app\"; CREATE TYPE \"my \"\"app\".\"Kind\" AS ENUM ('a:b', 'c');"
                + " CREATE TABLE " + table + " (\"I d\" uuid NOT NULL, \"" + LONGEST
                + "\" text, \"qu\"\"ote\" \"my \"\"app\".\"Kind\","
                + " plain smallint, made text GENERATED ALWAYS AS ('x' || plain::text) STORED,"
                + " PRIMARY KEY (\"I d\", plain))");
        String before = String.join("\n", database.rows(catalogue(table)));

        database.execute("SELECT fenceline.protect($t$" + table + "$t$, 'odd.class-1', ARRAY['I d', '" + LONGEST
                + "', 'qu\"ote', 'plain', 'made'], 'enforce')");
        String row = "('0a000000-0000-4000-8000-000000000001', 'x%y:z', 'a:b', 7)";
        assertThatThrownBy(() -> Database.run(database.source(), "INSERT INTO " + table + " VALUES " + row))
                .hasMessageContaining("INSERT on \"my \"\"app\".\"odd.table 'x' %25 %|\" refused: it needs lock"
                        + " 'odd.class-1:0a000000-0000-4000-8000-000000000001:x%25y%3Az:a%3Ab:7:x7' (never claimed)");
        database.execute("SELECT fenceline.protect($t$" + table + "$t$, 'odd.class-1', ARRAY['I d', '" + LONGEST
                + "', 'qu\"ote', 'plain', 'made'], 'observe')");
        database.execute("INSERT INTO " + table + " VALUES " + row + "; UPDATE " + table + " SET plain = 8");
        assertThat(database.rows(
                        "SELECT relation || ' ' || operation FROM fenceline.violation WHERE relation LIKE '%odd%'"))
                .as("one string of statements is one transaction")
                .containsExactly("\"my \"\"app\".\"odd.table 'x' %25 %|\" INSERT");

        database.execute("SELECT fenceline.unprotect($t$" + table + "$t$)");
        assertThat(String.join("\n", database.rows(catalogue(table)))).isEqualTo(before);
    }

    private static String catalogue(String table) {
        return "SELECT concat_ws(' ', c.relname, c.relkind, c.relacl, c.relrowsecurity, c.reloptions,"
                + " (SELECT string_agg(concat_ws(',', a.attname, a.atttypid::regtype, a.attnotnull, a.attacl), ';' ORDER BY a.attnum)"
                + " FROM pg_attribute a WHERE a.attrelid = c.oid),"
                + " (SELECT string_agg(pg_get_triggerdef(t.oid), ';' ORDER BY t.tgname) FROM pg_trigger t WHERE t.tgrelid = c.oid),"
                + " (SELECT string_agg(pg_get_constraintdef(k.oid), ';' ORDER BY k.conname) FROM pg_constraint k"
                + " WHERE k.conrelid = c.oid)) FROM pg_class c WHERE c.oid = $t$" + table + "$t$::regclass";
    }

    @Test
    void theTextOfATriggerCanBeDumpedAndRestored() {
        Database own = Database.prepared();
        own.execute(
                "CREATE TABLE plain (id int, name text); SELECT fenceline.protect('plain', 'plain', '{id,name}', 'observe')");
        List<String> text = own.rows(
                "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = 'plain'::regclass ORDER BY tgname");

        own.execute("SELECT fenceline.unprotect('plain')");
        own.execute("SET search_path = ''; " + String.join("; ", text));

        assertThat(
                        own.rows(
                                "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = 'plain'::regclass ORDER BY tgname"))
                .isEqualTo(text);
        assertThat(own.rows(
                        "SELECT DISTINCT d.refobjid::regproc::text FROM pg_trigger t JOIN pg_depend d ON d.objid = t.oid"
                                + " AND d.refclassid = 'pg_proc'::regclass WHERE t.tgrelid = 'plain'::regclass"))
                .as("the only thing of the schema that a dump of the table needs")
                .containsExactly("fenceline.judge_write_v1");
    }

    @Test
    void protectingWaitsForNoReaderAndReadersForNoProtection() throws SQLException {
        try (Connection reader = database.source().getConnection();
                Connection owner = database.source().getConnection();
                Statement read = reader.createStatement();
                Statement protect = owner.createStatement()) {
            reader.setAutoCommit(false);
            owner.setAutoCommit(false);
            read.execute("SELECT * FROM plain");
            protect.execute("SET LOCAL lock_timeout = '5s'");
            protect.execute("SELECT fenceline.protect('plain', 'plain', '{twice,whole,domained}', 'observe')");
            read.execute("SET LOCAL lock_timeout = '5s'; SELECT * FROM plain");
            owner.rollback();
            reader.rollback();
        }
    }

    @Test
    void anOwnerWhoIsNoSuperuserProtectsHisTablesAndNoOthers() throws SQLException {
        String owner = database.newRole("owner_");
        database.execute("CREATE SCHEMA theirs AUTHORIZATION " + owner + "; SET ROLE " + owner
                + "; CREATE TABLE theirs.thing (id int)");
        String protect = "SELECT fenceline.protect('theirs.thing', 'thing', '{id}', 'enforce')";
        assertThatThrownBy(() -> Database.run(database.as(owner), protect))
                .hasMessageContaining("permission denied for schema fenceline");

        FenceMigrations.on(database.source()).grantProtectionTo(owner);

        Database.run(database.as(owner), protect);
        assertThatThrownBy(() -> Database.run(database.as(owner), "INSERT INTO theirs.thing VALUES (1)"))
                .hasMessageContaining("INSERT on theirs.thing refused: it needs lock 'thing:1' (never claimed)");
        Database.run(database.as(owner), "SELECT fenceline.unprotect('theirs.thing')");
        Database.run(database.as(owner), "INSERT INTO theirs.thing VALUES (1)");
        assertThatThrownBy(() -> Database.run(
                        database.as(owner), "SELECT fenceline.protect('plain', 'plain', '{id}', 'enforce')"))
                .hasMessageContaining("permission denied for table plain");
        assertThatThrownBy(() -> Database.run(database.as(owner), "DELETE FROM fenceline.violation"))
                .hasMessageContaining("permission denied for table violation");
        assertThatThrownBy(() -> Database.run(database.as(owner), "SELECT fenceline.bypass('x')"))
                .hasMessageContaining("permission denied for function bypass");
    }

    @Test
    void aTableOwnersOwnCastNeverRunsWithTheRightsOfTheFence() throws SQLException {
        String owner = database.newRole("caster_");
        database.execute("CREATE SCHEMA casts AUTHORIZATION " + owner);
        FenceMigrations.on(database.source()).grantProtectionTo(owner);
        try (Connection connection = database.as(owner).getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TYPE casts.kind AS ENUM ('a');"
                    + " CREATE FUNCTION casts.spy(casts.kind) RETURNS text LANGUAGE plpgsql AS"
                    + " 'BEGIN RAISE WARNING ''runs as %'', current_user; RETURN ''a''; END';"
                    + " CREATE CAST (casts.kind AS text) WITH FUNCTION casts.spy(casts.kind);"
                    + " CREATE FUNCTION casts.spy_json(casts.kind) RETURNS json LANGUAGE plpgsql AS"
                    + " 'BEGIN RAISE WARNING ''runs as %'', current_user; RETURN ''1''; END';"
                    + " CREATE CAST (casts.kind AS json) WITH FUNCTION casts.spy_json(casts.kind);"
                    + " CREATE TABLE casts.thing (kind casts.kind);"
                    + " SELECT fenceline.protect('casts.thing', 'thing', '{kind}', 'observe');"
                    // Who may use the function of the triggers may give it arguments of his own. ($1).to_jsonb is a
                    // call.
                    + " CREATE TRIGGER by_hand AFTER INSERT ON casts.thing FOR EACH ROW"
                    + " EXECUTE FUNCTION fenceline.judge_write_v1('observe', 'thing', 'to_jsonb')");
            statement.execute("INSERT INTO casts.thing VALUES ('a')");
            List<String> said = new ArrayList<>();
            for (SQLWarning warning = statement.getWarnings(); warning != null; warning = warning.getNextWarning()) {
                said.add(warning.getMessage());
            }
            String refused =
                    "INSERT on casts.thing without its lock was not recorded: column \"to_jsonb\" does not exist";
            assertThat(said).contains(refused).containsOnly("runs as " + owner, refused);
        }
        assertThat(database.rows("SELECT needed FROM fenceline.violation WHERE relation = 'casts.thing'"))
                .containsExactly("lock 'thing:a'");
    }

    @Test
    void aTriggerThatATableOwnerMakesHimselfRunsNoFunctionWithTheRightsOfTheFence() throws SQLException {
        String owner = database.newRole("maker_");
        database.execute("CREATE SCHEMA makers AUTHORIZATION " + owner);
        FenceMigrations.on(database.source()).grantProtectionTo(owner);
        try (Connection connection = database.as(owner).getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TYPE makers.kind AS ENUM ('a');"
                    + " CREATE FUNCTION makers.spy(makers.kind) RETURNS json LANGUAGE plpgsql AS"
                    + " 'BEGIN RAISE WARNING ''runs as %'', current_user; RETURN ''1''; END';"
                    + " CREATE CAST (makers.kind AS json) WITH FUNCTION makers.spy(makers.kind);"
                    + " CREATE TABLE makers.thing (kind makers.kind);"
                    // (row).to_jsonb is a call of to_jsonb(row), which looks for casts.
                    + " CREATE TRIGGER own AFTER INSERT ON makers.thing FOR EACH ROW"
                    + " EXECUTE FUNCTION fenceline.judge_write_v1('enforce', 'thing', 'to_jsonb')");
            assertThatThrownBy(() -> statement.execute("INSERT INTO makers.thing VALUES ('a')"))
                    .hasMessageContaining("it needs a lock that cannot be named (column \"to_jsonb\" does not exist;");
            assertThat((Throwable) statement.getWarnings()).isNull();
        }
    }

    @Test
    void aClaimFromSqlIsCommittedWhenItReturnsOrRefused() throws SQLException {
        String role = database.newRole("claimer_");
        FenceMigrations.on(database.source()).grantTo(role);
        String claim = "CALL fenceline.claim('claimed:1', %d, '0a000000-0000-4000-8000-00000000000%d')";
        try (Connection connection = database.as(role).getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(String.format(claim, 20, 1));
            statement.execute(String.format(claim, 20, 1));
            assertThatThrownBy(() -> statement.execute(String.format(claim, 10, 2)))
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("FL001"))
                    .hasMessageContaining(
                            "Claim of token 10/0a000000 on lock 'claimed:1' refused: the mark is token 20/0a000000")
                    .hasMessageContaining("acquire the lock anew");
            connection.setAutoCommit(false);
            assertThatThrownBy(() -> statement.execute(String.format(claim, 30, 1)))
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("2D000"));
            connection.rollback();
            assertThatThrownBy(() -> statement.execute("CALL fenceline.claim('4ever', 1, gen_random_uuid())"))
                    .hasMessageContaining("Lock name '4ever' refused: it is not in canonical form");
            connection.rollback();
        }
        assertThat(database.rows("SELECT token FROM fenceline.guard WHERE lock = 'claimed:1'"))
                .containsExactly("20");
    }
}
