package dev.fenceline.cli;

import dev.fenceline.FencelineException;
import dev.fenceline.migrations.FenceOperations;
import dev.fenceline.migrations.Restoration;
import java.util.concurrent.atomic.AtomicBoolean;
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
        FenceOperations operations = postgres.operations();
        confirmation.require(
                "This raises every mark of the database, so that every holder of now is refused and has to acquire anew.");
        Restoration done = raise(operations);
        Report report = Report.of(done.isComplete() ? Outcome.OK : Outcome.UNFINISHED);
        done.toString().lines().forEach(report::line);
        return report.field("raised", done.raised()).field("left", done.left());
    }

    private Restoration raise(FenceOperations operations) {
        AtomicBoolean begun = new AtomicBoolean();
        try (Progress progress = Progress.of(terminal, "Raising marks")) {
            return operations.afterRestore(step -> {
                begun.set(true);
                progress.now("Raising marks of " + step.relation() + ": " + step.raised() + " of " + step.looked()
                        + " so far");
            });
        } catch (FencelineException e) {
            if (!begun.get()) {
                throw e;
            }
            // Whatever it was, the batches before it are done.
            throw new Failure(
                    Outcome.UNFINISHED, e.getMessage() + " Other marks are raised already: run it again then.", e);
        }
    }
}
