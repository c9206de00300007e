package dev.fenceline.cli;

import dev.fenceline.migrations.Change;
import dev.fenceline.migrations.FenceMigrations;
import dev.fenceline.migrations.Plan;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The way back, made before the way there. */
@Command(
        name = "rollback-sql",
        description =
                "Prints the SQL that undoes what apply would do now. Keep it before you apply: afterwards there is nothing to undo.")
final class RollbackSql extends Subcommand {

    @Mixin
    private final ChangeOptions wanted;

    @Mixin
    private final PostgresOptions postgres;

    RollbackSql(Terminal terminal) {
        super(terminal);
        this.wanted = new ChangeOptions(terminal);
        this.postgres = new PostgresOptions(terminal);
    }

    @Override
    Report run() {
        List<Change> changes = wanted.changes();
        Plan plan = FenceMigrations.on(postgres.connect()).plan(changes);
        return Report.ok().line(plan.rollbackSql().stripTrailing()).field("sql", plan.rollbackSql());
    }
}
