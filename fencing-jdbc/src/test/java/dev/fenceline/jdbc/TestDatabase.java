package dev.fenceline.jdbc;

import dev.fenceline.FencingToken;
import dev.fenceline.migrations.FenceMigrations;
import dev.fenceline.testkit.PostgresServer;
import dev.fenceline.testkit.SharedServers;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** A database of its own with the fence schema and a table of accounts, and what tests ask of it. */
record TestDatabase(PostgresServer server, String name, DataSource source) {

    static TestDatabase create() {
        return createOn(SharedServers.postgres());
    }

    static TestDatabase createOn(PostgresServer server) {
        TestDatabase database = withoutSchemaOn(server);
        FenceMigrations.on(database.source).install();
        return database;
    }

    static TestDatabase withoutSchemaOn(PostgresServer server) {
        String name = server.newDatabase();
        TestDatabase database = new TestDatabase(server, name, server.dataSource(name));
        database.execute("CREATE TABLE account (id int PRIMARY KEY, balance bigint NOT NULL)");
        return database;
    }

    /** The same database, reached through something else, or with other driver properties. */
    PGSimpleDataSource sourceAt(String host, int port) {
        PGSimpleDataSource other = new PGSimpleDataSource();
        other.setServerNames(new String[] {host});
        other.setPortNumbers(new int[] {port});
        other.setDatabaseName(name);
        other.setUser(server.superuser());
        other.setApplicationName("through-proxy");
        return other;
    }

    PGSimpleDataSource sourceNamed(String applicationName) {
        PGSimpleDataSource other = sourceAt(server.host(), server.port());
        other.setApplicationName(applicationName);
        return other;
    }

    void account(int id, long balance) {
        execute("INSERT INTO account VALUES (" + id + ", " + balance
                + ") ON CONFLICT (id) DO UPDATE SET balance = excluded.balance");
    }

    long balance(int id) {
        return number("SELECT balance FROM account WHERE id = " + id);
    }

    FencingToken mark(FencingToken of) {
        try (Connection connection = source.getConnection()) {
            connection.setAutoCommit(false);
            return GuardSql.marks(connection, Tokens.of(of))
                    .inOrder()
                    .get(0)
                    .newest()
                    .orElseThrow();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    void execute(String sql) {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    String text(String sql) {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    long number(String sql) {
        return Long.parseLong(text(sql));
    }

    /** Waits until a session waits for a lock, so that a test goes on when its adversary has arrived there. */
    void awaitLockWait(String applicationName) {
        await(
                "a session of " + applicationName + " waits for a lock",
                () -> number("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = '"
                                + name + "' AND application_name = '" + applicationName + "'")
                        > 0);
    }

    /** Kills the sessions of an application in this database, and returns when their locks are free. */
    void terminate(String applicationName) {
        // By pid, since a client may be back under the same name at once.
        String theirs = text("SELECT coalesce(string_agg(pid::text, ', '), '') FROM pg_stat_activity WHERE datname = '"
                + name + "' AND application_name = '" + applicationName + "'");
        if (theirs.isEmpty()) {
            throw new AssertionError("There was no session of " + applicationName + " to be killed");
        }
        String sessions = " FROM pg_stat_activity WHERE pid IN (" + theirs + ")";
        number("SELECT count(pg_terminate_backend(pid))" + sessions);
        await("sessions " + theirs + " have ended", () -> number("SELECT count(*)" + sessions) == 0);
    }

    static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("Within 20 s it did not come true that " + what);
            }
            Thread.onSpinWait();
        }
    }

    /** Enters by hand, for those who then do what a unit does not. */
    static GuardSql.Entered enter(Connection connection, FencingToken token) throws SQLException {
        Duration limit = Duration.ofSeconds(20);
        return GuardSql.enter(connection, Entry.ALONE, Optional.empty(), Tokens.of(token), limit, limit);
    }

    static long read(Connection connection, int id) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT balance FROM account WHERE id = " + id)) {
            row.next();
            return row.getLong(1);
        }
    }

    static int write(Connection connection, int id, long balance) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            return statement.executeUpdate("UPDATE account SET balance = " + balance + " WHERE id = " + id);
        }
    }
}
