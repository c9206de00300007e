package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.jdbc.PreferQueryMode;

/** One plan, applied by us, by the user's own Flyway, by psql and by what splits files: the same catalogue. */
@Tag("server")
class ThreeWaysTest {

    private static final List<OddSchema.OddTable> TABLES = OddSchema.tables(36);

    private static List<Change> changes;
    private static List<String> free;
    private static List<String> expected;
    private static Plan plan;

    @TempDir
    Path folder;

    private static Database fresh() {
        Database database = Database.empty();
        OddSchema.create(database, TABLES);
        FenceMigrations.on(database.source()).install();
        return database;
    }

    private static Plan planOn(Database database) {
        return FenceMigrations.on(database.source()).plan(changes);
    }

    @BeforeAll
    static void applyByUs() throws InterruptedException {
        changes = new ArrayList<>();
        for (int i = 0; i < TABLES.size(); i++) {
            Protect.Locked table = TABLES.get(i).locked();
            changes.add(i % 2 == 0 ? table.observe() : table.enforce());
            if (i % 3 == 0 && !TABLES.get(i).ddl().contains("fence_token")) {
                changes.add(new AddColumns(TABLES.get(i).name()));
            }
        }
        Database database = fresh();
        free = Snapshot.comparable(database);
        plan = planOn(database);
        plan.apply(ApplyOptions.defaults());
        expected = Snapshot.comparable(database);
        assertThat(expected).isNotEqualTo(free);
    }

    @Test
    void theSameChangesGiveTheSameTextInEveryDatabase() {
        assertThat(planOn(fresh()).sql()).isEqualTo(plan.sql());
        assertThat(plan.sql()).doesNotContain("${").doesNotContain("\n\\");
        assertThat(plan.rollbackSql()).doesNotContain("${").doesNotContain("\n\\");
    }

    @Test
    void theUsersOwnFlywayAndItsHistoryIsHisAlone() throws Exception {
        Database database = fresh();
        Files.writeString(folder.resolve("V47__theirs.sql"), "CREATE TABLE theirs (id int)");
        Flyway flyway = flyway(database);
        flyway.migrate();
        String history = "SELECT h::text FROM flyway_schema_history h ORDER BY installed_rank";
        List<String> before = database.rows(history);
        FenceMigrations.on(database.source()).install();
        MigrationFiles files = planOn(database).write(folder, "48", "fence orders");
        assertThat(database.rows(history)).as("installing and planning").isEqualTo(before);

        flyway.migrate();

        assertThat(Snapshot.difference(expected, withoutTheirs(database))).isEmpty();
        assertThat(database.rows(history)).hasSize(before.size() + 1).containsAll(before);
        flyway.validate();
        database.execute(Files.readString(files.undo()));
        assertThat(Snapshot.difference(Snapshot.visible(free), Snapshot.visible(withoutTheirs(database))))
                .isEmpty();
    }

    /** The free edition runs no undo, and takes its name for a slip. */
    @Test
    void aFlywayThatValidatesNamesTakesAnUndoThatIsWrittenApartAndNoneBeside() throws Exception {
        Database database = fresh();
        Path migrations = Files.createDirectory(folder.resolve("migration"));
        Flyway flyway = Flyway.configure()
                .dataSource(database.source())
                .locations("filesystem:" + migrations)
                .baselineOnMigrate(true)
                .baselineVersion("1")
                .validateMigrationNaming(true)
                .load();
        Files.delete(planOn(database).write(migrations, "48", "fence orders").migration());
        assertThatThrownBy(flyway::migrate)
                .isInstanceOf(FlywayException.class)
                .hasMessageContaining("U48__fence_orders.sql");
        Files.delete(migrations.resolve("U48__fence_orders.sql"));

        Path undos = Files.createDirectory(folder.resolve("undo"));
        MigrationFiles files = planOn(database).write(migrations, undos, "48", "fence orders");
        flyway.migrate();

        assertThat(Snapshot.difference(expected, withoutTheirs(database))).isEmpty();
        database.execute(Files.readString(files.undo()));
        assertThat(Snapshot.difference(Snapshot.visible(free), Snapshot.visible(withoutTheirs(database))))
                .isEmpty();
    }

