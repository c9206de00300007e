package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.ds.PGSimpleDataSource;

/** A plan says what there is to do, what it locks, what to know and what is wrong; and changes nothing. */
@Tag("server")
class PlanTest {

    static Database database;

    @BeforeAll
    static void install() {
        database = Database.prepared();
        database.execute("CREATE SCHEMA app; CREATE TABLE app.\"order\" (id int PRIMARY KEY, note text, day date);"
                + " CREATE TABLE app.order_line (order_id int, line int NOT NULL);"
                + " CREATE VIEW app.open_order AS SELECT id FROM app.\"order\";"
                + " CREATE TABLE app.measured (id int, at int, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);"
                + " CREATE TABLE app.measured_1 PARTITION OF app.measured FOR VALUES FROM (0) TO (10);"
                + " CREATE TABLE app.measured_2 PARTITION OF app.measured FOR VALUES FROM (10) TO (20);"
                + " CREATE TABLE app.ancestor (id int); CREATE TABLE app.descendant () INHERITS (app.ancestor);"
                + " CREATE FOREIGN DATA WRAPPER nothing; CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing;"
                + " CREATE FOREIGN TABLE app.far_away (id int) SERVER nowhere;"
                + " CREATE TYPE app.pair AS (a int, b int); CREATE TABLE app.typed OF app.pair");
    }

    private static FenceMigrations migrations() {
        return FenceMigrations.on(database.source());
    }

    @Test
    void everyFaultOfEveryTableIsToldAtOnceAndNothingIsChanged() {
        List<String> before = Snapshot.of(database);

        assertThatThrownBy(() -> migrations()
                        .plan(
                                Protect.table("app.orders").lock("order", "id").observe(),
                                Protect.table("order_line").lock("order").observe(),
                                Protect.table("app.open_order")
                                        .lock("order", "id")
                                        .enforce(),
                                Protect.table("app.measured_1")
                                        .lock("measured", "id")
                                        .observe(),
                                Protect.table("app.far_away").lock("far", "id").observe(),
                                Protect.table("app.ancestor").lock("far", "id").observe(),
                                Protect.table("app.order")
                                        .lock("order", "identity", "day")
                                        .observe(),
                                Unprotect.table("app.open_order"),
                                AddColumns.table("app.open_order"),
                                AddColumns.table("app.measured_2"),
                                AddColumns.table("app.typed"),
                                DropColumns.table("app.typed")))
                .isInstanceOfSatisfying(
                        PlanRefusedException.class,
                        e -> assertThat(e.faults())
                                .contains(new Fault(
                                        "app.open_order",
                                        "it is a view of app.\"order\"",
                                        "Protect the tables that hold the rows.")))
                .hasMessage("Plan refused, nothing was changed: 14 faults.\n"
                        + "- app.open_order: its protection is changed twice. Name each table once, or make two plans.\n"
                        + "- app.typed: its columns are changed twice. Name each table once, or make two plans.\n"
                        + "- app.orders: there is no such table. Name schema and table as SQL writes them, capitals in double quotes.\n"
                        + "- public.order_line: there is no such table. There is app.order_line.\n"
                        + "- app.open_order: it is a view of app.\"order\". Protect the tables that hold the rows.\n"
                        + "- app.measured_1: it is a partition of app.measured. Protect that, and every partition is protected with it.\n"
                        + "- app.far_away: it is not a table of this database. Protect the tables that hold the rows.\n"
                        + "- app.ancestor: rows of its children app.descendant do not fire its triggers."
                        + " Protect the tables that hold the rows.\n"
                        + "- app.\"order\": it has no column identity; it has id, note, day."
                        + " Name the columns that are the parts of the lock's name, as the catalogue spells them.\n"
                        + "- app.\"order\": column day is of type date, whose text is not the same for everybody."
                        + " A key is made of text, whole numbers, enums and UUIDs. Name other columns: a lock may cover several rows."
                        + " Or add a column of such a type that your writers fill.\n"
                        + "- app.open_order: it is a view of app.\"order\". Protect the tables that hold the rows.\n"
                        + "- app.open_order: it is a view of app.\"order\". Protect the tables that hold the rows.\n"
                        + "- app.measured_2: it is a partition of app.measured. Protect that, and every partition is protected with it.\n"
                        + "- app.typed: it is a table OF a type, which has the columns of that type and no others. Add the columns to the"
                        + " type, with ALTER TYPE … ADD ATTRIBUTE … CASCADE, and set the default and NOT NULL on the table; or use"
                        + " enforced mode, which needs no columns.");
        assertThat(Snapshot.difference(before, Snapshot.of(database))).isEmpty();
    }

