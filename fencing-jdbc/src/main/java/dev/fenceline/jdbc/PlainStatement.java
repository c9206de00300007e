package dev.fenceline.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** A statement as the user wrote it, inside of a transaction that is fenced already. */
final class PlainStatement {

    private PlainStatement() {}

    /**
     * Checks that there is a value for each parameter.
     *
     * @throws IllegalArgumentException when not; the driver would say so too, of our statement around this one
     */
    static void requireValues(String sql, int values, String resource) {
        int parameters = SqlWords.parameters(sql);
        if (parameters != values) {
            throw new IllegalArgumentException(
                    "Statement on " + resource + " refused: it has " + parameters
                            + (parameters == 1 ? " parameter" : " parameters") + " (?), and " + values
                            + (values == 1 ? " value was" : " values were") + " given: " + SqlWords.outline(sql)
                            + ". Nothing was sent. Give one value for each ?, and write ?? for an operator with a question mark.");
        }
    }

    static long execute(Connection connection, String sql, @Nullable Object... parameters) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                statement.setObject(i + 1, parameters[i]);
            }
            return statement.executeLargeUpdate();
        }
    }
}
