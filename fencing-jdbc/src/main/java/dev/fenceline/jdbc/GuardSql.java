package dev.fenceline.jdbc;

import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** The calls to the functions of the fence schema, one statement each. The functions are in the module {@code migrations}. */
final class GuardSql {

    /** The version of the functions that are called here. */
    static final int VERSION = 4;

    private static final String CLAIM = "SELECT claimed_at, fsync FROM fenceline.claim_v2(?, ?, ?, ?)";
    private static final String LEAVE = "SELECT fenceline.leave_v1(?, ?, ?)";
    private static final String LEAVE_READING = "SELECT fenceline.leave_reading_v1(?, ?, ?, ?)";
    private static final String RESOLVE = "SELECT fenceline.resolve_v1(?, ?, ?)";
    private static final String MARKS = "SELECT newest_token, newest_holder, read_at FROM fenceline.marks_v1(?)";
    private static final String CHANGED = "SELECT fenceline.changed_v1(?)";
    private static final String JOIN = "SELECT fenceline.join_v1(?, ?, ?, ?, ?)";
    private static final String TOUCHED = "SELECT fenceline.touched_v1()";
    private static final String FIND_VERSION = "SELECT pg_catalog.to_regprocedure('fenceline.version_v1()')::text";
    private static final String VERSION_INSTALLED = "SELECT fenceline.version_v1()";
    private static final String STATUS = "SELECT fenceline.status_v1(?)";
    private static final String BEGUN_AT = "SELECT pg_catalog.now()";
    private static final String CLOCK = "SELECT pg_catalog.clock_timestamp()";
    // A session's default may be stricter and would show an old state; these hold for one transaction only.
    private static final String READ_THE_NEWEST = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED";
    private static final String WRITE_TOO = READ_THE_NEWEST + ", READ WRITE";

    /** What a claim found: when it was made, by the server's clock, and one of the server's settings. */
    record Claimed(OffsetDateTime at, String fsync) {}

    /**
     * The transaction that entered.
     *
     * @param transaction its number; empty when it is read-only, and has none
     * @param at when it entered, by the server's clock
     * @param begunAt when it began, which tells read-only transactions apart
     * @param hasSnapshot a read-only transaction sees the state at its entering until its end
     */
    record Entered(Optional<String> transaction, OffsetDateTime at, OffsetDateTime begunAt, boolean hasSnapshot) {

        boolean isReading() {
            return transaction.isEmpty();
        }
    }

    private GuardSql() {}

    static Claimed claim(Connection connection, Tokens tokens, Duration timeout) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(CLAIM)) {
            bind(statement, 1, tokens);
            statement.setInt(4, millis(timeout));
            try (ResultSet row = one(statement)) {
                return new Claimed(row.getObject(1, OffsetDateTime.class), row.getString(2));
            }
        }
    }

    /**
     * Enters, in one round trip.
     *
     * @param mode a SET TRANSACTION to be sent in front; it goes by the transaction that the driver begins with it
     */
    static Entered enter(
            Connection connection,
            Entry entry,
            Optional<String> mode,
            Tokens tokens,
            Duration wait,
            Duration transaction)
            throws SQLException {
        String enter = "SELECT entered_xid, entered_at, begun_at, has_snapshot FROM fenceline." + entry.function()
                + "(?, ?, ?, ?, ?)";
        String sql = mode.map(set -> set + "; " + enter).orElse(enter);
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            bind(statement, 1, tokens);
            statement.setInt(4, millis(wait));
            statement.setInt(5, millis(transaction));
            boolean isResult = statement.execute();
            while (!isResult) {
                isResult = statement.getMoreResults();
            }
            try (ResultSet row = statement.getResultSet()) {
                row.next();
                return new Entered(
                        Optional.ofNullable(row.getString(1)),
                        row.getObject(2, OffsetDateTime.class),
                        row.getObject(3, OffsetDateTime.class),
                        row.getBoolean(4));
            }
        }
    }

    /** Enters in a transaction that somebody else manages. */
    static void join(Connection connection, Tokens tokens, Duration wait, Duration transaction) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(JOIN)) {
            bind(statement, 1, tokens);
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
            statement.setString(2, entered.transaction().orElseThrow());
            statement.setObject(3, entered.at());
            one(statement).close();
        }
    }

    /** Checks that a transaction that entered by reading is still the same, and its marks too. */
    static void leaveReading(Connection connection, Tokens tokens, Entered entered) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(LEAVE_READING)) {
            bind(statement, 1, tokens);
            statement.setObject(4, entered.begunAt());
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

    /** Reads the marks as they are now, in a new transaction. What was open on this connection is rolled back. */
    static Marks marks(Connection connection, Tokens tokens) throws SQLException {
        newTransaction(connection, READ_THE_NEWEST);
        List<Mark> marks = new ArrayList<>();
        OffsetDateTime readAt = OffsetDateTime.MIN;
        try (PreparedStatement statement = connection.prepareStatement(MARKS)) {
            statement.setArray(1, connection.createArrayOf("text", tokens.locks()));
            try (ResultSet row = statement.executeQuery()) {
                for (FencingToken token : tokens.all()) {
                    row.next();
                    marks.add(new Mark(mark(token.lock(), row)));
                    readAt = row.getObject(3, OffsetDateTime.class);
                }
            }
        }
        connection.rollback();
        return new Marks(tokens, List.copyOf(marks), readAt);
    }

    /** Reads how many rows a single statement changed that is recorded as applied. */
    static long changed(Connection connection, UUID operation) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(CHANGED)) {
            statement.setObject(1, operation);
            try (ResultSet row = one(statement)) {
                return row.getLong(1);
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
            statement.setString(1, entered.transaction().orElseThrow());
            try (ResultSet row = one(statement)) {
                return TransactionStatus.of(row.getString(1));
            }
        }
    }

    /** Tells when the transaction on this connection began. */
    static OffsetDateTime begunAt(Connection connection) throws SQLException {
        return time(connection, BEGUN_AT);
    }

    /** Reads the server's clock. */
    static OffsetDateTime clock(Connection connection) throws SQLException {
        return time(connection, CLOCK);
    }

    /** Binds the three arrays that say which marks are meant. */
    static void bind(PreparedStatement statement, int first, Tokens tokens) throws SQLException {
        Connection connection = statement.getConnection();
        statement.setArray(first, connection.createArrayOf("text", tokens.locks()));
        statement.setArray(first + 1, connection.createArrayOf("int8", tokens.values()));
        statement.setArray(first + 2, connection.createArrayOf("uuid", tokens.holders()));
    }

    static int millis(Duration duration) {
        // Zero would mean no limit.
        return (int) Math.max(1, Math.min(Integer.MAX_VALUE, duration.toMillis()));
    }

    private static OffsetDateTime time(Connection connection, String sql) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql);
                ResultSet row = one(statement)) {
            return row.getObject(1, OffsetDateTime.class);
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

    private static ResultSet one(PreparedStatement statement) throws SQLException {
        ResultSet row = statement.executeQuery();
        row.next();
        return row;
    }

    private static Optional<FencingToken> mark(LockName lock, ResultSet row) throws SQLException {
        UUID holder = row.getObject(2, UUID.class);
        return holder == null ? Optional.empty() : Optional.of(new FencingToken(lock, row.getLong(1), holder));
    }
}
