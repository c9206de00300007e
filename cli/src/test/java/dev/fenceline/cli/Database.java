package dev.fenceline.cli;

import dev.fenceline.testkit.PostgresServer;
import dev.fenceline.testkit.SharedServers;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** A database of its own, and the terminal of somebody who works on it. */
record Database(PostgresServer server, String name) {

    static Database empty() {
        PostgresServer server = SharedServers.postgres();
        return new Database(server, server.newDatabase());
    }

    static Database installed() {
        Database database = empty();
        database.terminal().run("install").ends(0);
        return database;
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
