package dev.fenceline.cli;

import dev.fenceline.migrations.Plan;
import picocli.CommandLine.Command;

/** The way back, made before the way there. */
@Command(
        name = "rollback-sql",
        description =
                "Prints the SQL that undoes what apply would do now. Keep it before you apply: afterwards there is nothing to undo.")
final class RollbackSql extends TellPlan {

    RollbackSql(Terminal terminal) {
        super(terminal);
    }

    @Override
    Report tell(Plan plan) {
        return Report.ok().line(plan.rollbackSql().stripTrailing()).field("sql", plan.rollbackSql());
    }
}
