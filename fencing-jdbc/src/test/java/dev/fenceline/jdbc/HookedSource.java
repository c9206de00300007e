package dev.fenceline.jdbc;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Logger;
import javax.sql.DataSource;

/** A data source that lets a test act at the moment when a certain connection is asked for. */
final class HookedSource implements DataSource {

    interface Hook {
        void opening(int number) throws SQLException;
    }

    private final DataSource source;
    private final Hook hook;
    private final AtomicInteger opened = new AtomicInteger();

    HookedSource(DataSource source, Hook hook) {
        this.source = source;
        this.hook = hook;
    }

    int opened() {
        return opened.get();
    }

    @Override
    public Connection getConnection() throws SQLException {
        hook.opening(opened.incrementAndGet());
        return source.getConnection();
    }

    @Override
    public Connection getConnection(String username, String password) throws SQLException {
        return source.getConnection(username, password);
    }

    @Override
    public PrintWriter getLogWriter() throws SQLException {
        return source.getLogWriter();
    }

    @Override
    public void setLogWriter(PrintWriter out) throws SQLException {
        source.setLogWriter(out);
    }

    @Override
    public void setLoginTimeout(int seconds) throws SQLException {
        source.setLoginTimeout(seconds);
    }

    @Override
    public int getLoginTimeout() throws SQLException {
        return source.getLoginTimeout();
    }

    @Override
    public Logger getParentLogger() {
        return Logger.getGlobal();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        return source.unwrap(type);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) throws SQLException {
        return source.isWrapperFor(type);
    }
}
