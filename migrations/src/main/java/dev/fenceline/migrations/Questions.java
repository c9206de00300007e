package dev.fenceline.migrations;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineException;
import dev.fenceline.OutcomeUnknownException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Optional;
import javax.sql.DataSource;

/** How an operator's question is sent to the database, and what its failure means to him. */
final class Questions {

    private Questions() {}

    /** Something that is asked of a connection. */
    @FunctionalInterface
    interface Question<T> {
        T ask(Connection connection) throws SQLException;
    }

    /** Asks in auto-commit mode: each statement is a transaction of its own. */
    static <T> T ask(DataSource dataSource, Wording wording, String step, Question<T> question) {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(true);
            return question.ask(connection);
        } catch (SQLException e) {
            throw failure(wording, step, e);
        }
    }

    /** Asks within one transaction, which is rolled back: it changes nothing. */
    static <T> T askAndRollBack(DataSource dataSource, Wording wording, String step, Question<T> question) {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            try {
                return question.ask(connection);
            } finally {
                connection.rollback();
                connection.setAutoCommit(true);
            }
        } catch (SQLException e) {
            throw failure(wording, step, e);
        }
    }

    /** Of something that was to change nothing, or that is raised anew without harm. */
    static FencelineException failure(Wording wording, String step, SQLException e) {
        String state = Sql.state(e);
        String said = Sql.firstLine(e);
        if (state.isEmpty() || state.startsWith("08") || state.startsWith("57P") || state.startsWith("53")) {
            return new BackendUnavailableException(
                    step + " failed: the database cannot be reached (" + said + "). Check its address and try again.",
                    e);
        }
        if (isInTheWay(e) || state.equals("57014")) {
            return new BackendUnavailableException(
                    step + " failed: another session was in the way for too long (" + said
                            + "). Try again when it has ended.",
                    e);
        }
        String remedy = switch (state) {
            case "3F000", "42883", "42P01" ->
                "This database has no fence schema of this release: run " + wording.install() + " once.";
            case "42501" ->
                "Run " + wording.grant(Wording.Right.OPERATIONS) + " as the owner of the schema, and as"
                        + " the owner of tables grant what is missing there; or connect as these owners.";
            case "FL002" -> "Connect to the primary.";
            case "FL003" -> "Set synchronous_commit = on for this role or database.";
            case "25006" -> "The session is read-only: set default_transaction_read_only = off for this role.";
            case "28000", "28P01", "3D000" -> "Check the user, the password and the name of the database.";
            default -> "See what the database said.";
        };
        return new BackendMisconfiguredException(step + " failed: " + said + " (SQLSTATE " + state + "). " + remedy, e);
    }

    /** Of a step that may have been committed although its answer was lost, and can be done again without harm. */
    static FencelineException failureOfWrite(Wording wording, String step, SQLException e) {
        String state = Sql.state(e);
        // 08001 and 08004: there was no connection to be lost.
        if (state.startsWith("57P") || (state.startsWith("08") && !state.equals("08001") && !state.equals("08004"))) {
            return new OutcomeUnknownException(
                    step + " may have happened or not: the connection was lost (" + Sql.firstLine(e)
                            + "). Do it again; twice does no harm.",
                    null,
                    e);
        }
        return failure(wording, step, e);
    }

    /** A lock was waited for in vain, or in a circle. */
    static boolean isInTheWay(SQLException e) {
        return Sql.state(e).equals("55P03") || Sql.state(e).equals("40P01");
    }

    static Instant instant(ResultSet row, int column) throws SQLException {
        return row.getObject(column, OffsetDateTime.class).toInstant();
    }

    static Optional<Instant> instantIfAny(ResultSet row, int column) throws SQLException {
        return Optional.ofNullable(row.getObject(column, OffsetDateTime.class)).map(OffsetDateTime::toInstant);
    }
}
