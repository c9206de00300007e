package dev.fenceline.cli;

import dev.fenceline.testkit.PostgresServer;
import dev.fenceline.testkit.SharedServers;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** A database of its own, and the terminal of somebody who works on it. */
record Database(PostgresServer server, String name) {

    private static final AtomicInteger COPIES = new AtomicInteger();

    static Database empty() {
        PostgresServer server = SharedServers.postgres();
        return new Database(server, server.newDatabase());
    }

    static Database installed() {
        String copy = "installed_" + COPIES.incrementAndGet();
        Template.DATABASE.execute("CREATE DATABASE " + copy + " TEMPLATE " + Template.INSTALLED.name());
        return new Database(Template.INSTALLED.server(), copy);
    }

    /** Copied by all: a copy takes a tenth of the time of an installation. */
    private static final class Template {
        private static final Database DATABASE = empty();
        private static final Database INSTALLED = install();

        private static Database install() {
            Database database = empty();
            database.terminal().run("install").ends(0);
            return database;
        }
    }

    /** Connects as the superuser, by the environment. */
    ScriptedTerminal terminal() {
        return as(server.superuser());
    }

    ScriptedTerminal as(String role) {
        return new ScriptedTerminal().with("FENCELINE_URL", url(role));
    }

    String url(String role) {
        return "postgresql://" + role + "@" + server.host() + ":" + server.port() + "/" + name;
    }

    /** A role that exists in this database's server; roles are shared by all databases. */
    String newRole(String prefix) {
        String role = prefix + name;
        execute("CREATE ROLE \"" + role + "\" LOGIN");
        return role;
    }

    void execute(String... statements) {
        for (String sql : statements) {
            rows(sql);
        }
    }

    List<String> rows(String sql) {
        try (Connection connection = server.dataSource(name).getConnection();
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
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }
}
