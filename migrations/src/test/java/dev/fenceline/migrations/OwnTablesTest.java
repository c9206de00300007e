package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.fenceline.Finding;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The fence's own tables, and PostgreSQL's, are nobody's to protect: a guard that is protected refuses every claim. */
@Tag("server")
class OwnTablesTest {

    /** As an owner may do it who copies what he saw on a table of his own. */
    private static final String BY_HAND = "CREATE TRIGGER fenceline_update AFTER UPDATE ON fenceline.guard FOR EACH ROW"
            + " EXECUTE FUNCTION fenceline.judge_write_v1('enforce', 'guard', 'lock');"
            + " CREATE TRIGGER fenceline_insert AFTER INSERT ON fenceline.guard FOR EACH ROW"
            + " EXECUTE FUNCTION fenceline.judge_write_v1('enforce', 'guard', 'lock');"
            + " ALTER TABLE fenceline.guard ENABLE ALWAYS TRIGGER fenceline_update, ENABLE ALWAYS TRIGGER fenceline_insert";

    private static final String CLAIM =
            "CALL fenceline.claim('account:42', 1764000000000001, 'a0000000-0000-4000-8000-000000000001')";

    Database database;
    FenceMigrations migrations;

    @BeforeEach
    void prepare() {
        database = Database.prepared();
        migrations = FenceMigrations.on(database.source());
    }

    @ParameterizedTest
    @CsvSource({
        "fenceline.guard, lock, the fence's",
        "fenceline.schema_history, installed_rank, the fence's",
        "fenceline.nothing, id, the fence's",
        "pg_catalog.pg_class, oid, PostgreSQL's",
        "pg_toast.pg_toast_1255, chunk_id, PostgreSQL's",
        "information_schema.sql_features, feature_id, PostgreSQL's"
    })
    void areRefusedByEveryPlanThatPutsSomethingOnThem(String table, String key, String owner) {
        List<String> before = Snapshot.of(database);
        String refused = "Plan refused, nothing was changed: " + table + ": it is " + owner
                + " own. Protect the tables that hold your rows.";

        for (Change change : List.of(
                Protect.table(table).lock("own", key).observe(),
                Protect.table(table).lock("own").enforce(),
                AddColumns.table(table))) {
            assertThatThrownBy(() -> migrations.plan(change))
                    .isInstanceOf(PlanRefusedException.class)
                    .hasMessage(refused);
        }
        assertThat(Snapshot.difference(before, Snapshot.of(database))).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "fenceline.guard, lock, the fence's",
        "fenceline.violation, id, the fence's",
        "pg_class, oid, PostgreSQL's",
        "information_schema.sql_features, feature_id, PostgreSQL's"
    })
    void areRefusedByTheFunctionToo(String table, String key, String owner) {
        assertThatThrownBy(() -> Database.run(
                        database.source(),
                        "SELECT fenceline.protect('" + table + "', 'own', ARRAY['" + key + "'], 'observe')"))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("FL011"))
                .hasMessageContaining("Protection of " + table + " refused: it is " + owner + " own")
                .hasMessageContaining("Protect the tables that hold your rows.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"fencelines.guard", "\"Fenceline\".guard", "public.guard", "public.pg_class"})
    void tablesThatAreOnlyCalledAlikeAreProtected(String table) {
        database.execute("CREATE SCHEMA IF NOT EXISTS fencelines; CREATE SCHEMA IF NOT EXISTS \"Fenceline\";"
                + " CREATE TABLE " + table + " (lock text)");

        assertThat(migrations
                        .plan(Protect.table(table).lock("own", "lock").observe())
                        .locksTaken())
                .hasSize(1);
        database.execute("SELECT fenceline.protect('" + table + "', 'own', ARRAY['lock'], 'observe')");
        assertThat(migrations.doctor()).extracting(Finding::code).doesNotContain("postgres-own-table");
    }

    @Test
    void aGuardThatWasProtectedByHandRefusesClaimsUntilDoctorIsHeard() throws SQLException, InterruptedException {
        database.execute(BY_HAND);

        assertThatThrownBy(() -> Database.run(database.source(), CLAIM))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("INSERT on fenceline.guard refused: it needs lock 'guard:account%3A42'");
        assertThat(migrations.worded(Wording.SHELL).doctor())
                .extracting(Finding::toString)
                .contains(
                        "ERROR postgres-own-table: table fenceline.guard is protected as if it were yours, by fenceline_insert,"
                                + " fenceline_update. The fence itself may be refused there, claims among it. As the owner take them off:"
                                + " fenceline unprotect --table fenceline.guard.");

        migrations.plan(Unprotect.table("fenceline.guard")).apply(ApplyOptions.defaults());

        Database.run(database.source(), CLAIM);
        assertThat(migrations.doctor()).extracting(Finding::code).doesNotContain("postgres-own-table");
    }

    @Test
    void aDeclarationOfOneIsADifferenceThatNothingCanMend() {
        Protect guard = Protect.table("fenceline.guard").lock("guard", "lock").enforce();
        String told =
                "fenceline.guard: expected enforce by lock class 'guard' and key [lock], found a table that cannot be protected:"
                        + " it is the fence's own. Take it out of the declaration. Protect the tables that hold your rows.";

        assertThat(migrations.verify(List.of(guard)).differences())
                .extracting(Difference::toString)
                .containsExactly(told);

        database.execute(BY_HAND);
        assertThat(migrations.verify(List.of(guard)).differences())
                .extracting(Difference::toString)
                .contains(told);
        assertThat(migrations.verify(List.of()).differences())
                .extracting(Difference::subject, Difference::expected)
                .contains(tuple("fenceline.guard", "no protection, since none is declared"));
    }
}