    private static List<String> withoutTheirs(Database database) {
        return Snapshot.comparable(database).stream()
                .filter(line -> !line.matches("\\w+ (public\\.)?(theirs|flyway_schema_history).*"))
                .filter(line -> !line.matches("type (theirs|flyway_schema_history)(\\[])? .*"))
                .toList();
    }

    private Flyway flyway(Database database) {
        return Flyway.configure()
                .dataSource(database.source())
                .locations("filesystem:" + folder)
                .baselineOnMigrate(true)
                .baselineVersion("1")
                .load();
    }

    @Test
    void aFlywayThatRunsTooEarlyFailsWithAClearWordAndDoesNothing() throws Exception {
        Database database = Database.empty();
        OddSchema.create(database, TABLES);
        List<String> before = Snapshot.comparable(database);
        plan.write(folder, "2", "fence");

        assertThatThrownBy(() -> flyway(database).migrate())
                .isInstanceOf(FlywayException.class)
                .hasMessageContaining(
                        "Nothing was changed: this database has no fence schema, and these statements call it");
        assertThat(Snapshot.difference(before, withoutTheirs(database))).isEmpty();
    }

    @Test
    void aToolWithoutATransactionThatKnowsOnlySimpleStringsSplitsNothingApart() throws SQLException {
        Database database = fresh();
        PGSimpleDataSource source = (PGSimpleDataSource) database.server().dataSource(database.name());
        source.setPreferQueryMode(PreferQueryMode.SIMPLE);

        for (String statement : splitAtSemicolons(plan.sql())) {
            Database.run(source, statement);
        }

        assertThat(Snapshot.difference(expected, Snapshot.comparable(database))).isEmpty();
        for (String statement : splitAtSemicolons(plan.rollbackSql())) {
            Database.run(source, statement);
        }
        assertThat(Snapshot.difference(Snapshot.visible(free), Snapshot.visible(Snapshot.comparable(database))))
                .isEmpty();
    }

    /** As Liquibase does by default: semicolons within quotes end nothing, lines with two dashes are left out; of dollars it knows nothing. */
    private static List<String> splitAtSemicolons(String text) {
        List<String> statements = new ArrayList<>();
        StringBuilder statement = new StringBuilder();
        boolean quoted = false;
        for (String line : text.split("(?<=\n)", -1)) {
            if (!quoted && line.startsWith("--")) {
                continue;
            }
            for (int i = 0; i < line.length(); i++) {
                char c = line.charAt(i);
                quoted ^= c == '\'';
                if (c == ';' && !quoted) {
                    statements.add(statement.toString());
                    statement.setLength(0);
                } else {
                    statement.append(c);
                }
            }
        }
        assertThat(statement.toString()).isBlank();
        return statements;
    }

    /** Psql has to be installed: {@code mvn verify -Ppsql}. It goes on after an error, and begins no transaction by itself. */
    @Test
    @Tag("psql")
    void psqlAsItIs() throws Exception {
        Database database = fresh();
        psql(database, plan.sql());
        assertThat(Snapshot.difference(expected, Snapshot.comparable(database))).isEmpty();
        psql(database, plan.rollbackSql());
        assertThat(Snapshot.difference(Snapshot.visible(free), Snapshot.visible(Snapshot.comparable(database))))
                .isEmpty();
    }

    private void psql(Database database, String sql) throws Exception {
        Path script = Files.writeString(folder.resolve("script.sql"), sql);
        Path output = folder.resolve("output.txt");
        Process psql = new ProcessBuilder(
                        "psql",
                        "-X",
                        "-h",
                        database.server().host(),
                        "-p",
                        Integer.toString(database.server().port()),
                        "-U",
                        database.server().superuser(),
                        "-d",
                        database.name(),
                        "-f",
                        script.toString())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        assertThat(psql.waitFor(60, TimeUnit.SECONDS)).as("psql has ended").isTrue();
        assertThat(output).hasContent("DO");
    }
}