    @Test
    void oneFaultIsOneLine() {
        assertThatThrownBy(() -> migrations().plan(Unprotect.table("app.nothing")))
                .isInstanceOf(PlanRefusedException.class)
                .hasMessage(
                        "Plan refused, nothing was changed: app.nothing: there is no such table. Name schema and table as SQL writes"
                                + " them, capitals in double quotes.");
        assertThatThrownBy(() -> migrations().plan())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("A plan needs changes, and none was given.");
    }

    @Test
    void aPlanSaysWhatItLocksAndWhatToKnow() {
        Plan plan = migrations()
                .plan(
                        Protect.table("app.order_line")
                                .lock("order", "order_id", "line")
                                .enforce(),
                        Protect.table("app.measured").lock("measured").observe(),
                        AddColumns.table("app.measured"),
                        Unprotect.table("app.order"));

        assertThat(plan.steps().stream().map(Step::toString))
                .containsExactly(
                        "app.order_line: enforce with locks order:<order_id>:<line>",
                        "app.measured: observe with locks measured",
                        "app.measured: gets fence_token bigint NOT NULL DEFAULT 0 and fence_holder uuid",
                        "app.\"order\": not protected (already so)");
        assertThat(plan.locksTaken())
                .containsExactly(
                        new TableLock(
                                TableName.parse("app.order_line"),
                                "SHARE ROW EXCLUSIVE",
                                "writers wait, readers do not",
                                "until its transaction ends: some milliseconds",
                                "creates or replaces the triggers"),
                        new TableLock(
                                TableName.parse("app.measured"),
                                "SHARE ROW EXCLUSIVE",
                                "writers wait, readers do not",
                                "until its transaction ends: some milliseconds for the table and each of its 2 partitions",
                                "creates or replaces the triggers"),
                        new TableLock(
                                TableName.parse("app.measured"),
                                "ACCESS EXCLUSIVE",
                                "writers and readers wait",
                                "until its transaction ends: some milliseconds for the table and each of its 2 partitions",
                                "adds two columns; no row is rewritten"));
        assertThat(plan.warnings())
                .containsExactly(
                        "app.order_line: key column order_id may be NULL, and a row without a key has no lock: it is refused to everybody.",
                        "app.order_line: was not observed with these locks so far. Whoever writes it without them is refused from the"
                                + " moment that this is applied; observe first, and enforce when a full business cycle left no records.",
                        "app.measured: a transaction that goes on with a SELECT * or RETURNING * that its connection has prepared before"
                                + " fails once with 0A000 (cached plan must not change result type). Deploy when that is tolerable, or name"
                                + " the columns in old code first.",
                        "app.measured: row mode does not stop old code. For a system that exists, enforced mode is the default: it"
                                + " refuses old writers and needs no columns.");
    }

    @Test
    void whatIsSoAlreadyIsAStepWithoutSqlAndTheRollbackRestoresWhatWasBefore() throws InterruptedException {
        Database own = Database.prepared();
        own.execute("CREATE TABLE account (id int PRIMARY KEY)");
        FenceMigrations migrations = FenceMigrations.on(own.source());
        Protect.Locked account = Protect.table("account").lock("account", "id");
        List<String> free = Snapshot.of(own);

        Plan observe = migrations.plan(account.observe());
        assertThat(observe.apply(ApplyOptions.defaults()).with(Applied.Outcome.CHANGED))
                .hasSize(1);
        List<String> observed = Snapshot.of(own);
        Plan again = migrations.plan(account.observe());
        assertThat(again.steps()).singleElement().satisfies(step -> {
            assertThat(step).hasToString("public.account: observe with locks account:<id> (already so)");
            assertThat(step.statements()).isEmpty();
            assertThat(step.lock()).isEmpty();
        });
        assertThat(again.sql()).contains("-- public.account: observe").doesNotContain("DO");
        assertThat(again.rollbackSql()).doesNotContain("DO");
        assertThat(again.apply(ApplyOptions.defaults()).steps()).singleElement().satisfies(step -> {
            assertThat(step.outcome()).isEqualTo(Applied.Outcome.ALREADY_SO);
            assertThat(step.attempts()).isZero();
        });

        Plan enforce = migrations.plan(account.enforce());
        assertThat(enforce.warnings()).isEmpty();
        assertThat(enforce.steps().get(0))
                .hasToString("public.account: enforce with locks account:<id>; so far observe with locks account:<id>");
        enforce.apply(ApplyOptions.defaults());
        List<String> enforced = Snapshot.of(own);
        assertThat(enforced).isNotEqualTo(observed);
        assertThat(migrations.plan(account.observe()).warnings())
                .containsExactly("public.account: is enforced so far. From now on whoever writes it without its lock"
                        + " passes, and is only recorded.");
        own.execute(enforce.rollbackSql());
        assertThat(Snapshot.difference(observed, Snapshot.of(own))).isEmpty();
        own.execute(observe.rollbackSql());
        assertThat(Snapshot.difference(free, Snapshot.of(own))).isEmpty();

        own.execute(enforce.sql());
        Plan unprotect = migrations.plan(Unprotect.table("account"));
        unprotect.apply(ApplyOptions.defaults());
        assertThat(Snapshot.difference(free, Snapshot.of(own))).isEmpty();
        own.execute(unprotect.rollbackSql());
        assertThat(Snapshot.difference(enforced, Snapshot.of(own))).isEmpty();
    }

