package dev.fenceline.cli;

import dev.fenceline.migrations.AddColumns;
import dev.fenceline.migrations.Change;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Prepares tables for row mode. */
@Command(
        name = "add-columns",
        description = "Adds the two columns of row mode, without rewriting the table. Protected tables need none.")
final class AddMarkColumns extends ChangeTables {

    @Mixin
    private final TableNames tables = new TableNames();

    AddMarkColumns(Terminal terminal) {
        super(terminal);
    }

    @Override
    List<Change> changes() {
        return tables.names().stream().<Change>map(AddColumns::new).toList();
    }
}
