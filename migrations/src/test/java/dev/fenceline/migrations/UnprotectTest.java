package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A table is protected by what calls our function, whatever it is named; and what an undo loses is said in its text. */
@Tag("server")
class UnprotectTest {

    private static final String JUDGES =
            "SELECT concat_ws(' ', tgname, tgenabled) FROM pg_trigger WHERE tgfoid = 'fenceline.judge_write_v1'::regproc ORDER BY 1";
    private static final String NAMED_BY_HAND = "CREATE TRIGGER \"Their fence\" AFTER UPDATE ON account FOR EACH ROW"
            + " EXECUTE FUNCTION fenceline.judge_write_v1('enforce', 'account', 'id');"
            + " ALTER TABLE account ENABLE ALWAYS TRIGGER \"Their fence\"";

    private Database database;
    private FenceMigrations migrations;

    @BeforeEach
    void prepare() {
        database = Database.prepared();
        migrations = FenceMigrations.on(database.source());
        database.execute("CREATE TABLE account (id int PRIMARY KEY)");
    }

    @Test
    void aTableIsUnprotectedFromOurFunctionUnderAnyName() throws InterruptedException {
        database.execute(NAMED_BY_HAND);

        Plan plan = migrations.plan(Unprotect.table("account"));

        assertThat(plan.steps().get(0))
                .hasToString(
                        "public.account: no longer protected; so far judged by trigger \"Their fence\" on public.account,"
                                + " which the fence has not made");
        assertThat(plan.warnings())
                .contains(
                        "public.account: drops trigger \"Their fence\" on public.account too, which calls the fence's function under"
                                + " another name, and which the rollback does not bring back.");
        plan.apply(ApplyOptions.defaults());
        assertThat(database.rows(JUDGES)).isEmpty();
        assertThat(migrations.plan(Unprotect.table("account")).steps().get(0))
                .hasToString("public.account: not protected (already so)");
    }

    @Test
    void besideOurOwnTriggersItIsDroppedAndTheRollbackRestoresOurs() throws InterruptedException {
        database.execute("SELECT fenceline.protect('account', 'account', '{id}', 'observe'); " + NAMED_BY_HAND);
        Plan plan = migrations.plan(Unprotect.table("account"));

        assertThat(plan.steps().get(0).summary())
                .isEqualTo("no longer protected; so far observe with locks account:<id>");
        plan.apply(ApplyOptions.defaults());
        assertThat(database.rows(JUDGES)).isEmpty();

        database.execute(plan.rollbackSql());
        assertThat(database.rows(JUDGES))
                .containsExactly(
                        "fenceline_delete A", "fenceline_insert A", "fenceline_truncate A", "fenceline_update A");
    }

    @Test
    void onASubscriberItLetsTheApplyWorkerPassToo() throws InterruptedException {
        database.execute(NAMED_BY_HAND);

        Plan plan = migrations.plan(Unprotect.table("account").onSubscriber());
        plan.apply(ApplyOptions.defaults());

        assertThat(database.rows(JUDGES)).containsExactly("Their fence O");
        database.execute(plan.rollbackSql());
        assertThat(database.rows(JUDGES)).containsExactly("Their fence A");
    }

    @Test
    void theUndoOfAddingColumnsSaysWhatItLoses() {
        String loss =
                "-- WARNING: public.account: this drops the columns with the marks of all rows, for good. Added again they begin at 0"
                        + " and admit tokens that were stale before. End all work in row mode first, and let every lease end.\n";
        Plan plan = migrations.plan(AddColumns.table("account"));

        assertThat(plan.rollbackSql()).contains(loss);
        assertThat(plan.sql()).doesNotContain("WARNING");
        database.execute(plan.sql());
        assertThat(migrations.plan(AddColumns.table("account")).rollbackSql()).doesNotContain("WARNING");
        assertThat(migrations.plan(DropColumns.table("account")).rollbackSql()).doesNotContain("WARNING");
    }
}
