package dev.fenceline.jdbc;

import dev.fenceline.jdbc.MatrixCell.Operation;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The rows of one cell: by number, the letters of those who wrote. Who writes reads first and appends its letter to what it has
 * read, so a lost update is a letter that is missing, and a row that comes back is one too many.
 */
record MatrixState(SortedMap<Integer, String> rows) {

    /** The row that operations on one row are about. */
    static final int ROW = 1;

    /** The other row, which only sets of rows reach. */
    static final int OTHER_ROW = 2;

    MatrixState {
        rows = Collections.unmodifiableSortedMap(new TreeMap<>(rows));
    }

    static MatrixState bothRows() {
        return new MatrixState(new TreeMap<>()).with(ROW, ".").with(OTHER_ROW, ".");
    }

    static MatrixState otherRowOnly() {
        return new MatrixState(new TreeMap<>()).with(OTHER_ROW, ".");
    }

    static MatrixState none() {
        return new MatrixState(new TreeMap<>());
    }

    MatrixState with(int row, String writers) {
        return changed(rows -> rows.put(row, writers));
    }

    MatrixState without(int row) {
        return changed(rows -> rows.remove(row));
    }

    /** What is right after an operation that was accepted: the whole of the model that the server is compared with. */
    MatrixState after(Operation operation, String writer) {
        return switch (operation) {
            case CLAIM_READ -> this;
            case UPDATE -> rows.containsKey(ROW) ? with(ROW, rows.get(ROW) + writer) : this;
            case UPSERT, MERGE, INSERT, COPY -> with(ROW, rows.getOrDefault(ROW, "") + writer);
            case DELETE -> without(ROW);
            case TRUNCATE -> none();
            case BATCH -> changed(all -> all.replaceAll((row, writers) -> writers + writer));
        };
    }

    private interface Change {
        void make(SortedMap<Integer, String> rows);
    }

    private MatrixState changed(Change change) {
        SortedMap<Integer, String> copy = new TreeMap<>(rows);
        change.make(copy);
        return new MatrixState(copy);
    }

    @Override
    public String toString() {
        return rows.toString();
    }
}
