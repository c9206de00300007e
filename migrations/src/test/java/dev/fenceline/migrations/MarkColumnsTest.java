package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;

/** The columns of row mode come without rewriting a row, and go only where they are ours and nothing hangs on them. */
@Tag("server")
class MarkColumnsTest {

    private static final Database DATABASE = Database.prepared();

    private final FenceMigrations migrations = FenceMigrations.on(DATABASE.source());

    @BeforeEach
    void table() {
        DATABASE.execute("DROP TABLE IF EXISTS account CASCADE; CREATE TABLE account (id int PRIMARY KEY, balance int);"
                + " INSERT INTO account SELECT i, i FROM generate_series(1, 100) i");
    }

    @Test
    void noRowIsRewrittenAndEveryRowHasAMarkThatAnyTokenPasses() throws Exception {
        List<String> before = Snapshot.of(DATABASE);
        String file = "SELECT relfilenode FROM pg_class WHERE oid = 'account'::regclass";
        String fileBefore = DATABASE.rows(file).get(0);
        Plan plan = migrations.plan(AddColumns.table("account"));

        assertThat(plan.apply(ApplyOptions.defaults()).with(Applied.Outcome.CHANGED))
                .hasSize(1);

        assertThat(DATABASE.rows(file)).containsExactly(fileBefore);
        assertThat(DATABASE.rows("SELECT count(*) FROM account WHERE fence_token = 0 AND fence_holder IS NULL"))
                .containsExactly("100");
        DATABASE.execute(
                "INSERT INTO account VALUES (101, 0); SELECT fenceline.keep_marks_v1('account', 'account', 'id');"
                        + " DROP TRIGGER fenceline_keep_mark ON account");
        assertThat(migrations.plan(AddColumns.table("account")).steps().get(0))
                .hasToString("public.account: has fence_token and fence_holder (already so)");

        migrations.plan(DropColumns.table("account")).apply(ApplyOptions.defaults());
        assertThat(DATABASE.rows(file)).containsExactly(fileBefore);
        // A dropped column leaves its place behind, which is nothing that anybody sees.
        assertThat(Snapshot.difference(Snapshot.visible(before), Snapshot.visible(Snapshot.of(DATABASE))))
                .isEmpty();
        assertThat(migrations.plan(DropColumns.table("account")).steps().get(0))
                .hasToString("public.account: has no fence_token (already so)");
        DATABASE.execute(plan.sql());
        DATABASE.execute(plan.rollbackSql());
        assertThat(Snapshot.difference(Snapshot.visible(before), Snapshot.visible(Snapshot.of(DATABASE))))
                .isEmpty();
    }

