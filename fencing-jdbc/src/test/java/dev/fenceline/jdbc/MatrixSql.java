package dev.fenceline.jdbc;

import dev.fenceline.FencingToken;
import dev.fenceline.jdbc.MatrixSession.End;
import dev.fenceline.jdbc.MatrixSession.Steps;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.OffsetDateTime;

/** Steps of the fence in plain SQL, for sessions that have to stop in the middle of what the library does in one go. */
final class MatrixSql {

    private static final int TIMEOUT_MILLIS = 20_000;

    private MatrixSql() {}

    /** Runs steps in a transaction of their own, which is rolled back when they fail. */
    static <T> T inTransaction(Connection connection, Body<T> body) throws Exception {
        connection.setAutoCommit(false);
        try {
            T result = body.run();
            connection.commit();
            return result;
        } catch (Throwable e) {
            connection.rollback();
            throw e;
        } finally {
            connection.setAutoCommit(true);
        }
    }

    /** The transaction that entered, and when. */
    record Entered(String transaction, OffsetDateTime at) {}

    /** What is done in a transaction. */
    interface Body<T> {
        T run() throws Exception;
    }

    /** Runs steps in a transaction that ends as told. Who holds one that failed half-way is the stage's to find. */
    static void hold(Connection connection, End end, Steps steps) throws Exception {
        connection.setAutoCommit(false);
        steps.run();
        if (end == End.COMMIT) {
            connection.commit();
        } else {
            connection.rollback();
        }
        connection.setAutoCommit(true);
    }

    /** Claims as the library does, and does something more in the same transaction, as nobody should who has to read. */
    static void claimAndHold(Connection connection, FencingToken token, End end, Steps steps) throws Exception {
        hold(connection, end, () -> {
            claim(connection, token);
            steps.run();
        });
    }

    private static void claim(Connection connection, FencingToken token) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(
                "SELECT 1 FROM fenceline.claim_v2(ARRAY[?], ARRAY[?::bigint], ARRAY[?::uuid], ?)")) {
            bind(statement, token);
            statement.setInt(4, TIMEOUT_MILLIS);
            statement.execute();
        }
    }

    static Entered enter(Connection connection, FencingToken token) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("SELECT entered_xid, entered_at FROM fenceline.enter_v1(?, ?, ?, ?, ?)")) {
            bind(statement, token);
            statement.setInt(4, TIMEOUT_MILLIS);
            statement.setInt(5, TIMEOUT_MILLIS);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return new Entered(row.getString(1), row.getObject(2, OffsetDateTime.class));
            }
        }
    }

    /** Tells whether the mark equals a token, and locks its row as told: by nothing, or {@code FOR SHARE}. */
    static boolean isTheMark(Connection connection, FencingToken token, String locking) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(
                "SELECT 1 FROM fenceline.guard WHERE lock = ? AND token = ? AND holder = ? " + locking)) {
            bind(statement, token);
            try (ResultSet row = statement.executeQuery()) {
                return row.next();
            }
        }
    }

    static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    static void bind(PreparedStatement statement, FencingToken token) throws SQLException {
        statement.setString(1, token.lock().toString());
        statement.setLong(2, token.value());
        statement.setObject(3, token.holder());
    }
}
