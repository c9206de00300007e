package dev.fenceline.jdbc;

import dev.fenceline.jdbc.MatrixCell.Operation;
import java.io.IOException;
import java.io.StringReader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.TreeMap;
import org.postgresql.PGConnection;

/**
 * The rows of one cell in the database, as plain SQL reads and writes them.
 *
 * @param table which all cells of a form share, unless they truncate it
 * @param cell the number of the cell, in the first column
 */
record MatrixRows(String table, int cell) {

    MatrixState read(Connection connection) throws SQLException {
        TreeMap<Integer, String> rows = new TreeMap<>();
        try (PreparedStatement statement =
                connection.prepareStatement("SELECT id, writers FROM " + table + " WHERE cell = ?")) {
            statement.setInt(1, cell);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    rows.put(row.getInt(1), row.getString(2));
                }
            }
        }
        return new MatrixState(rows);
    }

    /** Reads, computes and writes; returns what was read. */
    MatrixState perform(Connection connection, Operation operation, String writer) throws SQLException {
        MatrixState read = read(connection);
        write(connection, operation, read, writer);
        return read;
    }

    /** Writes what follows from a state that was read, as a program does that computes: it never looks again. */
    void write(Connection connection, Operation operation, MatrixState read, String writer) throws SQLException {
        MatrixState next = read.after(operation, writer);
        switch (operation) {
            case CLAIM_READ -> {
                // Reading was all.
            }
            case UPDATE -> put(connection, "UPDATE " + table + " SET writers = ? WHERE cell = ? AND id = ?", next);
            case UPSERT ->
                put(
                        connection,
                        "INSERT INTO " + table + " (writers, cell, id) VALUES (?, ?, ?)"
                                + " ON CONFLICT (cell, id) DO UPDATE SET writers = excluded.writers",
                        next);
            case INSERT -> put(connection, "INSERT INTO " + table + " (writers, cell, id) VALUES (?, ?, ?)", next);
            case MERGE ->
                put(
                        connection,
                        "MERGE INTO " + table + " t USING (VALUES (?::text, ?::int, ?::int)) v (writers, cell, id)"
                                + " ON t.cell = v.cell AND t.id = v.id"
                                + " WHEN MATCHED THEN UPDATE SET writers = v.writers"
                                + " WHEN NOT MATCHED THEN INSERT (cell, id, writers) VALUES (v.cell, v.id, v.writers)",
                        next);
            case DELETE ->
                MatrixSql.execute(
                        connection, "DELETE FROM " + table + " WHERE cell = " + cell + " AND id = " + MatrixState.ROW);
            case BATCH -> batch(connection, next);
            case COPY -> copy(connection, next);
            case TRUNCATE -> MatrixSql.execute(connection, "TRUNCATE " + table);
        }
    }

    private void put(Connection connection, String sql, MatrixState next) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            bind(statement, MatrixState.ROW, next);
            statement.executeUpdate();
        }
    }

    private void batch(Connection connection, MatrixState next) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("UPDATE " + table + " SET writers = ? WHERE cell = ? AND id = ?")) {
            for (int row : next.rows().keySet()) {
                bind(statement, row, next);
                statement.addBatch();
            }
            statement.executeBatch();
        }
    }

    private void bind(PreparedStatement statement, int row, MatrixState next) throws SQLException {
        statement.setString(1, next.rows().get(row));
        statement.setInt(2, cell);
        statement.setInt(3, row);
    }

    private void copy(Connection connection, MatrixState next) throws SQLException {
        String line = cell + "\t" + MatrixState.ROW + "\t" + next.rows().get(MatrixState.ROW) + "\n";
        try {
            connection
                    .unwrap(PGConnection.class)
                    .getCopyAPI()
                    .copyIn("COPY " + table + " (cell, id, writers) FROM STDIN", new StringReader(line));
        } catch (IOException e) {
            throw new IllegalStateException("A string was not readable", e);
        }
    }
}
