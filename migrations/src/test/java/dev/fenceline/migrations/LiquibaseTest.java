package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import liquibase.Scope;
import liquibase.command.CommandScope;
import liquibase.command.core.RollbackCountCommandStep;
import liquibase.command.core.UpdateCommandStep;
import liquibase.command.core.helpers.DatabaseChangelogCommandStep;
import liquibase.command.core.helpers.DbUrlConnectionArgumentsCommandStep;
import liquibase.exception.CommandExecutionException;
import liquibase.logging.core.NoOpLogService;
import liquibase.resource.DirectoryResourceAccessor;
import liquibase.ui.LoggerUIService;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The files of a plan in the hands of Liquibase, with the changelog that docs/rollout.md shows. */
@Tag("server")
class LiquibaseTest {

    private static final List<OddSchema.OddTable> TABLES = OddSchema.tables(36);

    private static List<Change> changes;
    private static List<String> free;
    private static List<String> expected;

    @TempDir
    Path folder;

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
        Database database = Database.empty();
        OddSchema.create(database, TABLES);
        FenceMigrations migrations = FenceMigrations.on(database.source());
        migrations.install();
        free = Snapshot.visible(Snapshot.comparable(database));
        migrations.plan(changes).apply(ApplyOptions.defaults());
        expected = Snapshot.comparable(database);
    }

    /** As shown; and as somebody writes it who leaves all to the defaults. */
    @ParameterizedTest
    @ValueSource(strings = {"splitStatements: false", "encoding: UTF-8"})
    void itsChangelogRunsTheFileAndTheUndo(String option) throws Exception {
        Database database = Database.empty();
        OddSchema.create(database, TABLES);
        FenceMigrations migrations = FenceMigrations.on(database.source());
        migrations.install();
        changelog(migrations.plan(changes), option);

        update(database);

        assertThat(Snapshot.difference(expected, withoutTheirs(database))).isEmpty();
        assertThat(database.rows("SELECT id || ' ' || exectype FROM databasechangelog"))
                .containsExactly("fence orders EXECUTED");
        rollback(database);
        assertThat(Snapshot.difference(free, Snapshot.visible(withoutTheirs(database))))
                .isEmpty();
        assertThat(database.rows("SELECT id FROM databasechangelog")).isEmpty();
    }

    @Test
    void aDatabaseWithoutTheFenceSchemaIsRefusedAndStaysAsItWas() throws Exception {
        Database planned = Database.empty();
        OddSchema.create(planned, TABLES);
        FenceMigrations migrations = FenceMigrations.on(planned.source());
        migrations.install();
        changelog(migrations.plan(changes), "splitStatements: false");
        Database database = Database.empty();
        OddSchema.create(database, TABLES);
        List<String> before = Snapshot.comparable(database);

        assertThatThrownBy(() -> update(database))
                .isInstanceOf(CommandExecutionException.class)
                .hasMessageContaining(
                        "Nothing was changed: this database has no fence schema, and these statements call it");
        assertThat(Snapshot.difference(before, withoutTheirs(database))).isEmpty();
        assertThat(database.rows("SELECT id FROM databasechangelog")).isEmpty();
    }

    private void changelog(Plan plan, String option) throws Exception {
        plan.write(folder, "48", "fence orders");
        Files.writeString(folder.resolve("changelog.yaml"), """
                databaseChangeLog:
                  - changeSet:
                      id: fence orders
                      author: orders
                      changes:
                        - sqlFile: { path: V48__fence_orders.sql, relativeToChangelogFile: true, %1$s }
                      rollback:
                        - sqlFile: { path: U48__fence_orders.sql, relativeToChangelogFile: true, %1$s }
                """.formatted(option));
    }

    private void update(Database database) throws Exception {
        run(
                database,
                new CommandScope(UpdateCommandStep.COMMAND_NAME)
                        .addArgumentValue(DatabaseChangelogCommandStep.CHANGELOG_FILE_ARG, "changelog.yaml"));
    }

    private void rollback(Database database) throws Exception {
        run(
                database,
                new CommandScope(RollbackCountCommandStep.COMMAND_NAME)
                        .addArgumentValue(RollbackCountCommandStep.COUNT_ARG, 1)
                        .addArgumentValue(DatabaseChangelogCommandStep.CHANGELOG_FILE_ARG, "changelog.yaml"));
    }

    /** As its command does, but for what it tells people meanwhile. Closing is declared to throw anything, also when interrupted. */
    @SuppressWarnings("try")
    private void run(Database database, CommandScope command) throws Exception {
        try (DirectoryResourceAccessor files = new DirectoryResourceAccessor(folder)) {
            Scope.child(
                    Map.of(
                            Scope.Attr.resourceAccessor.name(), files,
                            Scope.Attr.ui.name(), new LoggerUIService(),
                            Scope.Attr.logService.name(), new NoOpLogService()),
                    () -> command.addArgumentValue(
                                    DbUrlConnectionArgumentsCommandStep.URL_ARG,
                                    "jdbc:postgresql://" + database.server().host() + ":"
                                            + database.server().port() + "/" + database.name())
                            .addArgumentValue(
                                    DbUrlConnectionArgumentsCommandStep.USERNAME_ARG,
                                    database.server().superuser())
                            .execute());
        }
    }

    private static List<String> withoutTheirs(Database database) {
        return Snapshot.comparable(database).stream()
                .filter(line -> !line.matches("\\w+ (public\\.)?databasechangelog.*"))
                .toList();
    }
}