    /** Whichever of the two comes second: row mode enters nothing, and its writes are refused where a table enforces. */
    @ParameterizedTest
    @ValueSource(strings = {"observe", "enforce"})
    void aTableThatWouldBeProtectedAndInRowModeIsWarnedOf(String mode) {
        String both =
                ", and row mode enters no lock: what it writes is refused by a table that enforces, and recorded by one that"
                        + " observes. Use one of the two for a table.";
        Protect.Locked locked = Protect.table("account").lock("account", "id");
        Protect protect = mode.equals("observe") ? locked.observe() : locked.enforce();
        assertThat(migrations.plan(AddColumns.table("account")).warnings()).noneMatch(text -> text.endsWith(both));
        assertThat(migrations.plan(protect).warnings()).noneMatch(text -> text.endsWith(both));

        DATABASE.execute("SELECT fenceline.protect('account', 'account', '{id}', '" + mode + "')");
        assertThat(migrations.plan(AddColumns.table("account")).warnings())
                .contains("public.account: is protected" + both);

        DATABASE.execute("SELECT fenceline.unprotect('account')");
        DATABASE.execute(migrations.plan(AddColumns.table("account")).sql());
        assertThat(migrations.plan(protect).warnings()).contains("public.account: has the columns of row mode" + both);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "fence_token text | fence_token text",
                "fence_token bigint | fence_token bigint",
                "fence_token bigint NOT NULL | fence_token bigint NOT NULL",
                "fence_token bigint NOT NULL DEFAULT 7, ADD COLUMN fence_holder uuid"
                        + " | fence_token bigint NOT NULL DEFAULT 7 and fence_holder uuid",
                "fence_token integer NOT NULL DEFAULT 0, ADD COLUMN fence_holder uuid"
                        + " | fence_token integer NOT NULL DEFAULT 0 and fence_holder uuid",
                "fence_token bigint NOT NULL DEFAULT 0 | fence_token bigint NOT NULL DEFAULT 0",
                "fence_holder uuid | fence_holder uuid",
                "fence_token bigint NOT NULL DEFAULT 0, ADD COLUMN fence_holder text"
                        + " | fence_token bigint NOT NULL DEFAULT 0 and fence_holder text",
            })
    void columnsOfTheSameNameAndAnotherMeaningAreLeftAlone(String theirs, String described) {
        DATABASE.execute("TRUNCATE account; ALTER TABLE account ADD COLUMN " + theirs);

        assertThatThrownBy(() -> migrations.plan(AddColumns.table("account")))
                .isInstanceOf(PlanRefusedException.class)
                .hasMessage("Plan refused, nothing was changed: public.account: it has " + described
                        + ", which is not what row mode keeps"
                        + " its mark in: fence_token bigint NOT NULL DEFAULT 0 and fence_holder uuid. Rename what is there, or use"
                        + " enforced mode, which needs no columns.");
        assertThatThrownBy(() -> migrations.plan(DropColumns.table("account")))
                .isInstanceOf(PlanRefusedException.class)
                .hasMessage("Plan refused, nothing was changed: public.account: it has " + described
                        + ", and row mode's own are"
                        + " fence_token bigint NOT NULL DEFAULT 0 and fence_holder uuid. What is there is somebody else's: drop it by"
                        + " hand, if it is to go.");
    }

    /** Made on one database and run on another, whose column of that name has data of theirs. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "fence_token text DEFAULT 'theirs', ADD COLUMN fence_holder uuid",
                "fence_token bigint NOT NULL DEFAULT 0, ADD COLUMN fence_holder text"
            })
    void textThatDropsColumnsDropsNobodyElses(String theirs) throws Exception {
        Plan adding = migrations.plan(AddColumns.table("account"));
        adding.apply(ApplyOptions.defaults());
        Plan dropping = migrations.plan(DropColumns.table("account"));
        DATABASE.execute("ALTER TABLE account DROP COLUMN fence_token, DROP COLUMN fence_holder;"
                + " ALTER TABLE account ADD COLUMN " + theirs);

        for (String text : List.of(dropping.sql(), adding.rollbackSql())) {
            assertThatThrownBy(() -> Database.run(DATABASE.source(), text))
                    .isInstanceOf(SQLException.class)
                    .hasMessageStartingWith(
                            "ERROR: Dropping fence_token and fence_holder of public.account refused: they are not both"
                                    + " there as fence_token bigint NOT NULL DEFAULT 0 and fence_holder uuid\n"
                                    + "  Hint: What is there is somebody else's: drop it by hand, if it is to go.");
        }
        assertThat(DATABASE.rows("SELECT count(fence_token) FROM account")).containsExactly("100");
    }

    @Test
    void columnsThatSomebodyAddedByHandAsThePageSaysAreOurs() throws Exception {
        DATABASE.execute("ALTER TABLE account ADD COLUMN fence_token bigint NOT NULL DEFAULT '0'::bigint;"
                + " ALTER TABLE account ADD COLUMN fence_holder uuid");

        assertThat(migrations.plan(AddColumns.table("account")).steps().get(0).state())
                .isEqualTo(Step.State.ALREADY_SO);
        migrations.plan(DropColumns.table("account")).apply(ApplyOptions.defaults());
        assertThat(
                        DATABASE.rows(
                                "SELECT count(*) FROM pg_attribute WHERE attrelid = 'account'::regclass AND attname LIKE 'fence%'"))
                .containsExactly("0");
    }

    @Test
    void whatHangsOnTheColumnsIsNamedBeforeTheyGo() throws Exception {
        migrations.plan(AddColumns.table("account")).apply(ApplyOptions.defaults());
        DATABASE.execute(
                "CREATE VIEW everything AS SELECT * FROM account; CREATE INDEX theirs ON account (fence_token);"
                        + " SELECT fenceline.keep_marks_v1('account', 'account', 'id')");

        assertThatThrownBy(() -> migrations.plan(DropColumns.table("account")))
                .isInstanceOf(PlanRefusedException.class)
                .hasMessage(
                        "Plan refused, nothing was changed: public.account: on fence_token and fence_holder depends index theirs, rule"
                                + " _RETURN on view everything, trigger fenceline_keep_mark on table account. Drop or change that first.");
        DATABASE.execute("DROP VIEW everything; DROP INDEX theirs; DROP TRIGGER fenceline_keep_mark ON account");
        migrations.plan(DropColumns.table("account")).apply(ApplyOptions.defaults());
    }

    @Test
    void partitionsGetAndLoseTheirColumnsWithTheTable() throws Exception {
        DATABASE.execute(
                "DROP TABLE account; CREATE TABLE account (id int) PARTITION BY RANGE (id);"
                        + " CREATE TABLE account_1 PARTITION OF account FOR VALUES FROM (0) TO (10); INSERT INTO account VALUES (1)");
        migrations.plan(AddColumns.table("account")).apply(ApplyOptions.defaults());
        assertThat(DATABASE.rows("SELECT fence_token FROM account_1")).containsExactly("0");
        DATABASE.execute("CREATE INDEX theirs ON account_1 (fence_holder)");
        assertThatThrownBy(() -> migrations.plan(DropColumns.table("account")))
                .hasMessageContaining("on fence_token and fence_holder depends index theirs.");
        DATABASE.execute("DROP INDEX theirs");
        migrations.plan(DropColumns.table("account")).apply(ApplyOptions.defaults());
        assertThat(
                        DATABASE.rows(
                                "SELECT count(*) FROM pg_attribute WHERE attrelid = 'account_1'::regclass AND attname LIKE 'fence%'"))
                .containsExactly("0");
    }

    /** What the plan warns about: it happens, and only to what was prepared before. */
    @Test
    void oldCodeThatHoldsAPreparedSelectOfAllColumnsFailsOnceInATransaction() throws Exception {
        try (Connection old = DATABASE.source().getConnection()) {
            old.unwrap(PGConnection.class).setPrepareThreshold(1);
            try (PreparedStatement all = old.prepareStatement("SELECT * FROM account WHERE id = 1");
                    PreparedStatement named = old.prepareStatement("SELECT balance FROM account WHERE id = 1");
                    Statement other = old.createStatement()) {
                all.executeQuery().close();
                named.executeQuery().close();
                Plan plan = migrations.plan(AddColumns.table("account"));
                assertThat(plan.warnings()).first().asString().contains("0A000").contains("SELECT *");
                plan.apply(ApplyOptions.defaults());

                old.setAutoCommit(false);
                other.execute("SELECT 1");
                named.executeQuery().close();
                assertThatThrownBy(all::executeQuery)
                        .isInstanceOfSatisfying(
                                SQLException.class,
                                e -> assertThat(e.getSQLState()).isEqualTo("0A000"));
                old.rollback();
                all.executeQuery().close();
                old.rollback();
            }
        }
    }
}
