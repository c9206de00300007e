package dev.fenceline.jdbc;

import dev.fenceline.LockName;
import dev.fenceline.jdbc.MatrixCell.Form;
import dev.fenceline.jdbc.MatrixCell.Operation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The tables of the matrix. Cells share one for each form, with rows of their own, except for those that truncate theirs. All rows
 * are there before a table is protected, so that nobody has to go around the fence later.
 */
final class MatrixTables {

    private final String prefix;
    private final Map<MatrixCell, Integer> numbers;

    private MatrixTables(String prefix, Map<MatrixCell, Integer> numbers) {
        this.prefix = prefix;
        this.numbers = numbers;
    }

    /**
     * Creates the tables and their rows.
     *
     * @param prefix of tables and of the classes of locks
     */
    static MatrixTables create(TestDatabase database, String prefix, List<MatrixCell> cells) {
        Map<MatrixCell, Integer> numbers = cells.stream().collect(Collectors.toMap(cell -> cell, cells::indexOf));
        MatrixTables tables = new MatrixTables(prefix, numbers);
        Map<String, List<MatrixCell>> byTable = cells.stream().collect(Collectors.groupingBy(tables::table));
        List<String> script = new ArrayList<>();
        byTable.forEach((table, itsCells) -> {
            script.add("CREATE TABLE " + table + " (cell int, id int, writers text NOT NULL,"
                    + " fence_token bigint NOT NULL DEFAULT 0, fence_holder uuid, PRIMARY KEY (cell, id))");
            script.add("INSERT INTO " + table + " (cell, id, writers) VALUES "
                    + itsCells.stream().map(tables::startRows).collect(Collectors.joining(", ")));
            tables.protection(itsCells.get(0)).ifPresent(script::add);
        });
        database.execute(String.join("; ", script));
        return tables;
    }

    MatrixRows rows(MatrixCell cell) {
        return new MatrixRows(table(cell), number(cell));
    }

    int number(MatrixCell cell) {
        return numbers.get(cell);
    }

    /** The lock of all rows of a cell. A TRUNCATE changes every row of its table, so there it is the lock of the table. */
    LockName lock(MatrixCell cell) {
        return truncates(cell) ? LockName.of(tableLock(cell)) : LockName.of(prefix, number(cell));
    }

    private String table(MatrixCell cell) {
        String shared = prefix
                + switch (cell.form()) {
                    case GUARD, GUARD_CONCURRENT, GUARD_STATEMENT -> "_guard";
                    case ROW -> "_row";
                    case ENFORCED, ENFORCED_SQL -> "_enforced";
                };
        return truncates(cell) ? shared + "_" + number(cell) : shared;
    }

    private String tableLock(MatrixCell cell) {
        return prefix + "-table-" + number(cell);
    }

    private Optional<String> protection(MatrixCell cell) {
        if (cell.form() != Form.ENFORCED && cell.form() != Form.ENFORCED_SQL) {
            return Optional.empty();
        }
        String key = truncates(cell) ? "'" + tableLock(cell) + "', '{}'" : "'" + prefix + "', '{cell}'";
        return Optional.of("SELECT fenceline.protect('" + table(cell) + "', " + key + ", 'enforce')");
    }

    private String startRows(MatrixCell cell) {
        return MatrixPlay.start(cell).rows().entrySet().stream()
                .map(row -> "(" + number(cell) + ", " + row.getKey() + ", '" + row.getValue() + "')")
                .collect(Collectors.joining(", "));
    }

    private static boolean truncates(MatrixCell cell) {
        return cell.operation() == Operation.TRUNCATE;
    }
}
