package dev.fenceline.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** A statement as the user wrote it, inside of a transaction that is fenced already. */
final class PlainStatement {

    private PlainStatement() {}

    static long execute(Connection connection, String sql, @Nullable Object... parameters) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                statement.setObject(i + 1, parameters[i]);
            }
            return statement.executeLargeUpdate();
        }
    }
}
