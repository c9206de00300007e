package dev.fenceline.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The shape of one table, asked for once and again when a statement failed in a way that speaks of another shape. */
final class TableShapes {

    // No such table, column or function, another type, no right, a read-only session.
    private static final Set<String> OTHER_SHAPE =
            Set.of("42P01", "42703", "42883", "3F000", "42804", "42846", "42P10", "42501", "25006");

    private final FencedTable<?> table;
    private final AtomicReference<@Nullable TableShape> known = new AtomicReference<>();

    TableShapes(FencedTable<?> table) {
        this.table = table;
    }

    TableShape of(Connection connection) throws SQLException {
        TableShape shape = known.get();
        if (shape == null) {
            shape = TableShape.read(connection, table);
            known.set(shape);
        }
        return shape;
    }

    /** Tells whether a failure may come from a table, a schema or a server that is not as it was. */
    static boolean isDoubtful(SQLException said) {
        return OTHER_SHAPE.contains(SqlFailure.state(said));
    }

    /** Asks again; what is wrong comes out as an error of the setup. */
    void check(Connection connection) throws SQLException {
        known.set(null);
        of(connection);
    }
}
