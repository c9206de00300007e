package dev.fenceline.cli;

import dev.fenceline.migrations.Change;
import dev.fenceline.migrations.FenceMigrations;
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
final class Apply extends Subcommand {

    @Mixin
    private final TableOptions tables;

    @Mixin
    private final ModeOption mode = new ModeOption();

    @Mixin
    private final ApplySettings settings;

    @Mixin
    private final PostgresOptions postgres;

    Apply(Terminal terminal) {
        super(terminal);
        this.tables = new TableOptions(terminal);
        this.settings = new ApplySettings(terminal);
        this.postgres = new PostgresOptions(terminal);
    }

    @Override
    Report run() throws InterruptedException {
        return protect(tables, mode.mode(), settings, postgres);
    }

    static Report protect(TableOptions tables, Optional<Mode> mode, ApplySettings settings, PostgresOptions postgres)
            throws InterruptedException {
        List<Change> changes = ChangeOptions.protections(tables.declared(), mode);
        var unused = settings.options();
        Plan plan = FenceMigrations.on(postgres.connect()).plan(changes);
        Report report = Steps.report(settings.apply(plan));
        Steps.warn(report, plan);
        return report.field("warnings", plan.warnings());
    }
}
