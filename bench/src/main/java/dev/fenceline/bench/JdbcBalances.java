package dev.fenceline.bench;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Over a data source: single calls in auto-commit. */
record JdbcBalances(DataSource source) implements Balances {

    @Override
    public long find(long id) {
        try (Connection connection = source.getConnection()) {
            return find(connection, id);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void save(long id, long balance) {
        try (Connection connection = source.getConnection()) {
            save(connection, id, balance);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void add(long id, long amount) {
        try (Connection connection = source.getConnection()) {
            connection.setAutoCommit(false);
            save(connection, id, find(connection, id) + amount);
            connection.commit();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    static long find(Connection connection, long id) throws SQLException {
        try (PreparedStatement query = connection.prepareStatement("SELECT balance FROM balance WHERE id = ?")) {
            query.setLong(1, id);
            try (ResultSet row = query.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }

    static void save(Connection connection, long id, long balance) throws SQLException {
        try (PreparedStatement update = connection.prepareStatement("UPDATE balance SET balance = ? WHERE id = ?")) {
            update.setLong(1, balance);
            update.setLong(2, id);
            int unused = update.executeUpdate();
        }
    }
}
