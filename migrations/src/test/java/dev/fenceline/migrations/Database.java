package dev.fenceline.migrations;

import dev.fenceline.testkit.PostgresServer;
import dev.fenceline.testkit.SharedServers;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** A database of its own, and what tests ask of it. */
record Database(PostgresServer server, String name) {

    private static final AtomicInteger COPIES = new AtomicInteger();

    static Database empty() {
        PostgresServer server = SharedServers.postgres();
        return new Database(server, server.newDatabase());
    }

    static Database installed() {
        Database database = empty();
        FenceMigrations.on(database.source()).install();
        return database;
    }

    /** As {@link #installed()}, by a copy of a database that was installed once. */
    static Database prepared() {
        String name = "prepared_" + COPIES.incrementAndGet();
        execute(
                SharedServers.postgres().dataSource("postgres"),
                "CREATE DATABASE " + name + " TEMPLATE " + Template.INSTALLED.name());
        return new Database(SharedServers.postgres(), name);
    }

    /** Installed at first use. */
    private static final class Template {
        private static final Database INSTALLED = installed();
    }

    DataSource source() {
        return server.dataSource(name);
    }

    /** A role that exists in this database's server; roles are shared by all databases. */
    String newRole(String prefix) {
        String role = prefix + name;
        execute(source(), "CREATE ROLE \"" + role.replace("\"", "\"\"") + "\" LOGIN");
        return role;
    }

    DataSource as(String role) {
        return server.dataSource(name, role);
    }

    /** Sessions with this application_name. */
    PGSimpleDataSource named(String application) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(server.jdbcUrl(name));
        source.setApplicationName(application);
        return source;
    }

    /** Creates a table with the columns of row mode after these. */
    void marked(String table, String columns, String... more) {
        execute("CREATE TABLE " + table + " (" + columns + ") " + String.join(" ", more) + ";" + " ALTER TABLE " + table
                + " ADD COLUMN fence_token bigint NOT NULL DEFAULT 0, ADD COLUMN fence_holder uuid");
    }

    void execute(String sql) {
        execute(source(), sql);
    }

    static void execute(DataSource source, String sql) {
        try {
            run(source, sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    static List<String> run(DataSource source, String sql) throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            List<String> rows = new ArrayList<>();
            if (statement.execute(sql)) {
                try (ResultSet result = statement.getResultSet()) {
                    while (result.next()) {
                        rows.add(result.getString(1));
                    }
                }
            }
            return rows;
        }
    }

    List<String> rows(String sql) {
        return rows(source(), sql);
    }

    static List<String> rows(DataSource source, String sql) {
        try {
            return run(source, sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }
}
