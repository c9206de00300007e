package dev.fenceline.migrations;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.sql.DataSource;

/**
 * What it takes to bring tables to where they are to be: to be read, to be applied here, or to be written as a migration for others.
 *
 * <pre>{@code
 * Plan plan = FenceMigrations.on(dataSource).plan(
 *     Protect.table("app.order").lock("order", "id").observe(),
 *     Protect.table("app.order_line").lock("order", "order_id").observe());
 * plan.warnings().forEach(System.out::println);
 * plan.apply(ApplyOptions.defaults());
 * }</pre>
 *
 * <p><b>Guarantees:</b> nothing was changed to make it, and what is so already is a step without SQL. {@link #apply}, {@link #sql()}
 * run by a migration tool, and the same in psql leave the same catalogue. The same changes on the same catalogue give the same
 * text, byte by byte.
 *
 * <p><b>Not guaranteed:</b> that the catalogue is still the same when the plan is applied. Each step looks again under its lock, and fails
 * rather than do something else.
 *
 * <p><b>Thread-safety:</b> immutable.
 */
public final class Plan {

    private final DataSource dataSource;
    private final List<Step> steps;
    private final List<String> warnings;
    private final List<TableName> loosened;

    Plan(DataSource dataSource, Planner.Planned planned) {
        this.dataSource = dataSource;
        this.steps = planned.steps();
        this.warnings = planned.warnings();
        this.loosened = planned.loosened();
    }

    /**
     * Returns the steps, one for each change and in the order of the changes.
     *
     * @return those too that need nothing done
     */
    public List<Step> steps() {
        return steps;
    }

    /**
     * Returns what to know before this is applied.
     *
     * @return sentences for people, each beginning with the name of the table
     */
    public List<String> warnings() {
        return warnings;
    }

    /**
     * Returns the tables that refuse writers so far and would let them pass from then on: whoever plans from a file may not have meant it.
     *
     * @return those that go from enforcing back to observing, in the order of the changes
     */
    public List<TableName> loosened() {
        return loosened;
    }

    /**
     * Returns the locks on tables that applying takes, in the order of the steps.
     *
     * @return one for each step that has something to do
     */
    public List<TableLock> locksTaken() {
        return steps.stream().flatMap(step -> step.lock().stream()).toList();
    }

    /**
     * Returns the text of a migration that does all of this, for whoever applies SQL with a tool of his own: Flyway, Liquibase, psql.
     *
     * <p>It is one statement, so it is done or not done as a whole, needs no transaction around it and brings its own limit on waiting
     * for locks, 2 s for each table. It holds no placeholder and no command of psql. It refuses, with a clear error, to run where the
     * fence schema is missing or older than it needs.
     *
     * <p><b>Blocking:</b> the locks of all tables are held until the transaction around it ends. Where many tables are busy, {@link #apply}
     * is kinder: it takes one after the other.
     *
     * @return the same text for the same changes on the same catalogue; comments alone when there is nothing to do
     */
    public String sql() {
        return Script.of(
                comments(
                        "Fenceline: protection of tables, from the changes and the catalogue that it was made for.",
                        steps),
                steps.stream().flatMap(step -> step.statements().stream()).toList());
    }

    /**
     * Returns the text that restores what the catalogue had when this plan was made; else as {@link #sql()}. The rollback of enforcing a table
     * that was observed is to observe it again, which waits for no reader and is the instant way back. Where it loses something, as the marks
     * in the columns that {@link AddColumns} made, a comment of the text says so.
     *
     * @return the text of the undo
     */
    public String rollbackSql() {
        List<Step> backwards = new ArrayList<>(steps);
        Collections.reverse(backwards);
        return Script.of(
                Stream.concat(
                                comments("Fenceline: restores what was before these steps.", steps).stream(),
                                steps.stream().flatMap(step -> ColumnSteps.lossOfUndo(step).stream()))
                        .toList(),
                backwards.stream().flatMap(step -> step.undo().stream()).toList());
    }

    private static List<String> comments(String title, List<Step> steps) {
        return Stream.concat(
                        Stream.of(title, "One statement: whatever runs it does all of it or nothing."),
                        steps.stream().map(Step::toString))
                .toList();
    }

    /**
     * Applies the steps, each in a transaction of its own.
     *
     * <p><b>Guarantees:</b> a step that fails undoes none of the others, and the rest is still tried. Run again, also after it was killed at any
     * point, a plan of the same changes finishes. Nobody waits for a lock that this has asked for and not been given longer than
     * {@link ApplyOptions#lockTimeout()} at a time; between two attempts everybody gets on with his work.
     *
     * <p><b>Blocking:</b> at most {@link ApplyOptions#attempts()} rounds over the steps that are not done yet, each step waiting up to the lock
     * timeout, with a pause between the rounds.
     *
     * <p><b>Interruption:</b> between two attempts. What is done stays, and running it again finishes.
     *
     * @param options how long to wait and how often to try
     * @return what became of each step: all of them are done
     * @throws PlanUnfinishedException when some are not; it says which, and who was in the way
     * @throws InterruptedException when interrupted
     */
    public Applied apply(ApplyOptions options) throws InterruptedException {
        return new Application(dataSource, steps, options).run();
    }

    /**
     * Writes {@link #sql()} and {@link #rollbackSql()} into a folder of migrations, as {@code V48__fence_orders.sql} and {@code
     * U48__fence_orders.sql}. Both files are there afterwards, or none.
     *
     * @param folder where the migrations are
     * @param version such as {@code 48} or {@code 1.2}; a number that the folder does not have yet, however it is spelled
     * @param description letters, digits, blanks, underscores, dots and hyphens; blanks become underscores
     * @return the files
     * @throws IllegalArgumentException when version or description cannot be part of a file's name
     * @throws IllegalStateException when the folder is missing or cannot be written, when it has the version already, and when this plan has
     *     nothing to do; nothing was written
     */
    public MigrationFiles write(Path folder, String version, String description) {
        return write(folder, folder, version, description);
    }

    /**
     * Writes the undo apart from the migration; else as {@link #write(Path, String, String)}. For Flyway's free edition, which takes an undo for a
     * migration whose name is wrong: it fails there with {@code validateMigrationNaming}, and says so at each run without.
     *
     * @param folder where the migrations are
     * @param undos a folder that the migration tool does not read: neither the one above nor below it
     * @param version as there; neither folder has it yet
     * @param description as there
     * @return the files
     */
    public MigrationFiles write(Path folder, Path undos, String version, String description) {
        if (steps.stream().allMatch(step -> step.state() == Step.State.ALREADY_SO)) {
            throw new IllegalStateException(
                    "Migration " + version + " was not written: there is nothing to do, all is so already ("
                            + steps.stream()
                                    .map(step -> step.change().table().toString())
                                    .distinct()
                                    .collect(Collectors.joining(", "))
                            + "). Make the plan on a database where it is not.");
        }
        return new MigrationFolder(folder, undos).write(version, description, sql(), rollbackSql());
    }

    /** Returns the steps and the warnings, one a line. */
    @Override
    public String toString() {
        return Stream.concat(
                        steps.stream().map(Step::toString), warnings.stream().map(line -> "warning: " + line))
                .collect(Collectors.joining("\n"));
    }
}
