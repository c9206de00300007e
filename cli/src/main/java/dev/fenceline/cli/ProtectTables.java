package dev.fenceline.cli;

import dev.fenceline.migrations.Change;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Sets one mode for tables. */
@Command(
        name = "protect",
        description =
                "Puts tables into one mode: observe records writers without their lock and lets them pass, enforce refuses them. The way"
                        + " from enforce back to observe takes effect at once.")
final class ProtectTables extends ChangeTables {

    @Mixin
    private final TableOptions tables;

    @Option(
            names = "--mode",
            paramLabel = "MODE",
            required = true,
            order = 15,
            converter = Mode.Reader.class,
            description = "observe or enforce, whatever the file says.")
    private Mode mode = Mode.OBSERVE;

    ProtectTables(Terminal terminal) {
        super(terminal);
        this.tables = new TableOptions(terminal);
    }

    @Override
    List<Change> changes() {
        return List.copyOf(ChangeOptions.protections(tables.declared(), Optional.of(mode)));
    }
}
