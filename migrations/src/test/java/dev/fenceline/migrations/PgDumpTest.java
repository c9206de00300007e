package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendMisconfiguredException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A database with a fence through {@code pg_dump} and {@code psql}, which have to be installed, in version 15 or newer: {@code mvn verify
 * -Ppsql}.
 */
@Tag("psql")
class PgDumpTest {

    private static final List<OddSchema.OddTable> TABLES = OddSchema.tables(12);
    private static final String OLDER = "'account:1', 1764000000000001, 'a0000000-0000-4000-8000-000000000001'";
    private static final String NEWEST = "'account:1', 1764000000000002, 'b0000000-0000-4000-8000-000000000002'";
    private static final String WRITE = "UPDATE public.account SET balance = balance + 1 WHERE id = 1";

    private static final String BYPASS = "SELECT fenceline.bypass('because I can')";
    private static final Protect ACCOUNT =
            Protect.table("account").lock("account", "id").enforce();
    private static final List<Change> CHANGES = new ArrayList<>();
    private static Database origin;

    @BeforeAll
    static void protectAndWork() throws InterruptedException {
        origin = Database.empty();
        OddSchema.create(origin, TABLES);
        TABLES.forEach(table -> origin.execute(table.insert()));
        origin.execute(
                "CREATE TABLE public.account (id int PRIMARY KEY, balance bigint NOT NULL); INSERT INTO public.account VALUES (1, 100)");
        FenceMigrations migrations = FenceMigrations.on(origin.source());
        migrations.install();
        migrations.grantTo(origin.newRole("uses"));
        migrations.grantRowsTo(origin.newRole("rows"));
        migrations.grantProtectionTo(origin.newRole("protects"));
        migrations.grantBypassTo(origin.newRole("bypasses"));
        for (int i = 0; i < TABLES.size(); i++) {
            Protect.Locked table = TABLES.get(i).locked();
            CHANGES.add(i % 2 == 0 ? table.observe() : table.enforce());
        }
        CHANGES.add(ACCOUNT);
        migrations.plan(CHANGES).apply(ApplyOptions.defaults());
        origin.execute("CALL fenceline.claim(" + OLDER + ")");
        origin.execute("CALL fenceline.claim(" + NEWEST + ")");
        origin.execute("UPDATE " + TABLES.get(0).name().quoted() + " SET note = 'unfenced'");
        origin.execute("BEGIN; SELECT fenceline.bypass('correct balances'); " + WRITE + "; COMMIT");
    }

    @Test
    void aDumpBringsTheFenceWithItsMarksIntoAFreshDatabase() throws Exception {
        Database copy = Database.empty();
        Client.dump(origin).into(copy);

        assertThat(Snapshot.difference(catalogue(origin), catalogue(copy))).isEmpty();
        assertThat(Snapshot.difference(contents(origin), contents(copy))).isEmpty();
        assertThat(copy.rows(
                        "SELECT DISTINCT tgenabled FROM pg_trigger WHERE tgfoid = 'fenceline.judge_write_v1'::regproc"))
                .containsExactly("A");
        FenceMigrations.on(copy.source()).install();
        assertThat(FenceMigrations.on(copy.source()).plan(CHANGES).steps())
                .extracting(Step::state)
                .containsOnly(Step.State.ALREADY_SO);
        assertThat(Snapshot.difference(catalogue(origin), catalogue(copy))).isEmpty();

        assertThatThrownBy(() -> Database.run(copy.source(), WRITE))
                .hasMessageContaining(
                        "UPDATE on public.account refused: it needs lock 'account:1' (token 1764000000000002/b0000000)");
        assertThatThrownBy(() -> Database.run(copy.source(), "CALL fenceline.claim(" + OLDER + ")"))
                .hasMessageContaining(
                        "Claim of token 1764000000000001/a0000000 on lock 'account:1' refused: the mark is token"
                                + " 1764000000000002/b0000000");
        copy.execute(underLock(NEWEST));
        assertThat(copy.rows("SELECT balance FROM public.account")).containsExactly("102");
        copy.execute("UPDATE " + TABLES.get(0).name().quoted() + " SET note = 'once more'");
        assertThat(copy.rows("SELECT count(*) FROM fenceline.violation")).containsExactly("2");
    }

