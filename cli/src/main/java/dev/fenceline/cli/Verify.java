package dev.fenceline.cli;

import dev.fenceline.migrations.Protect;
import dev.fenceline.migrations.Verification;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** For CI: is the database as it is declared? */
@Command(
        name = "verify",
        description =
                "Compares the database with the declared tables: triggers, their modes and keys, partitions, columns, functions."
                        + " Ends with 1 where they differ, and changes nothing.")
final class Verify extends Subcommand {

    @Mixin
    private final TableOptions tables;

    @Mixin
    private final ModeOption mode = new ModeOption();

    @Mixin
    private final PostgresOptions postgres;

    Verify(Terminal terminal) {
        super(terminal);
        this.tables = new TableOptions(terminal);
        this.postgres = new PostgresOptions(terminal);
    }

    @Override
    Report run() {
        List<Protect> declared = ChangeOptions.protections(tables.declaredIfAny(), mode.mode());
        Verification found = postgres.migrations().verify(declared);
        Report report = Report.of(found.isAsDeclared() ? Outcome.OK : Outcome.FINDINGS);
        found.differences().forEach(difference -> report.line(Report.Style.BAD, difference.toString()));
        if (found.isAsDeclared()) {
            report.line(Report.Style.GOOD, "As declared: " + Texts.count(declared.size(), "table") + ".");
        } else {
            report.line(Texts.count(found.differences().size(), "difference") + ".");
        }
        return report.field("differences", found.differences());
    }
}