    @Test
    void whatWasChangedBehindOurBackIsToDoAgain() throws InterruptedException {
        Database own = Database.prepared();
        own.execute("CREATE TABLE account (id int PRIMARY KEY, at int) ");
        FenceMigrations migrations = FenceMigrations.on(own.source());
        Protect account = Protect.table("account").lock("account", "id").observe();
        migrations.plan(account).apply(ApplyOptions.defaults());
        List<String> observed = Snapshot.of(own);

        for (String damage : List.of(
                "DROP TRIGGER fenceline_update ON account",
                "DROP TRIGGER fenceline_truncate ON account",
                "ALTER TABLE account DISABLE TRIGGER fenceline_delete",
                "ALTER TABLE account ENABLE TRIGGER fenceline_insert",
                "ALTER TABLE account ENABLE REPLICA TRIGGER fenceline_truncate",
                "CREATE OR REPLACE TRIGGER fenceline_insert AFTER INSERT ON account FOR EACH ROW EXECUTE FUNCTION"
                        + " fenceline.judge_write_v1('observe', 'account', 'at')",
                "CREATE OR REPLACE TRIGGER fenceline_insert AFTER INSERT ON account FOR EACH ROW WHEN (NEW.id < 0) EXECUTE FUNCTION"
                        + " fenceline.judge_write_v1('observe', 'account', 'id'); ALTER TABLE account ENABLE ALWAYS TRIGGER"
                        + " fenceline_insert")) {
            own.execute(damage);
            Plan plan = migrations.plan(account);
            assertThat(plan.steps().get(0).state()).as(damage).isEqualTo(Step.State.TO_DO);
            assertThat(plan.steps().get(0).summary()).as(damage).contains("so far");
            plan.apply(ApplyOptions.defaults());
            assertThat(Snapshot.difference(observed, Snapshot.of(own)))
                    .as(damage)
                    .isEmpty();
        }
    }

    @Test
    void triggersThatCameOutOfADumpAreAsTheyWereMade() throws InterruptedException {
        Database own = Database.prepared();
        own.execute(
                "CREATE SCHEMA \"O\"; CREATE TYPE \"O\".kind AS ENUM ('a'); CREATE TABLE \"O\".thing (kind \"O\".kind)");
        FenceMigrations migrations = FenceMigrations.on(own.source());
        Protect thing = Protect.table("\"O\".thing").lock("thing", "kind").observe();
        migrations.plan(thing).apply(ApplyOptions.defaults());
        List<String> dump =
                own.rows("SELECT pg_get_triggerdef(oid) || format('; ALTER TABLE \"O\".thing ENABLE ALWAYS TRIGGER %I;"
                        + " COMMENT ON TRIGGER %I ON \"O\".thing IS %L', tgname, tgname, obj_description(oid, 'pg_trigger'))"
                        + " FROM pg_trigger WHERE tgrelid = '\"O\".thing'::regclass");
        assertThat(dump).hasSize(4);

        own.execute("SELECT fenceline.unprotect('\"O\".thing'); SET search_path = \"O\", public; "
                + String.join("; ", dump));

        assertThat(migrations.plan(thing).steps().get(0).state()).isEqualTo(Step.State.ALREADY_SO);
    }

