package dev.fenceline.examples;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** The table that the small programs read and write. Nothing in it knows of locks or tokens. */
final class AccountTable {

    private AccountTable() {}

    static DataSource database(String jdbcUrl) {
        PGSimpleDataSource database = new PGSimpleDataSource();
        database.setUrl(jdbcUrl);
        return database;
    }

    static void create(DataSource database) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(
                    "CREATE TABLE IF NOT EXISTS account (id bigint PRIMARY KEY, balance_cents bigint NOT NULL)");
            statement.execute("INSERT INTO account VALUES (42, 100000), (43, 0) ON CONFLICT DO NOTHING");
        }
    }

    static long balanceOf(Connection connection, long id) throws SQLException {
        try (PreparedStatement query = connection.prepareStatement("SELECT balance_cents FROM account WHERE id = ?")) {
            query.setLong(1, id);
            try (ResultSet row = query.executeQuery()) {
                if (!row.next()) {
                    throw new IllegalArgumentException("There is no account " + id + ".");
                }
                return row.getLong(1);
            }
        }
    }

    static void setBalance(Connection connection, long id, long cents) throws SQLException {
        try (PreparedStatement update =
                connection.prepareStatement("UPDATE account SET balance_cents = ? WHERE id = ?")) {
            update.setLong(1, cents);
            update.setLong(2, id);
            update.executeUpdate();
        }
    }
}
