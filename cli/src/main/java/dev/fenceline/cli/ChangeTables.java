package dev.fenceline.cli;

import dev.fenceline.migrations.Change;
import dev.fenceline.migrations.Plan;
import java.util.List;
import picocli.CommandLine.Mixin;

/** A command that changes tables: it plans, says what is to be known before, and applies. */
abstract class ChangeTables extends Subcommand {

    @Mixin
    private final ApplySettings settings;

    @Mixin
    private final PostgresOptions postgres;

    ChangeTables(Terminal terminal) {
        super(terminal);
        this.settings = new ApplySettings(terminal);
        this.postgres = new PostgresOptions(terminal);
    }

    abstract List<Change> changes();

    /** Warns of what the plan has to say; asks too, where there is something to lose. */
    void before(Plan plan) {
        warn(plan);
    }

    @Override
    final Report run() throws InterruptedException {
        List<Change> changes = changes();
        var unused = settings.options();
        Plan plan = postgres.migrations().plan(changes);
        if (!Steps.nothingToDo(plan)) {
            before(plan);
        }
        return Steps.report(settings.apply(plan), output).field("warnings", plan.warnings());
    }
}
