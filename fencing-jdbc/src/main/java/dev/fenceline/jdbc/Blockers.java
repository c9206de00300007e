package dev.fenceline.jdbc;

import dev.fenceline.LockName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The sessions that keep a claim or a transaction waiting: who they are, and how they are ended. */
final class Blockers {

    private static final String WHO = "SELECT DISTINCT pid, application_name FROM fenceline.blockers_v1(?, ?)";

    // Invariant: whoever is ended blocks now, under an older token, in a transaction that is older than the wait was
    // long. All is looked
    // at in the statement that ends the session, and one session is ended at a time. With the rights of our own role.
    private static final String END_ONE = """
            SELECT blocker.lock, blocker.pid, blocker.application_name, pg_catalog.pg_terminate_backend(blocker.pid, ?)
              FROM (SELECT b.lock, b.pid, b.application_name
                      FROM fenceline.blockers_v1(?, ?) b JOIN pg_catalog.pg_stat_activity a ON a.pid = b.pid
                     WHERE b.is_overtaken
                       AND a.xact_start <= pg_catalog.clock_timestamp() - pg_catalog.make_interval(secs => ?)
                     LIMIT 1) blocker""";

    private static final Duration TIME_TO_END = Duration.ofSeconds(5);

    /** A session that was told to end. */
    record Ended(LockName lock, int pid, String applicationName, boolean isGone) {}

    private Blockers() {}

    /** Names who holds the marks' rows now, for messages. */
    static String names(Connection connection, Tokens tokens) {
        List<String> names = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(WHO)) {
            bind(statement, 1, tokens);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    names.add("pid " + row.getInt(1) + ", application_name '" + row.getString(2) + "'");
                }
            }
        } catch (SQLException unanswered) {
            return "a transaction that could not be looked up (" + SqlFailure.text(unanswered) + ")";
        }
        return names.isEmpty() ? "a transaction that has ended meanwhile" : String.join(" and ", names);
    }

    /**
     * Ends one session that has blocked for as long as we have waited, and waits until it is gone.
     *
     * @return empty when there is none, or none that our role may look at
     */
    static Optional<Ended> endOne(Connection connection, Tokens tokens, Duration waited) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(END_ONE)) {
            statement.setLong(1, TIME_TO_END.toMillis());
            bind(statement, 2, tokens);
            statement.setDouble(4, waited.toMillis() / 1000.0);
            try (ResultSet row = statement.executeQuery()) {
                return row.next()
                        ? Optional.of(new Ended(
                                LockName.parse(row.getString(1)), row.getInt(2), row.getString(3), row.getBoolean(4)))
                        : Optional.empty();
            }
        }
    }

    private static void bind(PreparedStatement statement, int first, Tokens tokens) throws SQLException {
        Connection connection = statement.getConnection();
        statement.setArray(first, connection.createArrayOf("text", tokens.locks()));
        statement.setArray(first + 1, connection.createArrayOf("int8", tokens.values()));
    }
}
