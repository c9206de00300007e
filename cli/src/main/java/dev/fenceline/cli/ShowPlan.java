package dev.fenceline.cli;

import dev.fenceline.migrations.Plan;
import picocli.CommandLine.Command;

/** Tells what would be done, and does nothing. */
@Command(
        name = "plan",
        description =
                "Shows what apply would do to which table, and which locks it would take meanwhile. Changes nothing.")
final class ShowPlan extends TellPlan {

    ShowPlan(Terminal terminal) {
        super(terminal);
    }

    @Override
    Report tell(Plan plan) {
        return Steps.report(plan, output);
    }
}
