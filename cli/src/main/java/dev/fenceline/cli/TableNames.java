package dev.fenceline.cli;

import dev.fenceline.migrations.TableName;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Tables alone, for commands that need no locks of them. They have to be named: these commands take none from a file that lies there. */
final class TableNames {

    @Option(
            names = "--table",
            paramLabel = "TABLE",
            order = 10,
            description = "A table as SQL writes it: app.order, or 'app.\"Odd.Name\"'. May be repeated.")
    private List<String> tables = new ArrayList<>();

    @Option(
            names = "--file",
            paramLabel = "FILE",
            order = 14,
            description = "All tables of a file as protect reads it, such as " + TableOptions.FILE + ".")
    private @Nullable Path file;

    /** For one slip less: to take the protection off all tables has to be said. */
    static final String NONE = "No table is named: give --table app.order, or --file " + TableOptions.FILE
            + " for all tables of that file; this command looks for no file by itself.";

    List<TableName> names() {
        if (file != null && !tables.isEmpty()) {
            throw Failure.usage("Name tables by --table or by --file, not both.");
        }
        if (file != null) {
            return DeclarationFile.some(file).stream()
                    .map(Declared::name)
                    .distinct()
                    .toList();
        }
        if (tables.isEmpty()) {
            throw Failure.usage(NONE);
        }
        return parsed(tables);
    }

    static List<TableName> parsed(List<String> tables) {
        return tables.stream().map(TableNames::parsed).distinct().toList();
    }

    private static TableName parsed(String table) {
        try {
            return TableName.parse(table);
        } catch (IllegalArgumentException e) {
            throw Failure.usage("--table: " + e.getMessage());
        }
    }
}
