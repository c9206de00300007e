package dev.fenceline.jdbc;

import java.lang.reflect.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Sends statements through JDBC alone. */
final class JdbcRunner implements RowRunner<Connection> {

    @Override
    public RowStatement.Placeholder placeholder() {
        return RowStatement.Placeholder.MARK;
    }

    @Override
    public Connection connection(Connection context) {
        return context;
    }

    @Override
    public long write(Connection connection, RowStatement statement) throws StatementFailed {
        try (PreparedStatement prepared = prepare(connection, statement)) {
            if (!statement.isCounting()) {
                return prepared.executeUpdate();
            }
            try (ResultSet count = prepared.executeQuery()) {
                count.next();
                return count.getLong(1);
            }
        } catch (SQLException e) {
            throw new StatementFailed(e, e);
        }
    }

    static <R> Optional<R> read(Connection connection, RowStatement statement, RowTarget target, RowReader<R> reader)
            throws StatementFailed {
        try (PreparedStatement prepared = prepare(connection, statement);
                ResultSet row = prepared.executeQuery()) {
            return row.next() ? Optional.of(RowRefusals.made(reader.read(row), target)) : Optional.empty();
        } catch (SQLException e) {
            throw new StatementFailed(e, e);
        }
    }

    static PreparedStatement prepare(Connection connection, RowStatement statement) throws SQLException {
        PreparedStatement prepared = connection.prepareStatement(statement.sql());
        try {
            List<@Nullable Object> arguments = statement.arguments();
            for (int i = 0; i < arguments.size(); i++) {
                bind(connection, prepared, i + 1, arguments.get(i));
            }
            return prepared;
        } catch (SQLException | RuntimeException e) {
            prepared.close();
            throw e;
        }
    }

    static void bind(Connection connection, PreparedStatement prepared, int place, @Nullable Object argument)
            throws SQLException {
        if (argument instanceof RowStatement.Values values) {
            prepared.setArray(place, connection.createArrayOf(values.elementType(), typed(values.elements())));
        } else {
            prepared.setObject(place, argument);
        }
    }

    /** The driver writes byte arrays, numbers and the like best from an array of their own type. */
    private static Object[] typed(List<@Nullable Object> elements) {
        Object first = elements.isEmpty() ? null : elements.get(0);
        return first != null && elements.stream().allMatch(element -> isOf(first.getClass(), element))
                ? elements.toArray((Object[]) Array.newInstance(first.getClass(), 0))
                : elements.toArray();
    }

    private static boolean isOf(Class<?> type, @Nullable Object element) {
        return element != null && element.getClass() == type;
    }
}
