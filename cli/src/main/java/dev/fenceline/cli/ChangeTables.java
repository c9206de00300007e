package dev.fenceline.cli;

import dev.fenceline.migrations.Change;
import dev.fenceline.migrations.FenceMigrations;
import dev.fenceline.migrations.Plan;
import dev.fenceline.migrations.TableName;
import java.util.List;
import picocli.CommandLine.Mixin;

/** A command that changes tables, whatever their locks are. */
abstract class ChangeTables extends Subcommand {

    @Mixin
    private final TableNames tables = new TableNames();

    @Mixin
    private final ApplySettings settings;

    @Mixin
    private final PostgresOptions postgres;

    ChangeTables(Terminal terminal) {
        super(terminal);
        this.settings = new ApplySettings(terminal);
        this.postgres = new PostgresOptions(terminal);
    }

    abstract Change change(TableName table);

    /** Asks, where there is something to lose. */
    abstract void confirm(String tables);

    @Override
    final Report run() throws InterruptedException {
        List<Change> changes = tables.names().stream().map(this::change).toList();
        var unused = settings.options();
        Plan plan = FenceMigrations.on(postgres.connect()).plan(changes);
        if (!Steps.nothingToDo(plan)) {
            confirm(Steps.tables(plan));
        }
        Report report = Steps.report(settings.apply(plan));
        Steps.warn(report, plan);
        return report.field("warnings", plan.warnings());
    }
}