    @Test
    void aTableWhoseTriggersDisagreeIsToldAndItsRollbackLeavesIt() {
        Database own = Database.prepared();
        own.execute("CREATE TABLE account (id int PRIMARY KEY, at int);"
                + " SELECT fenceline.protect('account', 'account', '{id}', 'enforce');"
                + " CREATE OR REPLACE TRIGGER fenceline_insert AFTER INSERT ON account FOR EACH ROW EXECUTE FUNCTION"
                + " fenceline.judge_write_v1('observe', 'account', 'at')");

        Plan plan = FenceMigrations.on(own.source())
                .plan(Protect.table("account").lock("account", "id").enforce());

        assertThat(plan.toString())
                .contains("public.account: enforce with locks account:<id>; its triggers do not agree so far")
                .contains(
                        "warning: public.account: its triggers do not agree on what they protect, so the rollback leaves them");
        assertThat(plan.rollbackSql()).doesNotContain("DO");
    }

    @Test
    void theTextIsTheSameForTheSameCatalogueAndKeepsToItsLimits(@TempDir Path folder) throws IOException {
        List<Protect> changes = List.of(
                Protect.table("app.order").lock("order", "id").observe(),
                Protect.table("app.order_line").lock("order", "order_id").enforce());
        Plan plan = migrations().plan(changes);

        assertThat(migrations().plan(changes).sql()).isEqualTo(plan.sql());
        assertThat(plan.sql())
                .startsWith("-- Fenceline: protection of tables")
                .contains("\n-- app.\"order\": observe with locks order:<id>\n")
                .contains("SET LOCAL lock_timeout = ''2000ms'';")
                .contains("LOCK TABLE \"app\".\"order\" IN SHARE ROW EXCLUSIVE MODE;")
                .contains("PERFORM fenceline.protect(''\"app\".\"order\"'', ''order'', ARRAY[''id''], ''observe'');")
                .endsWith("END\n';\n");
        assertThat(plan.rollbackSql().indexOf("\"order_line\""))
                .as("backwards")
                .isLessThan(plan.rollbackSql().indexOf("\"order\"'"));
        MigrationFiles files = plan.write(folder, "48", "fence orders");
        assertThat(files.migration()).hasFileName("V48__fence_orders.sql").hasContent(plan.sql());
        assertThat(files.undo()).hasFileName("U48__fence_orders.sql").hasContent(plan.rollbackSql());
        assertThatThrownBy(() -> migrations().plan(Unprotect.table("app.order")).write(folder, "49", "nothing"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(
                        "Migration 49 was not written: there is nothing to do, all is so already (app.\"order\"). Make the plan on a"
                                + " database where it is not.");
        assertThat(folder.toFile().list()).hasSize(2);
    }

    @Test
    void theTextRefusesADatabaseWithoutTheSchemaOrWithAnOlderOne() {
        String sql = migrations()
                .plan(Protect.table("app.order").lock("order", "id").observe())
                .sql();
        Database empty = Database.empty();
        assertThatThrownBy(() -> Database.run(empty.source(), sql))
                .hasMessageContaining(
                        "Nothing was changed: this database has no fence schema, and these statements call it")
                .hasMessageContaining("Hint: Install it first");
        Database old = withVersion3();
        assertThatThrownBy(() -> Database.run(old.source(), sql))
                .hasMessageContaining(
                        "Nothing was changed: these statements need version 4 of the fence schema, and find version 3")
                .hasMessageContaining("Hint: Upgrade it first");
        assertThatThrownBy(() -> FenceMigrations.on(old.source()).plan(Unprotect.table("app.order")))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessage("Plan refused, nothing was changed: database " + old.name()
                        + " has version 3 of the fence schema, and"
                        + " protecting tables needs version 4. Upgrade it first: FenceMigrations.on(owner).install().");
        assertThatThrownBy(() -> FenceMigrations.on(empty.source()).plan(Unprotect.table("app.order")))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessage("Plan refused, nothing was changed: database " + empty.name()
                        + " has no fence schema. Install it first: FenceMigrations.on(owner).install().");
    }

    @Test
    void namesThatDifferInCapitalsAreShownAsTheyAreWritten() {
        Database own = Database.installed();
        own.execute("CREATE SCHEMA app; CREATE TABLE app.\"It's Order\" (\"Id\" int PRIMARY KEY, note text)");
        FenceMigrations migrations = FenceMigrations.on(own.source());

        assertThatThrownBy(() -> migrations.plan(
                        Protect.table("app.\"it's order\"").lock("order", "id").observe(),
                        Protect.table("app.\"It's Order\"").lock("order", "Id").observe(),
                        Protect.table("public.\"It's Order\"")
                                .lock("order", "\"NOTE\"")
                                .observe()))
                .isInstanceOf(PlanRefusedException.class)
                .hasMessage("""
                        Plan refused, nothing was changed: 3 faults.
                        - app."it's order": there is no such table. There is app."It's Order", which is written in double quotes, and in a shell\
                         in single ones around them: 'app."It'\\''s Order"'.
                        - app."It's Order": it has no column id; it has "Id", note. There is "Id", which is written in double quotes, and in a shell\
                         in single ones around them: '"Id"'.
                        - public."It's Order": there is no such table. There is app."It's Order", which is written in double quotes, and in a\
                         shell in single ones around them: 'app."It'\\''s Order"'.""");
        assertThatThrownBy(() -> migrations.plan(Protect.table("app.\"It's Order\"")
                        .lock("order", "\"NOTE\"")
                        .observe()))
                .isInstanceOf(PlanRefusedException.class)
                .hasMessageEndingWith("it has no column \"NOTE\"; it has \"Id\", note. There is note.");
    }

    @Test
    void aPlanNamesTheTablesThatItWouldNoLongerEnforce() throws InterruptedException {
        Database own = Database.installed();
        own.execute("CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int PRIMARY KEY); CREATE TABLE c (id int"
                + " PRIMARY KEY)");
        FenceMigrations migrations = FenceMigrations.on(own.source());
        migrations
                .plan(
                        Protect.table("a").lock("a", "id").enforce(),
                        Protect.table("b").lock("b", "id").observe())
                .apply(ApplyOptions.defaults());

        assertThat(migrations
                        .plan(
                                Protect.table("c").lock("c", "id").observe(),
                                Protect.table("b").lock("b", "id").observe(),
                                Protect.table("a").lock("other", "id").observe())
                        .loosened())
                .containsExactly(TableName.parse("a"));
        assertThat(migrations
                        .plan(
                                Protect.table("a").lock("a", "id").enforce(),
                                Protect.table("b").lock("b", "id").enforce())
                        .loosened())
                .isEmpty();
        assertThat(migrations.plan(Unprotect.table("a")).loosened())
                .as("nobody takes triggers off without meaning it")
                .isEmpty();
    }

    /** As a release left it that is older than ours. */
    private static Database withVersion3() {
        Database old = Database.prepared();
        old.execute(
                "CREATE OR REPLACE FUNCTION fenceline.version_v1() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 3'");
        return old;
    }

    @Test
    void whoDoesNotOwnTheTableIsToldWhoDoes() throws InterruptedException {
        Database own = Database.prepared();
        String owner = own.newRole("owner_");
        String other = own.newRole("other_");
        own.execute("CREATE SCHEMA theirs AUTHORIZATION " + owner + "; SET ROLE " + owner
                + "; CREATE TABLE theirs.thing (id int)");
        Change change = Protect.table("theirs.thing").lock("thing", "id").observe();
        assertThatThrownBy(() -> FenceMigrations.on(own.as(owner)).plan(change))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessage("Plan refused, nothing was changed: database " + own.name() + " does not let role '" + owner
                        + "' protect tables. Have the owner of schema fenceline run FenceMigrations.on(owner).grantProtectionTo(\""
                        + owner + "\").");
        FenceMigrations.on(own.source()).grantProtectionTo(owner);
        FenceMigrations.on(own.source()).grantProtectionTo(other);

        assertThatThrownBy(() -> FenceMigrations.on(own.as(other)).plan(change))
                .isInstanceOf(PlanRefusedException.class)
                .hasMessage(
                        "Plan refused, nothing was changed: 2 faults.\n"
                                + "- theirs.thing: its owner is '" + owner
                                + "', and only the owner may change it. Connect as that role or as one"
                                + " of its members.\n"
                                + "- theirs.thing: the role has no right on schema theirs. GRANT USAGE ON SCHEMA theirs to it.");
        own.execute("GRANT " + owner + " TO " + other);
        assertThat(FenceMigrations.on(own.as(other))
                        .plan(change)
                        .apply(ApplyOptions.defaults())
                        .with(Applied.Outcome.CHANGED))
                .hasSize(1);
        FenceMigrations.on(own.as(owner)).plan(Unprotect.table("theirs.thing")).apply(ApplyOptions.defaults());
        assertThat(own.rows("SELECT count(*) FROM fenceline.protected")).containsExactly("0");
    }

    @Test
    void noServerIsToldAsSuch() throws IOException {
        PGSimpleDataSource nowhere = new PGSimpleDataSource();
        try (ServerSocket free = new ServerSocket(0)) {
            nowhere.setPortNumbers(new int[] {free.getLocalPort()});
        }

        assertThatThrownBy(() -> FenceMigrations.on(nowhere).plan(Unprotect.table("app.order")))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageStartingWith("Planning failed: the database cannot be reached (Connection to localhost:");
    }
}
