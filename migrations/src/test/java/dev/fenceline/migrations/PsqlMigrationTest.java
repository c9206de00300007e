package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files of a plan in {@code psql}, as a careful administrator runs them: {@code mvn verify -Ppsql}. */
@Tag("psql")
class PsqlMigrationTest {

    private static final List<OddSchema.OddTable> TABLES = OddSchema.tables(12);
    private static final List<Change> CHANGES = new ArrayList<>();

    private static List<String> free;
    private static List<String> expected;
    private static Plan plan;

    @TempDir
    Path folder;

    @BeforeAll
    static void applyByUs() throws InterruptedException {
        for (int i = 0; i < TABLES.size(); i++) {
            Protect.Locked table = TABLES.get(i).locked();
            CHANGES.add(i % 2 == 0 ? table.observe() : table.enforce());
            if (i % 3 == 0) {
                CHANGES.add(new AddColumns(TABLES.get(i).name()));
            }
        }
        Database database = fresh();
        free = Snapshot.comparable(database);
        plan = FenceMigrations.on(database.source()).plan(CHANGES);
        plan.apply(ApplyOptions.defaults());
        expected = Snapshot.comparable(database);
        assertThat(Snapshot.difference(free, expected)).isNotEmpty();
    }

    private static Database fresh() {
        Database database = Database.empty();
        OddSchema.create(database, TABLES);
        FenceMigrations.on(database.source()).install();
        return database;
    }

    private static Client.End run(Database database, Path file) throws Exception {
        return Client.runPsql(database, "-1", "-f", file.toString());
    }

    @Test
    void theFilesMakeInOneTransactionWhatApplyMakesAndTakeItBack() throws Exception {
        Database database = fresh();
        MigrationFiles files = plan.write(folder, "48", "fence orders");

        assertThat(run(database, files.migration())).isEqualTo(new Client.End(0, ""));
        assertThat(Snapshot.difference(expected, Snapshot.comparable(database))).isEmpty();
        assertThat(FenceMigrations.on(database.source()).plan(CHANGES).steps())
                .extracting(Step::state)
                .containsOnly(Step.State.ALREADY_SO);

        assertThat(run(database, files.undo())).isEqualTo(new Client.End(0, ""));
        assertThat(Snapshot.difference(Snapshot.visible(free), Snapshot.visible(Snapshot.comparable(database))))
                .isEmpty();
    }

    @Test
    void aDatabaseWhereOneTableDoesNotFitStaysAsItIs() throws Exception {
        Database database = fresh();
        database.execute("DROP TABLE " + TABLES.get(9).name().quoted() + " CASCADE");
        List<String> before = Snapshot.of(database);
        MigrationFiles files = plan.write(folder, "48", "fence orders");

        Client.End end = run(database, files.migration());

        assertThat(end.exitCode()).isEqualTo(3);
        assertThat(end.output()).contains("ERROR:").contains("does not exist");
        assertThat(Snapshot.difference(before, Snapshot.of(database))).isEmpty();
    }
}
