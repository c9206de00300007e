package dev.fenceline.cli;

import dev.fenceline.migrations.Change;
import dev.fenceline.migrations.Plan;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Protects tables in the modes that are declared. */
@Command(
        name = "apply",
        description =
                "Protects the tables as they are declared, each in a transaction of its own, with patience: no writer waits longer than"
                        + " --lock-timeout. Run it again after an interruption: what is done stays.")
final class Apply extends ChangeTables {

    @Mixin
    private final TableOptions tables;

    @Mixin
    private final ModeOption mode = new ModeOption();

    @Mixin
    private final Confirmation confirmation;

    Apply(Terminal terminal) {
        super(terminal);
        this.tables = new TableOptions(terminal);
        this.confirmation = new Confirmation(terminal);
    }

    @Override
    List<Change> changes() {
        return List.copyOf(ChangeOptions.protections(tables.declared(), mode.mode()));
    }

    /** A file that says observe, or nothing, may be older than the table's mode; who writes --mode observe means it. */
    @Override
    void before(Plan plan) {
        if (plan.loosened().isEmpty() || mode.mode().equals(Optional.of(Mode.OBSERVE))) {
            warn(plan);
        } else {
            confirmation.require(
                    "This goes back from enforce to observe for " + Steps.tables(plan.loosened())
                            + ", as declared: whoever writes without a lock passes, and is only recorded.",
                    () -> warn(plan));
        }
    }
}
