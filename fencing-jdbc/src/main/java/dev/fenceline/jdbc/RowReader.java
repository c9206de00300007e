package dev.fenceline.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * Makes an object of yours from a row.
 *
 * @param <R> the object
 */
@FunctionalInterface
public interface RowReader<R> {

    /**
     * Reads one row.
     *
     * @param row stands on the row; all columns of the table, among them fence_token and fence_holder. Not to be moved or kept
     * @return what was read; not null, which would say that there is no row: it is refused with {@link IllegalStateException}
     * @throws SQLException as the result does
     */
    R read(ResultSet row) throws SQLException;
}
