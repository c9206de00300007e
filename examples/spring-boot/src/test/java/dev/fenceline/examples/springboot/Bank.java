package dev.fenceline.examples.springboot;

import dev.fenceline.migrations.FenceMigrations;
import dev.fenceline.testkit.PostgresProcess;
import dev.fenceline.testkit.SharedServers;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;

/** The database of the service, with the fence and a table of accounts, and what tests ask of it. */
record Bank(String database, DataSource owner) {

    private static final AtomicLong ACCOUNTS = new AtomicLong();

    static Bank create() {
        PostgresProcess postgres = SharedServers.postgres();
        String database = postgres.newDatabase();
        Bank bank = new Bank(database, postgres.dataSource(database));
        FenceMigrations.on(bank.owner).install();
        bank.execute("CREATE TABLE account (id bigint PRIMARY KEY, balance_cents bigint NOT NULL)");
        return bank;
    }

    String url() {
        return SharedServers.postgres().jdbcUrl(database);
    }

    /** Returns an account that no other test uses. */
    long account(long cents) {
        long id = ACCOUNTS.incrementAndGet();
        execute("INSERT INTO account VALUES (" + id + ", " + cents + ")");
        return id;
    }

    long balance(long id) {
        return number("SELECT balance_cents FROM account WHERE id = " + id);
    }

    long number(String query) {
        try (Connection connection = owner.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getLong(1);
        } catch (SQLException e) {
            throw new IllegalStateException(query, e);
        }
    }

    void execute(String sql) {
        try (Connection connection = owner.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }
}