    private static String underLock(String token) {
        return "BEGIN; SELECT fenceline.enter(" + token + "); " + WRITE + "; COMMIT";
    }

    /** The control: without the marks the copy knows of nobody who was overtaken. */
    @Test
    void aDumpWithoutTheMarksLetsAnOldWriterInAgain() throws Exception {
        Database copy = Database.empty();
        Client.dump(origin, "--exclude-table-data=fenceline.guard").into(copy);

        copy.execute("CALL fenceline.claim(" + OLDER + ")");
        copy.execute(underLock(OLDER));

        assertThat(copy.rows("SELECT balance FROM public.account")).containsExactly("102");
    }

    @Test
    void definitionsAloneComeWithTheProtectionButWithoutMarksAndHistory() throws Exception {
        Database copy = Database.empty();
        Client.dump(origin, "--schema-only").into(copy);

        assertThat(Snapshot.difference(catalogue(origin), catalogue(copy))).isEmpty();
        assertThat(copy.rows("SELECT lock FROM fenceline.guard")).isEmpty();
        assertThatThrownBy(() -> FenceMigrations.on(copy.source()).install())
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessage(
                        "Installing the fence schema failed: ERROR: relation \"guard\" already exists (SQLSTATE 42P07). To do: bring the"
                                + " rows of fenceline.schema_history too, if this schema came from a dump of definitions alone; if not, find out"
                                + " who has made what is in the way.");

        Client.dump(origin, "--data-only", "--table=fenceline.schema_history").into(copy);
        FenceMigrations.on(copy.source()).install();
    }

    @Test
    void dataAloneIsRefusedLikeAnyWriter() throws Exception {
        Database copy = Database.empty();
        Client.dump(origin, "--schema-only").into(copy);
        List<String> empty = contents(copy);

        Client.End end = Client.dump(origin, "--data-only").tryInto(copy, "-1");

        assertThat(end.exitCode()).isEqualTo(3);
        assertThat(end.output()).contains("INSERT on ").contains(" refused: it needs lock ");
        assertThat(Snapshot.difference(empty, contents(copy))).isEmpty();
    }

    @Test
    void dataAloneIsLoadedInOneTransactionThatGoesAroundTheFence() throws Exception {
        Database copy = Database.empty();
        Client.dump(origin, "--schema-only").into(copy);

        String[] around = {"-1", "-c", "SELECT fenceline.bypass('restored from a dump')", "-f", "-"};
        assertThat(Client.dump(origin, "--data-only").tryInto(copy, around).output())
                .as("this bypass, and the first one that is restored")
                .contains("duplicate key value violates unique constraint \"bypass_pkey\"");

        Client.dump(origin, "--data-only", "--exclude-table-data=fenceline.bypass")
                .into(copy, around);

        assertThat(Snapshot.difference(contents(origin), contents(copy)))
                .allMatch(line -> line.substring(2).startsWith("fenceline.bypass "));
        assertThat(copy.rows("SELECT reason FROM fenceline.bypass")).containsExactly("restored from a dump");
        assertThatThrownBy(() -> Database.run(copy.source(), "CALL fenceline.claim(" + OLDER + ")"))
                .hasMessageContaining("refused: the mark is token 1764000000000002/b0000000");
    }

