package dev.fenceline.cli;

import dev.fenceline.migrations.Change;
import dev.fenceline.migrations.FenceMigrations;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Tells what would be done, and does nothing. */
@Command(
        name = "plan",
        description =
                "Shows what apply would do to which table, and which locks it would take meanwhile. Changes nothing.")
final class ShowPlan extends Subcommand {

    @Mixin
    private final ChangeOptions wanted;

    @Mixin
    private final PostgresOptions postgres;

    ShowPlan(Terminal terminal) {
        super(terminal);
        this.wanted = new ChangeOptions(terminal);
        this.postgres = new PostgresOptions(terminal);
    }

    @Override
    Report run() {
        List<Change> changes = wanted.changes();
        return Steps.report(FenceMigrations.on(postgres.connect()).plan(changes));
    }
}
