package dev.fenceline.jdbc;

import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;

/** The calls to the functions of the fence schema, one statement each. The functions are in the module {@code migrations}. */
final class GuardSql {

    /** The version of the functions that are called here. */
    static final int VERSION = 1;

    private static final String CLAIM =
            "SELECT admitted, newest_token, newest_holder, fsync FROM fenceline.claim_v1(?, ?, ?, ?)";
    private static final String ENTER = "SELECT entered_xid, entered_at FROM fenceline.enter_v1(?, ?, ?, ?, ?)";
    private static final String LEAVE = "SELECT fenceline.leave_v1(?, ?, ?)";
    private static final String RESOLVE = "SELECT fenceline.resolve_v1(?, ?, ?)";
    private static final String MARK = "SELECT newest_token, newest_holder FROM fenceline.mark_v1(?)";
    private static final String BLOCKER = "SELECT pid, application_name FROM fenceline.blocker_v1(?)";
    private static final String JOIN = "SELECT fenceline.join_v1(?, ?, ?, ?, ?)";
    private static final String TOUCHED = "SELECT fenceline.touched_v1()";
    private static final String FIND_VERSION = "SELECT pg_catalog.to_regprocedure('fenceline.version_v1()')::text";
    private static final String VERSION_INSTALLED = "SELECT fenceline.version_v1()";
    private static final String STATUS = "SELECT fenceline.status_v1(?)";
    // A session's default may be stricter and would show an old state; these hold for one transaction only.
    private static final String READ_THE_NEWEST = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED";
    private static final String WRITE_TOO = READ_THE_NEWEST + ", READ WRITE";

    /** What a claim found. */
    record Claimed(boolean admitted, FencingToken newest, String fsync) {}

    /** The transaction that entered, and when, by the server's clock. */
    record Entered(String transaction, OffsetDateTime at) {}

    private GuardSql() {}

    static Claimed claim(Connection connection, FencingToken token, Duration timeout) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(CLAIM)) {
            bind(statement, token);
            statement.setInt(4, millis(timeout));
            try (ResultSet row = one(statement)) {
                return new Claimed(row.getBoolean(1), token(token.lock(), row, 2), row.getString(4));
            }
        }
    }

    static Entered enter(Connection connection, FencingToken token, Duration wait, Duration transaction)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(ENTER)) {
            bind(statement, token);
            statement.setInt(4, millis(wait));
            statement.setInt(5, millis(transaction));
            try (ResultSet row = one(statement)) {
                return new Entered(row.getString(1), row.getObject(2, OffsetDateTime.class));
            }
        }
    }

    /** Enters in a transaction that somebody else manages; the tokens in the order of their locks. */
    static void join(Connection connection, List<FencingToken> tokens, Duration wait, Duration transaction)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(JOIN)) {
            statement.setArray(
                    1, array(connection, "text", tokens, token -> token.lock().toString()));
            statement.setArray(2, array(connection, "int8", tokens, FencingToken::value));
            statement.setArray(3, array(connection, "uuid", tokens, FencingToken::holder));
            statement.setInt(4, millis(wait));
            statement.setInt(5, millis(transaction));
            one(statement).close();
        }
    }

    /** Names the tables that the open transaction has used so far, beside the catalogue and the fence's own. */
    static Optional<String> touched(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(TOUCHED);
                ResultSet row = one(statement)) {
            return Optional.ofNullable(row.getString(1));
        }
    }

    static void leave(Connection connection, UUID operation, Entered entered) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(LEAVE)) {
            statement.setObject(1, operation);
            statement.setString(2, entered.transaction());
            statement.setObject(3, entered.at());
            one(statement).close();
        }
    }

    /** Rules for good on an operation, in a transaction of its own: {@code applied}, {@code never} or {@code too old}. */
    static String resolve(Connection connection, UUID operation, OffsetDateTime enteredAt, Duration timeout)
            throws SQLException {
        newTransaction(connection, WRITE_TOO);
        String outcome;
        try (PreparedStatement statement = connection.prepareStatement(RESOLVE)) {
            statement.setObject(1, operation);
            statement.setObject(2, enteredAt);
            statement.setInt(3, millis(timeout));
            try (ResultSet row = one(statement)) {
                outcome = row.getString(1);
            }
        }
        connection.commit();
        return outcome;
    }

    /** Reads the mark as it is now, in a new transaction. What was open on this connection is rolled back. */
    static Mark mark(Connection connection, LockName lock) throws SQLException {
        newTransaction(connection, READ_THE_NEWEST);
        Mark mark;
        try (PreparedStatement statement = connection.prepareStatement(MARK)) {
            statement.setString(1, lock.toString());
            try (ResultSet row = statement.executeQuery()) {
                mark = new Mark(row.next() ? Optional.of(token(lock, row, 1)) : Optional.empty());
            }
        }
        connection.rollback();
        return mark;
    }

    /** Names who holds the mark's row now; empty when nobody does any more. */
    static Optional<String> blocker(Connection connection, LockName lock) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(BLOCKER)) {
            statement.setString(1, lock.toString());
            try (ResultSet row = statement.executeQuery()) {
                return row.next()
                        ? Optional.of("pid " + row.getInt(1) + ", application_name '" + row.getString(2) + "'")
                        : Optional.empty();
            }
        }
    }

    /** Returns the version of the fence schema; empty when there is none that says so. */
    static Optional<Integer> installedVersion(Connection connection) throws SQLException {
        try (PreparedStatement find = connection.prepareStatement(FIND_VERSION);
                ResultSet row = one(find)) {
            if (row.getString(1) == null) {
                return Optional.empty();
            }
        }
        try (PreparedStatement ask = connection.prepareStatement(VERSION_INSTALLED);
                ResultSet row = one(ask)) {
            return Optional.of(row.getInt(1));
        }
    }

    /** Asks what became of the transaction that entered, from within it or from any other. */
    static TransactionStatus status(Connection connection, Entered entered) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(STATUS)) {
            statement.setString(1, entered.transaction());
            try (ResultSet row = one(statement)) {
                return TransactionStatus.of(row.getString(1));
            }
        }
    }

    private static void newTransaction(Connection connection, String mode) throws SQLException {
        if (connection.getAutoCommit()) {
            connection.setAutoCommit(false);
        } else {
            connection.rollback();
        }
        try (Statement statement = connection.createStatement()) {
            statement.execute(mode);
        }
    }

    private static void bind(PreparedStatement statement, FencingToken token) throws SQLException {
        statement.setString(1, token.lock().toString());
        statement.setLong(2, token.value());
        statement.setObject(3, token.holder());
    }

    private static Array array(
            Connection connection, String type, List<FencingToken> tokens, Function<FencingToken, Object> element)
            throws SQLException {
        return connection.createArrayOf(type, tokens.stream().map(element).toArray());
    }

    private static ResultSet one(PreparedStatement statement) throws SQLException {
        ResultSet row = statement.executeQuery();
        row.next();
        return row;
    }

    private static FencingToken token(LockName lock, ResultSet row, int column) throws SQLException {
        return new FencingToken(lock, row.getLong(column), row.getObject(column + 1, UUID.class));
    }

    private static int millis(Duration duration) {
        // Zero would mean no limit.
        return (int) Math.max(1, Math.min(Integer.MAX_VALUE, duration.toMillis()));
    }
}
