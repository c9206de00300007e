package dev.fenceline.cli;

import dev.fenceline.migrations.Change;
import dev.fenceline.migrations.Plan;
import java.util.List;
import picocli.CommandLine.Mixin;

/** A command that plans and only tells. */
abstract class TellPlan extends Subcommand {

    @Mixin
    private final ChangeOptions wanted;

    @Mixin
    private final PostgresOptions postgres;

    TellPlan(Terminal terminal) {
        super(terminal);
        this.wanted = new ChangeOptions(terminal);
        this.postgres = new PostgresOptions(terminal);
    }

    /** Refuses options that do not fit each other, before anything is sent. */
    void check() {}

    abstract Report tell(Plan plan);

    @Override
    final Report run() {
        check();
        List<Change> changes = wanted.changes();
        return tell(postgres.migrations().plan(changes));
    }
}