    /** What {@code pg_restore --disable-triggers} does too: it switches on again what it has switched off, and knows of no ALWAYS. */
    @Test
    void dataThatIsLoadedWithTriggersDisabledLeavesThemOutOfOrder() throws Exception {
        Database copy = Database.empty();
        Client.dump(origin, "--schema-only").into(copy);

        Client.dump(origin, "--data-only", "--disable-triggers").into(copy, "-1");

        assertThat(outOfOrder(copy)).contains("guard keep_mark", "public.account fenceline_update");
        FenceMigrations.on(copy.source()).plan(CHANGES).apply(ApplyOptions.defaults());
        assertThat(outOfOrder(copy))
                .as("no plan touches them")
                .containsOnly("guard keep_mark", "guard keep_row", "guard keep_table");

        Database other = Database.empty();
        Client.dump(origin, "--schema-only").into(other);
        Client.dump(origin, "--data-only", "--exclude-schema=fenceline", "--disable-triggers")
                .into(other, "-1");
        FenceMigrations.on(other.source()).plan(CHANGES).apply(ApplyOptions.defaults());
        assertThat(outOfOrder(other)).isEmpty();
    }

    /** The triggers that are not as in the origin; everything else is. */
    private static Set<String> outOfOrder(Database copy) {
        Pattern trigger = Pattern.compile("[-+] trigger (.+? (?:fenceline|keep)_[a-z]+) [AO] .*");
        return Snapshot.difference(catalogue(origin), catalogue(copy)).stream()
                .map(line -> {
                    Matcher found = trigger.matcher(line);
                    assertThat(found.matches()).as(line).isTrue();
                    return found.group(1);
                })
                .collect(Collectors.toSet());
    }

    @Test
    void oneTableIsProtectedWhereverThereIsAFence() throws Exception {
        Database copy = Database.empty();
        Client.End end = Client.dump(origin, "--table=public.account").tryInto(copy);
        assertThat(end.exitCode()).isEqualTo(3);
        assertThat(end.output()).contains("schema \"fenceline\" does not exist");
        assertThat(Database.run(copy.source(), WRITE + " RETURNING balance"))
                .as("unprotected")
                .containsExactly("102");
        copy.execute("DROP TABLE public.account");

        FenceMigrations migrations = FenceMigrations.on(copy.source());
        migrations.install();
        Client.dump(origin, "--table=public.account").into(copy, "-1");
        assertThat(migrations.plan(ACCOUNT).steps()).extracting(Step::state).containsExactly(Step.State.ALREADY_SO);
        assertThat(copy.rows("SELECT balance FROM public.account")).containsExactly("101");
        assertThatThrownBy(() -> Database.run(copy.source(), WRITE))
                .hasMessageContaining("UPDATE on public.account refused: it needs lock 'account:1' (never claimed)");
    }

    /** PostgreSQL lets everybody call a function whose rights are not restored; only the schema is still closed. */
    @Test
    void aDumpWithoutRightsOpensNoFunctionToWhoeverIsLetInLater() throws Exception {
        Database copy = Database.empty();
        Client.dump(origin, "--no-privileges").into(copy);
        String role = copy.newRole("app");
        copy.execute("GRANT USAGE ON SCHEMA fenceline TO " + role);
        assertThat(Database.run(copy.as(role), BYPASS)).as("the control").hasSize(1);
        copy.execute("REVOKE USAGE ON SCHEMA fenceline FROM " + role);

        FenceMigrations.on(copy.source()).grantTo(role);

        assertThatThrownBy(() -> Database.run(copy.as(role), BYPASS))
                .hasMessageContaining("permission denied for function bypass");
        Database.run(copy.as(role), "SELECT * FROM fenceline.enter_v1(" + NEWEST + ", 1000, 1000)");
    }

    private static List<String> catalogue(Database database) {
        return Stream.concat(Snapshot.comparable(database).stream(), FenceSnapshot.of(database).stream())
                .toList();
    }

    /** Every row of every table, also those of the fence. */
    private static List<String> contents(Database database) {
        return database.rows(
                "SELECT concat(c.oid::regclass, ' ', query_to_xml(format('SELECT t FROM ONLY %s AS t ORDER BY t::text', c.oid::regclass),"
                        + " true, true, '')) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
                        + " WHERE c.relkind = 'r' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' ORDER BY 1");
    }
}
