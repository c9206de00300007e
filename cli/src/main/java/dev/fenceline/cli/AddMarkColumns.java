package dev.fenceline.cli;

import dev.fenceline.migrations.AddColumns;
import dev.fenceline.migrations.Change;
import dev.fenceline.migrations.TableName;
import picocli.CommandLine.Command;

/** Prepares tables for row mode. */
@Command(
        name = "add-columns",
        description = "Adds the two columns of row mode, without rewriting the table. Protected tables need none.")
final class AddMarkColumns extends ChangeTables {

    AddMarkColumns(Terminal terminal) {
        super(terminal);
    }

    @Override
    Change change(TableName table) {
        return new AddColumns(table);
    }

    @Override
    void confirm(String tables) {
        // Nothing is lost by columns that nobody uses.
    }
}
