package dev.fenceline.cli;

import dev.fenceline.migrations.Change;
import dev.fenceline.migrations.DropColumns;
import dev.fenceline.migrations.Plan;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Takes row mode's columns out. */
@Command(name = "drop-columns", description = "Drops the two columns of row mode, and every row's mark with them.")
final class DropMarkColumns extends ChangeTables {

    @Mixin
    private final TableNames tables = new TableNames();

    @Mixin
    private final Confirmation confirmation;

    DropMarkColumns(Terminal terminal) {
        super(terminal);
        this.confirmation = new Confirmation(terminal);
    }

    @Override
    List<Change> changes() {
        return tables.names().stream().<Change>map(DropColumns::new).toList();
    }

    @Override
    void before(Plan plan) {
        confirmation.require(
                "This drops the marks of all rows of " + Steps.tables(plan)
                        + ", so that writers in row mode fail, and stale ones are no longer told apart.",
                () -> warn(plan));
    }
}
