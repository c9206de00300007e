package dev.fenceline.jdbc;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.Optional;
import java.util.logging.Logger;
import javax.sql.DataSource;

/**
 * The connections of a data source: fenced inside of a unit of the calling thread, and as they are outside.
 *
 * <p>Two over the same one are equal. Frameworks find the connection of a transaction by its data source, and whoever asks the fence
 * twice, for a transaction manager and for a repository, would have the repository write beside the transaction.
 */
final class FencedDataSource implements DataSource {

    private final DataSource origin;

    FencedDataSource(Object origin) {
        this.origin = (DataSource) origin;
    }

    @Override
    public Connection getConnection() throws SQLException {
        Optional<OwnUnit> unit = unit();
        return taken(unit, origin.getConnection());
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        Optional<OwnUnit> unit = unit();
        return taken(unit, origin.getConnection(user, password));
    }

    private Optional<OwnUnit> unit() {
        Optional<OwnUnit> unit = OwnTransactions.open(origin);
        if (unit.isEmpty()) {
            OpenWork.requireNone(origin, "A connection of fence.dataSource()");
        }
        return unit;
    }

    private Connection taken(Optional<OwnUnit> unit, Connection opened) throws SQLException {
        return unit.isPresent() ? unit.get().fenced(opened) : PassedConnections.pass(origin, opened);
    }

    DataSource origin() {
        return origin;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof FencedDataSource fenced && fenced.origin == origin;
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(origin);
    }

    @Override
    public PrintWriter getLogWriter() throws SQLException {
        return origin.getLogWriter();
    }

    @Override
    public void setLogWriter(PrintWriter out) throws SQLException {
        origin.setLogWriter(out);
    }

    @Override
    public void setLoginTimeout(int seconds) throws SQLException {
        origin.setLoginTimeout(seconds);
    }

    @Override
    public int getLoginTimeout() throws SQLException {
        return origin.getLoginTimeout();
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        return origin.getParentLogger();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        if (type.isInstance(this)) {
            return type.cast(this);
        }
        return type.isInstance(origin) ? type.cast(origin) : origin.unwrap(type);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) throws SQLException {
        return type.isInstance(this) || type.isInstance(origin) || origin.isWrapperFor(type);
    }
}
