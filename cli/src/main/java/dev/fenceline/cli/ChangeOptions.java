package dev.fenceline.cli;

import dev.fenceline.migrations.AddColumns;
import dev.fenceline.migrations.Change;
import dev.fenceline.migrations.DropColumns;
import dev.fenceline.migrations.Protect;
import dev.fenceline.migrations.Unprotect;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What is to be done to which tables, for the commands that only tell. */
final class ChangeOptions {

    /** The commands whose work can be told beforehand. */
    enum Work {
        PROTECT,
        UNPROTECT,
        ADD_COLUMNS,
        DROP_COLUMNS;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }

        /** Reads the word. */
        static final class Reader extends Word<Work> {
            Reader() {
                super(values());
            }
        }
    }

    @Mixin
    private final TableOptions tables;

    @Mixin
    private final ModeOption mode = new ModeOption();

    @Option(
            names = "--for",
            paramLabel = "WORK",
            order = 16,
            converter = Work.Reader.class,
            defaultValue = "protect",
            description = "protect, unprotect, add-columns or drop-columns (${DEFAULT-VALUE}).")
    private Work work = Work.PROTECT;

    ChangeOptions(Terminal terminal) {
        this.tables = new TableOptions(terminal);
    }

    List<Change> changes() {
        return switch (work) {
            case PROTECT -> List.copyOf(protections(tables.declared(), mode.mode()));
            case UNPROTECT ->
                tables.names().stream().<Change>map(Unprotect::table).toList();
            case ADD_COLUMNS ->
                tables.names().stream().<Change>map(AddColumns::new).toList();
            case DROP_COLUMNS ->
                tables.names().stream().<Change>map(DropColumns::new).toList();
        };
    }

    static List<Protect> protections(List<Declared> tables, Optional<Mode> mode) {
        return tables.stream()
                .map(table -> mode.map(table::with).orElse(table))
                .map(Declared::protect)
                .toList();
    }
}
