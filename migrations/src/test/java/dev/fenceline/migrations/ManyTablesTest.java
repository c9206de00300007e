package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.testkit.ChildJvm;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Three hundred tables of a schema that nobody would design, from free to observed to enforced and back. */
@Tag("server")
@Tag("matrix")
class ManyTablesTest {

    private static final int COUNT = 300;

    @Test
    void everyTableIsProtectedWhateverItsNameAndKeyAndNothingIsLeftAfterwards() throws Exception {
        List<OddSchema.OddTable> tables = OddSchema.tables(COUNT);
        Database database = Database.empty();
        assertThat(database.server().majorVersion()).isEqualTo(Integer.getInteger("fenceline.postgres.expected", 18));
        OddSchema.create(database, tables);
        Flyway.configure()
                .dataSource(database.source())
                .locations("filesystem:target/no-migrations-here")
                .failOnMissingLocations(false)
                .baselineOnMigrate(true)
                .baselineVersion("47")
                .load()
                .migrate();
        String history = "SELECT h::text FROM flyway_schema_history h";
        List<String> historyBefore = database.rows(history);
        List<String> before = Snapshot.of(database);
        FenceMigrations migrations = FenceMigrations.on(database.source());
        migrations.install();

        List<Protect> observe =
                tables.stream().map(table -> table.locked().observe()).toList();
        Plan plan = migrations.plan(observe);
        assertThat(plan.sql()).isEqualTo(migrations.plan(observe).sql()).doesNotContain("${");
        assertThat(plan.apply(ApplyOptions.defaults()).with(Applied.Outcome.CHANGED))
                .hasSize(COUNT);
        assertThat(migrations.plan(observe).steps()).allMatch(step -> step.state() == Step.State.ALREADY_SO);

        inOneSession(database, tables, OddSchema.OddTable::insert);
        assertThat(database.rows("SELECT count(*) FROM fenceline.violation WHERE needed NOT LIKE '%cannot be named%'"))
                .as("every writer passed and is on record")
                .containsExactly(Integer.toString(COUNT));

        List<Protect> enforce =
                tables.stream().map(table -> table.locked().enforce()).toList();
        assertThat(migrations.plan(enforce).apply(ApplyOptions.defaults()).with(Applied.Outcome.CHANGED))
                .hasSize(COUNT);
        try (Connection connection = database.source().getConnection();
                Statement statement = connection.createStatement()) {
            for (OddSchema.OddTable table : tables) {
                assertThatThrownBy(() ->
                                statement.execute("DELETE FROM " + table.name().quoted()))
                        .as(table.name().toString())
                        .isInstanceOfSatisfying(
                                SQLException.class,
                                e -> assertThat(e.getSQLState()).isEqualTo("FL001"));
            }
        }

        assertThat(migrations
                        .plan(tables.stream()
                                .map(table -> Unprotect.table(table.name()))
                                .toList())
                        .apply(ApplyOptions.defaults())
                        .with(Applied.Outcome.CHANGED))
                .hasSize(COUNT);
        assertThat(Snapshot.difference(before, Snapshot.of(database))).isEmpty();
        assertThat(database.rows(history)).isEqualTo(historyBefore);
        inOneSession(database, tables, table -> "DELETE FROM " + table.name().quoted());

        partitionsThatAreAttachedLater(database, tables.get(7));
    }

    private static void inOneSession(
            Database database, List<OddSchema.OddTable> tables, Function<OddSchema.OddTable, String> sql)
            throws SQLException {
        try (Connection connection = database.source().getConnection();
                Statement statement = connection.createStatement()) {
            for (OddSchema.OddTable table : tables) {
                statement.execute(sql.apply(table));
            }
        }
    }

    private static void partitionsThatAreAttachedLater(Database database, OddSchema.OddTable parent) throws Exception {
        FenceMigrations migrations = FenceMigrations.on(database.source());
        Protect enforce = parent.locked().enforce();
        migrations.plan(enforce).apply(ApplyOptions.defaults());
        String path = parent.name().quoted();
        database.execute("CREATE TABLE app.later (LIKE " + path + "); ALTER TABLE " + path
                + " ATTACH PARTITION app.later FOR VALUES FROM (20) TO (30)");

        assertThatThrownBy(() -> Database.run(database.source(), "INSERT INTO app.later VALUES (1, 25)"))
                .hasMessageContaining("INSERT on app.later refused");
        database.execute("TRUNCATE app.later");
        Plan plan = migrations.plan(enforce);
        assertThat(plan.steps().get(0).summary()).endsWith(", not all triggers as they must be");
        plan.apply(ApplyOptions.defaults());
        assertThatThrownBy(() -> Database.run(database.source(), "TRUNCATE app.later"))
                .hasMessageContaining("TRUNCATE on app.later refused");
        assertThat(migrations.plan(enforce).steps().get(0).state()).isEqualTo(Step.State.ALREADY_SO);
        migrations.plan(new Unprotect(parent.name(), Unprotect.Writers.ALL)).apply(ApplyOptions.defaults());
        database.execute("TRUNCATE app.later");
    }

    @Test
    void whoeverWasKilledHalfWayIsFinishedByTheNext() throws Exception {
        List<OddSchema.OddTable> tables = OddSchema.tables(80);
        Database database = Database.empty();
        OddSchema.create(database, tables);
        FenceMigrations migrations = FenceMigrations.on(database.source());
        migrations.install();
        TableName held = tables.get(50).name();
        try (Connection holder = database.source().getConnection();
                Statement hold = holder.createStatement()) {
            holder.setAutoCommit(false);
            hold.execute("LOCK TABLE " + held.quoted() + " IN ROW EXCLUSIVE MODE");
            try (ChildJvm child =
                    ChildJvm.start(Applier.class, database.server().jdbcUrl(database.name()))) {
                child.awaitLine("ATTEMPT 51", Duration.ofSeconds(60));
                Waits.until(
                        database,
                        "SELECT count(*) = 1 FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE NOT l.granted AND"
                                + " a.application_name = 'applier'");
                child.kill();
            }
            holder.rollback();
        }
        assertThat(database.rows("SELECT count(*) FROM fenceline.protected")).containsExactly("50");
        Waits.until(database, "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'applier'");

        Applied applied = migrations
                .plan(tables.stream().map(table -> table.locked().observe()).toList())
                .apply(ApplyOptions.defaults());

        assertThat(applied.with(Applied.Outcome.ALREADY_SO)).hasSize(50);
        assertThat(applied.with(Applied.Outcome.CHANGED)).hasSize(30);
    }

    /** Applies a plan in a process of its own, and says how far it is. */
    static final class Applier {

        public static void main(String[] args) throws Exception {
            PGSimpleDataSource source = new PGSimpleDataSource();
            source.setUrl(args[0]);
            source.setApplicationName("applier");
            FenceMigrations.on(source)
                    .plan(OddSchema.tables(80).stream()
                            .map(table -> table.locked().observe())
                            .toList())
                    .apply(ApplyOptions.builder()
                            .lockTimeout(Duration.ofSeconds(20))
                            .progress(event -> System.out.println(event.stage() + " " + event.number()))
                            .build());
        }
    }
}
