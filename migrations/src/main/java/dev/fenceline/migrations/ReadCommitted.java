package dev.fenceline.migrations;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Transactions that wait for others, and must then see what those have committed, whatever isolation a database or a role has by default:
 * above READ COMMITTED a snapshot from before the wait hides it, or fails with 40001. Said in each transaction and not for the
 * session, which a pool in between may give to somebody else.
 */
final class ReadCommitted {

    private ReadCommitted() {}

    /** Begins one, which the caller ends. */
    static void begin(Connection connection) throws SQLException {
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
        }
    }

    /** Asks within one and commits it; afterwards each statement is a transaction of its own. */
    static <T> T ask(Connection connection, Questions.Question<T> question) throws SQLException {
        T answer;
        try {
            begin(connection);
            answer = question.ask(connection);
            connection.commit();
        } catch (SQLException e) {
            rollBack(connection, e);
            throw e;
        }
        connection.setAutoCommit(true);
        return answer;
    }

    static void rollBack(Connection connection, SQLException cause) {
        try {
            connection.rollback();
            connection.setAutoCommit(true);
        } catch (SQLException e) {
            cause.addSuppressed(e);
        }
    }
}
