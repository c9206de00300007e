package dev.fenceline.migrations;

/**
 * Drops the columns of row mode from a table, and with them the marks of its rows. Refused where the columns are not as
 * {@link AddColumns} makes them, or something else depends on them.
 *
 * <p><b>Thread-safety:</b> immutable.
 *
 * @param table which table; a partitioned one with all its partitions
 */
public record DropColumns(TableName table) implements Change {

    /**
     * Names the table.
     *
     * @param table as SQL writes it, see {@link TableName#parse}
     * @return the change
     */
    public static DropColumns table(String table) {
        return new DropColumns(TableName.parse(table));
    }
}
