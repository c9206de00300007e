package dev.fenceline.examples.pausedwriter;

import dev.fenceline.migrations.FenceMigrations;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import javax.sql.DataSource;

/** The database as the conductor sees it: sets up the tables, and reads at the end what the writers left. */
final class DemoDatabase {

    private static final Duration END_LIMIT = Writer.LEASE.plusSeconds(8);

    private final DataSource database;

    DemoDatabase(DataSource database) {
        this.database = database;
    }

    void setUp(Set<String> accounts) throws SQLException {
        FenceMigrations.on(database).install();
        execute(Resources.text("claim-log.sql"));
        for (Mode mode : Mode.values()) {
            execute("CREATE SCHEMA " + mode.schema());
            execute("SET search_path = " + mode.schema() + ";\n" + Resources.text("tables.sql"));
            String insert = "INSERT INTO " + mode.schema() + ".account (id) SELECT unnest(?::text[])";
            try (Connection connection = database.getConnection();
                    PreparedStatement statement = connection.prepareStatement(insert)) {
                statement.setArray(1, connection.createArrayOf("text", accounts.toArray()));
                statement.executeUpdate();
            }
        }
    }

    String version() throws SQLException {
        try (Connection connection = database.getConnection()) {
            return connection.getMetaData().getDatabaseProductVersion();
        }
    }

    /** Waits until the server has ended the transaction that a stopped writer left open. */
    void awaitNoOpenTransaction(String writer) {
        Polling.until(
                "PostgreSQL has not ended the transaction of the stopped writer " + writer,
                END_LIMIT,
                () -> openTransactions(writer) == 0);
    }

    private long openTransactions(String writer) {
        String query = "SELECT count(*) FROM pg_stat_activity"
                + " WHERE application_name = ? AND state LIKE 'idle in transaction%'";
        try (Connection connection = database.getConnection();
                PreparedStatement statement = connection.prepareStatement(query)) {
            statement.setString(1, WriterSessions.applicationName(writer));
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        } catch (SQLException e) {
            throw new IllegalStateException("The sessions of PostgreSQL could not be listed.", e);
        }
    }

    Map<String, Long> balances(Mode mode) throws SQLException {
        Map<String, Long> balances = new TreeMap<>();
        try (Connection connection = database.getConnection();
                PreparedStatement statement =
                        connection.prepareStatement("SELECT id, balance_cents FROM " + mode.schema() + ".account");
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                balances.put(row.getString(1), row.getLong(2));
            }
        }
        return balances;
    }

    long bookings(Mode mode) throws SQLException {
        try (Connection connection = database.getConnection();
                PreparedStatement statement =
                        connection.prepareStatement("SELECT count(*) FROM " + mode.schema() + ".booking");
                ResultSet row = statement.executeQuery()) {
            row.next();
            return row.getLong(1);
        }
    }

    List<AcceptedWrite> history(Mode mode) throws SQLException {
        String query =
                "SELECT written_at, account, scene, writer, token, base_version, replaced_version, balance_cents,"
                        + " change_cents FROM " + mode.schema() + ".history ORDER BY seq";
        List<AcceptedWrite> history = new ArrayList<>();
        try (Connection connection = database.getConnection();
                PreparedStatement statement = connection.prepareStatement(query);
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                history.add(new AcceptedWrite(
                        instant(row, 1),
                        row.getString(2),
                        Scene.valueOf(row.getString(3)),
                        row.getString(4),
                        row.getLong(5),
                        row.getLong(6),
                        row.getLong(7),
                        row.getLong(8),
                        row.getLong(9)));
            }
        }
        return history;
    }

    List<AdmittedClaim> claims(Mode mode) throws SQLException {
        String query = "SELECT claimed_at, lock, token, writer FROM public.claim_log"
                + " WHERE starts_with(lock, ?) ORDER BY claimed_at";
        List<AdmittedClaim> claims = new ArrayList<>();
        try (Connection connection = database.getConnection();
                PreparedStatement statement = connection.prepareStatement(query)) {
            statement.setString(1, "account:" + mode.schema() + ":");
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    String session = row.getString(4);
                    claims.add(new AdmittedClaim(
                            instant(row, 1),
                            row.getString(2),
                            row.getLong(3),
                            session.equals(WriterSessions.applicationName("A")) ? "A" : "B"));
                }
            }
        }
        return claims;
    }

    private static Instant instant(ResultSet row, int column) throws SQLException {
        return row.getObject(column, OffsetDateTime.class).toInstant();
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
