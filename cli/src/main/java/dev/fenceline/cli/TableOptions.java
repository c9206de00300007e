package dev.fenceline.cli;

import dev.fenceline.migrations.TableName;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;

/** Tables with the locks of their rows: by arguments, or by a file. */
final class TableOptions {

    static final String FILE = "fenceline.yaml";

    /** The whole form in one line. */
    static final String EXAMPLE = "tables: [{table: app.order, lock: order, key: [id], mode: observe}]";

    private final Terminal terminal;

    @ArgGroup(exclusive = false, multiplicity = "0..*")
    private final List<Arguments> tables = new ArrayList<>();

    @Option(
            names = "--file",
            paramLabel = "FILE",
            order = 14,
            description = "Tables, locks, keys and modes in YAML: " + EXAMPLE + "; without it and without --table, "
                    + FILE + " in this folder.")
    private @Nullable Path file;

    TableOptions(Terminal terminal) {
        this.terminal = terminal;
    }

    /** One table of the command line. */
    static final class Arguments {

        @Option(
                names = "--table",
                paramLabel = "TABLE",
                required = true,
                order = 10,
                description =
                        "A table as SQL writes it: app.order, or 'app.\"Odd.Name\"'. Repeat the four options for more tables.")
        private String table = "";

        @Option(
                names = "--lock",
                paramLabel = "CLASS",
                order = 11,
                description = "The class of its locks, such as order.")
        private @Nullable String lock;

        @Option(
                names = "--key",
                paramLabel = "COLUMNS",
                order = 12,
                description =
                        "The columns whose values are the parts of a lock's name, in their order: id, or tenant,id.")
        private @Nullable String key;

        @Option(names = "--one-lock", order = 13, description = "Instead of --key: one lock for all rows.")
        private boolean oneLock;

        private Declared declared() {
            if (lock == null) {
                throw Failure.usage(
                        "Table " + table + " needs --lock with the class of its locks, such as --lock order.");
            }
            if ((key == null) != oneLock) {
                throw Failure.usage("Table " + table
                        + " needs --key with the columns that name the lock of a row, or --one-lock for"
                        + " one lock over all rows, and not both.");
            }
            return new Declared(table, lock, columns(), Optional.empty(), "--table " + table);
        }

        /** Commas within double quotes belong to a name. */
        private List<String> columns() {
            return key == null ? List.of() : List.of(key.split(",(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)", -1));
        }
    }

    /** What was named, a table once. */
    List<Declared> declared() {
        return named(DeclarationFile::some);
    }

    /** Also none, where a file says so. */
    List<Declared> declaredIfAny() {
        return named(DeclarationFile::read);
    }

    private List<Declared> named(Function<Path, List<Declared>> reader) {
        if (file != null && !tables.isEmpty()) {
            throw Failure.usage("Name tables by --table or by --file, not both.");
        }
        if (!tables.isEmpty()) {
            return once(tables.stream().map(Arguments::declared).toList());
        }
        if (file != null) {
            return once(reader.apply(file));
        }
        Path usual = terminal.directory().resolve(FILE);
        if (!Files.exists(usual)) {
            throw Failure.usage(
                    "No table is named: give --table app.order --lock order --key id, or --file with a list; there is no "
                            + FILE + " in this folder.");
        }
        return once(reader.apply(usual));
    }

    /** The tables alone, which have to be named. */
    List<TableName> names() {
        if (file == null && tables.isEmpty()) {
            throw Failure.usage(TableNames.NONE);
        }
        return tables.isEmpty()
                ? declared().stream().map(Declared::name).toList()
                : TableNames.parsed(
                        tables.stream().map(arguments -> arguments.table).toList());
    }

    private static List<Declared> once(List<Declared> tables) {
        List<Declared> distinct = new ArrayList<>();
        for (Declared table : tables) {
            distinct.stream()
                    .filter(other -> other.name().equals(table.name()))
                    .findFirst()
                    .ifPresent(other -> {
                        throw Failure.usage("Table " + table.name() + " is named twice: at " + other.where()
                                + " and at " + table.where() + ".");
                    });
            distinct.add(table);
        }
        return distinct;
    }
}
