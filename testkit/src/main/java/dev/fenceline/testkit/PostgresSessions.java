package dev.fenceline.testkit;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Connections to any PostgreSQL, wherever it runs. */
final class PostgresSessions {

    static final String SUPERUSER = "postgres";

    private PostgresSessions() {}

    static String jdbcUrl(String host, int port, String database) {
        return "jdbc:postgresql://" + host + ":" + port + "/" + database + "?user=" + SUPERUSER;
    }

    static PGSimpleDataSource dataSource(String host, int port, String database, String user) {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setServerNames(new String[] {host});
        dataSource.setPortNumbers(new int[] {port});
        dataSource.setDatabaseName(database);
        dataSource.setUser(user);
        return dataSource;
    }

    /** One value as text. */
    static String query(DataSource dataSource, String sql) {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            return rows.next() ? String.valueOf(rows.getString(1)) : "";
        } catch (SQLException e) {
            throw new IllegalStateException("PostgreSQL refused '" + sql + "': " + e.getMessage(), e);
        }
    }

    static void execute(DataSource dataSource, String sql) {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException("PostgreSQL refused '" + sql + "': " + e.getMessage(), e);
        }
    }

    static int majorVersion(DataSource dataSource) {
        return Integer.parseInt(query(dataSource, "SHOW server_version_num")) / 10_000;
    }

    /** Asks the server itself whether it is as durable as it was to be. */
    static void requireDurability(DataSource dataSource, PostgresSpec spec) {
        if (spec.durability() != PostgresSpec.Durability.DURABLE) {
            return;
        }
        for (String setting : List.of("fsync", "full_page_writes", "synchronous_commit")) {
            String value = query(dataSource, "SHOW " + setting);
            if (!"on".equals(value)) {
                throw new IllegalStateException("PostgreSQL was to be durable, but " + setting + " is " + value
                        + ". Do not set it in the specification.");
            }
        }
    }
}
