package dev.fenceline.verification.rollout;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * The version that knows of no fence: plain JDBC, where the lock on the row is the only one. Arguments: the JDBC URL, the role. It keeps
 * its connection, and prepares every statement on the server.
 */
public final class OldVersion extends Version {

    static final String NAME = "orders 1.9";

    private static final String READ_PARCEL = "SELECT * FROM shop.parcel WHERE id = ?";

    private final Connection connection;
    /** A transaction that does nothing but what it is told. */
    private final Connection open;

    private int turn;

    private OldVersion(Connection connection, Connection open) {
        this.connection = connection;
        this.open = open;
    }

    public static void main(String[] args) throws Exception {
        try (Connection connection = connect(args);
                Connection open = connect(args)) {
            new OldVersion(connection, open).serve();
        }
    }

    private static Connection connect(String[] args) throws SQLException {
        Connection connection = DriverManager.getConnection(
                args[0] + "?prepareThreshold=1&ApplicationName=" + NAME.replace(" ", "%20"), args[1], "");
        connection.setAutoCommit(true);
        return connection;
    }

    /** Sometimes in a transaction that reads and computes, sometimes in a statement of its own. Only outside of transactions a SELECT *. */
    @Override
    void add(int row) throws SQLException {
        String table = Shop.table(row);
        if (turn++ % 2 == 0) {
            quantity(connection, "SELECT * FROM " + table + " WHERE id = ?", row);
            update("UPDATE " + table + " SET quantity = quantity + ? WHERE id = ?", 1, row);
            return;
        }
        connection.setAutoCommit(false);
        try {
            long read = quantity(connection, "SELECT quantity FROM " + table + " WHERE id = ? FOR UPDATE", row);
            update("UPDATE " + table + " SET quantity = ? WHERE id = ?", read + 1, row);
            connection.commit();
        } finally {
            // Of a transaction that has failed; after a commit there is none.
            connection.rollback();
            connection.setAutoCommit(true);
        }
    }

    private static long quantity(Connection connection, String sql, int row) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(sql)) {
            select.setInt(1, row);
            try (ResultSet found = select.executeQuery()) {
                found.next();
                return found.getLong("quantity");
            }
        }
    }

    private void update(String sql, long quantity, int row) throws SQLException {
        try (PreparedStatement update = connection.prepareStatement(sql)) {
            update.setLong(1, quantity);
            update.setInt(2, row);
            if (update.executeUpdate() != 1) {
                throw new IllegalStateException("Row " + row + " is gone.");
            }
        }
    }

    /** {@code begin} begins a transaction on a connection that has prepared its SELECT * before; {@code read} goes on with it. */
    @Override
    String answer(String line) throws SQLException {
        return switch (line) {
            case "begin" -> begin();
            case "read" -> read();
            default -> super.answer(line);
        };
    }

    private String begin() throws SQLException {
        quantity(open, READ_PARCEL, Shop.first("parcel"));
        open.setAutoCommit(false);
        try (Statement statement = open.createStatement()) {
            // Takes no lock on the table, which would keep the columns out until it ends.
            statement.execute("SELECT 1");
        }
        return "begun";
    }

    private String read() throws SQLException {
        try {
            return "read " + quantity(open, READ_PARCEL, Shop.first("parcel"));
        } catch (SQLException e) {
            return "read " + said(e);
        } finally {
            open.rollback();
            open.setAutoCommit(true);
        }
    }
}
