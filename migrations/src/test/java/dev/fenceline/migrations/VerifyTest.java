package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendMisconfiguredException;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whatever is done behind our back to what protects a table is told, and nothing else is. */
@Tag("server")
class VerifyTest {

    private static final Protect ACCOUNT =
            Protect.table("account").lock("account", "id").enforce();
    private static final String AGAIN = "Protect it again: plan and apply this declaration.";
    private static final String OF_PARTED =
            "It is a partition of public.parted: protect that again, by planning and applying its declaration.";

    Database database;
    FenceMigrations migrations;

    @BeforeEach
    void prepare() {
        database = Database.prepared();
        migrations = FenceMigrations.on(database.source());
        database.execute("CREATE TABLE account (id int PRIMARY KEY, name text)");
    }

    @Test
    void whatIsAppliedAsDeclaredIsAsDeclared() {
        database.execute("CREATE SCHEMA \"Odd % Schema\"; CREATE TYPE \"Odd % Schema\".colour AS ENUM ('red');"
                + " CREATE DOMAIN \"Odd % Schema\".code AS varchar(8);"
                + " CREATE TABLE \"Odd % Schema\".\"o'ne \\ \"\"table\" (\"a.b\" \"Odd % Schema\".colour, \"C\" \"Odd % Schema\".code, u uuid,"
                + " n numeric(9), t text COLLATE \"C\", g int GENERATED ALWAYS AS (1) STORED, i bigint GENERATED ALWAYS AS IDENTITY);"
                + " CREATE TABLE parted (id int, at int) PARTITION BY RANGE (at);"
                + " CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (10) PARTITION BY RANGE (at);"
                + " CREATE TABLE parted_1_1 PARTITION OF parted_1 FOR VALUES FROM (0) TO (5);"
                + " CREATE TABLE settings (line text); CREATE TABLE marked (id int, fence_token bigint NOT NULL DEFAULT 0, fence_holder uuid);"
                + " CREATE TABLE bystander (id int, fence_token text)");
        List<Protect> declared = List.of(
                ACCOUNT,
                Protect.table("\"Odd % Schema\".\"o'ne \\ \"\"table\"")
                        .lock("odd", "\"a.b\"", "\"C\"", "u", "n", "t", "g", "i")
                        .observe(),
                Protect.table("parted").lock("parted", "id").observe(),
                Protect.table("settings").lock("settings").enforce());
        declared.forEach(this::apply);
        List<String> before = database.rows("SELECT relname || xmin FROM pg_class ORDER BY oid");

        assertThat(migrations.verify(declared).differences()).isEmpty();
        assertThat(migrations.verify(declared).isAsDeclared()).isTrue();
        assertThat(migrations.verify(declared)).hasToString("The database is as declared.");
        assertThat(database.rows("SELECT relname || xmin FROM pg_class ORDER BY oid"))
                .isEqualTo(before);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "DROP TRIGGER fenceline_update ON account" + "| trigger fenceline_update | none",
                "ALTER TABLE account DISABLE TRIGGER fenceline_delete"
                        + "| that trigger fenceline_delete fires always | that it is disabled",
                "ALTER TABLE account DISABLE TRIGGER USER"
                        + "| that trigger fenceline_delete fires always | that it is disabled",
                "ALTER TABLE account ENABLE TRIGGER fenceline_insert"
                        + "| that trigger fenceline_insert fires always | that it does not fire under session_replication_role = replica",
                "ALTER TABLE account ENABLE REPLICA TRIGGER fenceline_truncate"
                        + "| that trigger fenceline_truncate fires always | that it fires only under session_replication_role = replica",
                "CREATE OR REPLACE TRIGGER fenceline_update AFTER UPDATE OF name ON account FOR EACH ROW"
                        + " EXECUTE FUNCTION fenceline.judge_write_v1('enforce', 'account', 'id');"
                        + " ALTER TABLE account ENABLE ALWAYS TRIGGER fenceline_update"
                        + "| CREATE TRIGGER fenceline_update AFTER UPDATE FOR EACH ROW WHEN (…"
                        + "| CREATE TRIGGER fenceline_update AFTER UPDATE OF name FOR EACH ROW EXECUTE FUNCTION"
                        + " fenceline.judge_write_v1('enforce', 'account', 'id')",
            })
    void aTriggerThatWasTouchedIsTold(String change, String expected, String found) {
        apply(ACCOUNT);
        database.execute(change);

        Difference difference =
                migrations.verify(List.of(ACCOUNT)).differences().get(0);

        assertThat(difference.subject()).isEqualTo("public.account");
        if (expected.endsWith("…")) {
            assertThat(difference.expected()).startsWith(expected.substring(0, expected.length() - 1));
        } else {
            assertThat(difference.expected()).isEqualTo(expected);
        }
        assertThat(difference.found()).isEqualTo(found);
        assertThat(difference.remedy()).isEqualTo(AGAIN);
    }

    /** A condition that is a little weaker: the naive comparison of names and modes sees nothing. */
    @Test
    void aTriggerWhoseConditionWasWeakenedIsToldThoughItsNameAndArgumentsAreRight() {
        apply(ACCOUNT);
        String definition = database.rows(
                        "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgname = 'fenceline_update'")
                .get(0);
        database.execute(definition
                        .replace("CREATE TRIGGER", "CREATE OR REPLACE TRIGGER")
                        .replace("IS NOT TRUE", "IS NOT TRUE AND old.name <> 'mine'")
                + "; ALTER TABLE account ENABLE ALWAYS TRIGGER fenceline_update");

        assertThat(database.rows("SELECT concat_ws(' ', relation, mode, lock_class, key) FROM fenceline.protected"))
                .containsExactly("account enforce account {id}");
        assertThat(migrations.verify(List.of(ACCOUNT)).differences())
                .singleElement()
                .satisfies(difference -> assertThat(difference.found()).contains("<> 'mine'"));
    }

    /** As {@code pg_restore --disable-triggers} leaves every trigger of a table that it has filled. */
    @Test
    void triggersThatARestoreHasEnabledAsByDefaultAreTold() {
        database.marked("marked", "id int PRIMARY KEY");
        apply(ACCOUNT);
        database.execute("SELECT fenceline.keep_marks_v1('marked', 'marked', 'id')");
        assertThat(migrations.verify(List.of(ACCOUNT)).differences()).isEmpty();
        for (String table : List.of("account", "marked", "fenceline.guard")) {
            database.execute(
                    "ALTER TABLE " + table + " DISABLE TRIGGER ALL; ALTER TABLE " + table + " ENABLE TRIGGER ALL");
        }

        String found = "that it does not fire under session_replication_role = replica";
        assertThat(migrations.verify(List.of(ACCOUNT)).differences())
                .hasSize(3 + 4 + 1)
                .allSatisfy(difference -> assertThat(difference.found()).isEqualTo(found))
                .contains(new Difference(
                        "public.marked",
                        "that trigger fenceline_keep_mark fires always",
                        found,
                        "Run: ALTER TABLE public.marked ENABLE ALWAYS TRIGGER fenceline_keep_mark;"));
        assertThat(migrations.doctor())
                .filteredOn(finding -> finding.code().equals("postgres-trigger-state"))
                .hasSize(3 + 4 + 1);
    }

    @Test
    void anotherTriggerInThePlaceOfOursIsTold() {
        apply(ACCOUNT);
        database.execute(
                "DROP TRIGGER fenceline_delete ON account; CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS"
                        + " $$ BEGIN RETURN NULL; END $$; CREATE TRIGGER fenceline_delete AFTER DELETE ON account FOR EACH ROW EXECUTE FUNCTION"
                        + " nothing(); ALTER TABLE account ENABLE ALWAYS TRIGGER fenceline_delete;"
                        + " CREATE TRIGGER extra AFTER UPDATE ON account FOR EACH ROW EXECUTE FUNCTION"
                        + " fenceline.judge_write_v1('enforce', 'account', 'id')");

        assertThat(migrations.verify(List.of(ACCOUNT)).differences())
                .containsExactly(
                        new Difference(
                                "public.account",
                                "trigger fenceline_delete of the fence",
                                "another of that name: CREATE TRIGGER fenceline_delete AFTER DELETE FOR EACH ROW EXECUTE FUNCTION"
                                        + " public.nothing()",
                                "Rename or drop it, then protect the table again."),
                        new Difference(
                                "public.account",
                                "no trigger extra",
                                "CREATE TRIGGER extra AFTER UPDATE FOR EACH ROW EXECUTE FUNCTION"
                                        + " fenceline.judge_write_v1('enforce', 'account', 'id')",
                                "Drop it: nothing of the fence made it."));
    }

    @Test
    void aPartitionThatWasAttachedSinceIsToldUntilTheTableIsProtectedAgain() {
        database.execute("CREATE TABLE parted (id int, at int) PARTITION BY RANGE (at)");
        Protect declared = Protect.table("parted").lock("parted", "id").enforce();
        apply(declared);
        database.execute(
                "CREATE TABLE later (at int, id int); ALTER TABLE parted ATTACH PARTITION later FOR VALUES FROM (0) TO (10)");

        assertThat(migrations.verify(List.of(declared)))
                .hasToString("public.later: expected trigger fenceline_truncate, found none. " + OF_PARTED);
        apply(declared);
        assertThat(migrations.verify(List.of(declared)).differences()).isEmpty();

        database.execute("ALTER TABLE later DISABLE TRIGGER fenceline_update");
        assertThat(migrations.verify(List.of(declared)))
                .hasToString(
                        "public.later: expected that trigger fenceline_update fires always, found that it is disabled. "
                                + OF_PARTED);
    }

    @Test
    void aDetachedPartitionThatKeepsATriggerIsTold() {
        database.execute("CREATE TABLE parted (id int, at int) PARTITION BY RANGE (at);"
                + " CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (10)");
        Protect declared = Protect.table("parted").lock("parted", "id").enforce();
        apply(declared);
        database.execute("ALTER TABLE parted DETACH PARTITION parted_1");

        assertThat(migrations.verify(List.of(declared)))
                .hasToString(
                        "public.parted_1: expected no protection, since none is declared, found triggers fenceline_truncate."
                                + " Declare it, or take it off with Unprotect.");
    }

    @Test
    void modeKeyAndWhatIsDeclaredOrNotAreCompared() {
        database.execute("CREATE TABLE other (id int, name text); CREATE TABLE third (id int)");
        apply(ACCOUNT);
        apply(Protect.table("other").lock("other", "id", "name").observe());

        Verification verification = migrations.verify(List.of(
                Protect.table("account").lock("account", "id").observe(),
                Protect.table("third").lock("third", "id").observe(),
                Protect.table("gone").lock("gone", "id").observe()));

        assertThat(verification.isAsDeclared()).isFalse();
        assertThat(verification).hasToString("""
                        public.account: expected observe by lock class 'account' and key [id], found enforce by lock class 'account' and key [id]. Declare enforce if that is meant: to apply this declaration goes back to observing, which refuses nobody.
                        public.gone: expected observe by lock class 'gone' and key [id], found no such table. Create it, or take it out of the declaration.
                        public.third: expected observe by lock class 'third' and key [id], found no protection. Plan and apply it.
                        public.other: expected no protection, since none is declared, found observe by lock class 'other' and key [id, name]. Declare it, or take it off with Unprotect.""");
        assertThat(migrations
                        .verify(List.of(
                                ACCOUNT,
                                Protect.table("other")
                                        .lock("other", "name", "id")
                                        .observe()))
                        .differences())
                .singleElement()
                .satisfies(difference -> assertThat(difference.expected())
                        .isEqualTo("observe by lock class 'other' and key [name, id]"));
        assertThatThrownBy(() -> migrations.verify(List.of(ACCOUNT, ACCOUNT)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Table public.account is declared twice: enforce by lock class 'account' and key [id] and enforce by lock"
                                + " class 'account' and key [id]. Declare it once.");
    }

    @Test
    void triggersThatDisagreeAndAColumnThatWasRenamedAreTold() {
        apply(ACCOUNT);
        database.execute("CREATE OR REPLACE TRIGGER fenceline_update AFTER UPDATE ON account FOR EACH ROW WHEN (false)"
                + " EXECUTE FUNCTION fenceline.judge_write_v1('observe', 'account', 'id')");
        assertThat(migrations.verify(List.of(ACCOUNT)).differences())
                .extracting(Difference::found)
                .contains(
                        "triggers that disagree: [enforce by lock class 'account' and key [id], observe by lock class 'account'"
                                + " and key [id]]");

        apply(ACCOUNT);
        database.execute("ALTER TABLE account RENAME COLUMN id TO number");
        assertThat(migrations.verify(List.of(ACCOUNT)))
                .hasToString(
                        "public.account: expected the key columns [id], found of these only []. A column was renamed or dropped;"
                                + " its rows are still refused or let through by what it was. Declare the columns that the table has now, and"
                                + " protect it again.");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "ALTER COLUMN fence_token SET DEFAULT 5 | fence_token | bigint NOT NULL DEFAULT 5",
                "ALTER COLUMN fence_token DROP DEFAULT | fence_token | bigint NOT NULL",
                "ALTER COLUMN fence_token DROP NOT NULL | fence_token | bigint DEFAULT '0'::bigint",
                "ALTER COLUMN fence_token TYPE numeric | fence_token | numeric NOT NULL DEFAULT '0'::bigint",
                "ALTER COLUMN fence_holder SET DEFAULT gen_random_uuid() | fence_holder | uuid DEFAULT gen_random_uuid()",
                "ALTER COLUMN fence_holder SET NOT NULL | fence_holder | uuid NOT NULL",
            })
    void aMarkColumnThatWasChangedIsTold(String change, String column, String found) {
        database.execute(
                "ALTER TABLE account ADD COLUMN fence_token bigint NOT NULL DEFAULT '0', ADD COLUMN fence_holder uuid");
        assertThat(migrations.verify(List.of()).differences()).isEmpty();
        database.execute("ALTER TABLE account " + change);

        assertThat(migrations.verify(List.of()).differences())
                .containsExactly(new Difference(
                        "public.account",
                        "column " + column + (column.equals("fence_token") ? " bigint NOT NULL DEFAULT 0" : " uuid"),
                        found,
                        "A new row would begin with a mark that nobody has claimed, or with none. Alter the column back; if it is not"
                                + " the fence's, rename it."));
    }

    @Test
    void withoutTheSchemaEveryDeclaredTableIsUnprotected() {
        database.execute("DROP SCHEMA fenceline CASCADE");

        assertThat(migrations.verify(List.of(ACCOUNT)))
                .hasToString(
                        "schema fenceline: expected version 5, found none. Run FenceMigrations.on(owner).install().\n"
                                + "public.account: expected enforce by lock class 'account' and key [id], found no protection."
                                + " Plan and apply it.");
    }

    @Test
    void aRoleThatMayProtectMayVerifyAndNoOther() {
        apply(ACCOUNT);
        String role = database.newRole("ci_");
        FenceMigrations ci = FenceMigrations.on(database.as(role));
        assertThatThrownBy(() -> ci.verify(List.of(ACCOUNT)))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessage("Verification refused: role '" + role + "' may not see what is protected. Run"
                        + " FenceMigrations.on(owner).grantProtectionTo(\"" + role + "\") as the owner of the schema.");

        migrations.grantProtectionTo(role);
        assertThat(ci.verify(List.of(ACCOUNT)).differences()).isEmpty();

        database.execute("REVOKE TEMPORARY ON DATABASE " + database.name() + " FROM PUBLIC");
        assertThatThrownBy(() -> ci.verify(List.of(ACCOUNT)))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessage(
                        "Verification refused: role '" + role
                                + "' may not create temporary tables in this database, and one is made"
                                + " to compare triggers with. Run: GRANT TEMPORARY ON DATABASE … TO …; as the owner of the database.");
    }

    @Test
    void theTextOfTheSchemaIsThatOfAllMigrations() throws IOException, URISyntaxException {
        Path folder = Path.of(Objects.requireNonNull(FenceMigrations.class.getResource("versioned/V1__guard.sql"))
                        .toURI())
                .getParent();
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrderElementsOf(SchemaText.MIGRATIONS);
        }
    }

    private void apply(Protect protect) {
        database.execute("SELECT fenceline.protect('" + protect.table().quoted().replace("'", "''") + "', '"
                + protect.lockClass()
                + "', ARRAY["
                + String.join(
                        ", ",
                        protect.key().stream().map(column -> "'" + column + "'").toList()) + "]::text[], '"
                + protect.mode().text() + "')");
    }
}
