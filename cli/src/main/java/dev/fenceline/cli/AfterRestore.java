package dev.fenceline.cli;

import dev.fenceline.migrations.FenceOperations;
import dev.fenceline.migrations.Restoration;
import javax.sql.DataSource;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Makes a restored database refuse everybody of before. */
@Command(
        name = "after-restore",
        description =
                "After a restore from a backup, before anybody writes: raises all marks, so that every holder of before is refused. Run"
                        + " it again after an interruption.")
final class AfterRestore extends Subcommand {

    @Mixin
    private final PostgresOptions postgres;

    @Mixin
    private final Confirmation confirmation;

    AfterRestore(Terminal terminal) {
        super(terminal);
        this.postgres = new PostgresOptions(terminal);
        this.confirmation = new Confirmation(terminal);
    }

    @Override
    Report run() {
        DataSource source = postgres.connect();
        confirmation.require(
                "This raises every mark of the database, so that every holder of now is refused and has to acquire anew.");
        Restoration done;
        try (Progress progress = Progress.of(terminal, "Raising marks")) {
            done = FenceOperations.on(source)
                    .afterRestore(step -> progress.now("Raising marks of " + step.relation() + ": " + step.raised()
                            + " of " + step.looked() + " so far"));
        }
        Report report = Report.of(done.isComplete() ? Outcome.OK : Outcome.UNFINISHED);
        done.toString().lines().forEach(report::line);
        return report.field("raised", done.raised()).field("left", done.left());
    }
}
