package dev.fenceline.cli;

import dev.fenceline.migrations.Change;
import dev.fenceline.migrations.DropColumns;
import dev.fenceline.migrations.TableName;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Takes row mode's columns out. */
@Command(name = "drop-columns", description = "Drops the two columns of row mode, and every row's mark with them.")
final class DropMarkColumns extends ChangeTables {

    @Mixin
    private final Confirmation confirmation;

    DropMarkColumns(Terminal terminal) {
        super(terminal);
        this.confirmation = new Confirmation(terminal);
    }

    @Override
    Change change(TableName table) {
        return new DropColumns(table);
    }

    @Override
    void confirm(String tables) {
        confirmation.require("This drops the marks of all rows of " + tables
                + ", so that writers in row mode fail, and stale ones are no longer told apart.");
    }
}
