package dev.fenceline.jdbc;

import java.util.List;

/** Columns and what is to be written to them, in one order. */
abstract class ColumnValues {

    abstract List<String> columns();

    /** Appends the expression for the column at this place, without a cast where the table has no such column. */
    abstract void appendTo(RowStatement statement, int place, TableShape shape);

    /** The mark is ours to write, and the key tells the row: neither is a value. */
    final void check(String step, String resource, List<String> keyColumns) {
        for (String column : columns()) {
            boolean mark = column.equals(FencedTable.TOKEN) || column.equals(FencedTable.HOLDER);
            if (mark || keyColumns.contains(column)) {
                throw new IllegalArgumentException(step + " of " + resource + " refused: column " + column
                        + (mark
                                ? " holds the mark, which is written by itself."
                                : " is a part of the key, which stays.")
                        + " Nothing was sent; leave it out.");
            }
        }
    }

    /** Quotes a column that is to be added, and refuses one that is there already. */
    static String added(String column, List<String> present) {
        FencedTable.quoted(column);
        if (present.contains(column)) {
            throw new IllegalArgumentException("Column " + column + " is given two values; give it one.");
        }
        return column;
    }
}
