package dev.fenceline.cli;

import dev.fenceline.migrations.Change;
import dev.fenceline.migrations.Plan;
import dev.fenceline.migrations.Unprotect;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Takes protection off. */
@Command(
        name = "unprotect",
        description =
                "Takes the triggers off tables. To let writers pass for a while, rather protect with --mode observe.")
final class UnprotectTables extends ChangeTables {

    @Mixin
    private final TableNames tables = new TableNames();

    @Option(
            names = "--subscriber",
            order = 15,
            description = "On a subscriber of logical replication: let its apply worker pass, and nobody else.")
    private boolean subscriber;

    @Mixin
    private final Confirmation confirmation;

    UnprotectTables(Terminal terminal) {
        super(terminal);
        this.confirmation = new Confirmation(terminal);
    }

    @Override
    List<Change> changes() {
        return tables.names().stream()
                .map(Unprotect::table)
                .<Change>map(change -> subscriber ? change.onSubscriber() : change)
                .toList();
    }

    @Override
    void before(Plan plan) {
        confirmation.require(
                (subscriber ? "This lets replication write " : "This lets everybody write ") + Steps.tables(plan)
                        + " without a lock" + (subscriber ? "." : ", and nobody is recorded."),
                () -> warn(plan));
    }
}
