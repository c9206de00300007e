package dev.fenceline.jdbc;

import java.sql.Connection;
import java.util.Optional;

/**
 * Sends statements in the way of the library that the user has chosen.
 *
 * @param <C> the connection of that library
 */
interface RowRunner<C> {

    /** Reads at most one row. */
    @FunctionalInterface
    interface Reading<C, R> {
        Optional<R> read(C context, RowStatement statement) throws StatementFailed;
    }

    RowStatement.Placeholder placeholder();

    Connection connection(C context);

    /** Returns how many rows were written; negative when the driver does not know. */
    long write(C context, RowStatement statement) throws StatementFailed;
}
