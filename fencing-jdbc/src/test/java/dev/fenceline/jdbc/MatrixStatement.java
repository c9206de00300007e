package dev.fenceline.jdbc;

import dev.fenceline.jdbc.MatrixCell.Operation;
import java.util.List;
import java.util.stream.Stream;

/**
 * An operation as one statement, which reads in itself what it writes over. It reads by queries of its own, which have the snapshot
 * of the statement, and not by the column of the row that it locks, which PostgreSQL looks at again.
 */
record MatrixStatement(String sql, List<Object> parameters) {

    static MatrixStatement of(MatrixRows rows, Operation operation, String writer) {
        String table = rows.table();
        int cell = rows.cell();
        int row = MatrixState.ROW;
        String read = "coalesce((SELECT r.writers FROM " + table + " r WHERE r.cell = ? AND r.id = ?), '') || ?";
        return switch (operation) {
            case UPDATE ->
                new MatrixStatement(
                        "UPDATE " + table + " SET writers = " + read + " WHERE cell = ? AND id = ?",
                        List.of(cell, row, writer, cell, row));
            case UPSERT ->
                new MatrixStatement(
                        "INSERT INTO " + table + " (writers, cell, id) SELECT " + read + ", ?, ?"
                                + " ON CONFLICT (cell, id) DO UPDATE SET writers = excluded.writers",
                        List.of(cell, row, writer, cell, row));
            case MERGE ->
                new MatrixStatement(
                        "MERGE INTO " + table + " t USING (SELECT " + read
                                + " AS writers, ?::int AS cell, ?::int AS id) v"
                                + " ON t.cell = v.cell AND t.id = v.id"
                                + " WHEN MATCHED THEN UPDATE SET writers = v.writers"
                                + " WHEN NOT MATCHED THEN INSERT (cell, id, writers) VALUES (v.cell, v.id, v.writers)",
                        List.of(cell, row, writer, cell, row));
            case INSERT ->
                new MatrixStatement(
                        "INSERT INTO " + table + " (cell, id, writers) VALUES (?, ?, ?)", List.of(cell, row, writer));
            case DELETE ->
                new MatrixStatement("DELETE FROM " + table + " WHERE cell = ? AND id = ?", List.of(cell, row));
            case BATCH ->
                new MatrixStatement(
                        "UPDATE " + table + " t SET writers = r.writers || ? FROM " + table + " r"
                                + " WHERE r.cell = t.cell AND r.id = t.id AND t.cell = ?",
                        List.of(writer, cell));
            case CLAIM_READ, COPY, TRUNCATE ->
                throw new AssertionError(operation + " is no statement that counts rows");
        };
    }

    /** The parameters behind others. */
    List<Object> behind(Object... others) {
        return Stream.concat(Stream.of(others), parameters.stream()).toList();
    }
}
