package dev.fenceline.examples.checker;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** The table of the accounts: {@code account (id bigint PRIMARY KEY, balance_cents bigint NOT NULL)}. */
final class AccountTable {

    private AccountTable() {}

    static long balance(Connection connection, long id) throws SQLException {
        try (PreparedStatement query = connection.prepareStatement("SELECT balance_cents FROM account WHERE id = ?")) {
            query.setLong(1, id);
            try (ResultSet row = query.executeQuery()) {
                if (!row.next()) {
                    throw missing(id);
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
            if (update.executeUpdate() == 0) {
                throw missing(id);
            }
        }
    }

    private static Unusable missing(long id) {
        return new Unusable(Answer.of(404, "not found: there is no account " + id + "."));
    }
}
