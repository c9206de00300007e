package dev.fenceline.migrations;

/**
 * Adds the columns of row mode to a table: {@code fence_token bigint NOT NULL DEFAULT 0} and {@code fence_holder uuid}. No row is
 * rewritten. A system that exists does without them: protected tables need no columns, and row mode never stops old code.
 *
 * <p><b>Thread-safety:</b> immutable.
 *
 * @param table which table; a partitioned one with all its partitions
 */
public record AddColumns(TableName table) implements Change {

    /**
     * Names the table.
     *
     * @param table as SQL writes it, see {@link TableName#parse}
     * @return the change
     */
    public static AddColumns table(String table) {
        return new AddColumns(TableName.parse(table));
    }
}
