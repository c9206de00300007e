package dev.fenceline.jdbc.repository;

import dev.fenceline.FencelineListener;
import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.jdbc.PostgresFence;
import dev.fenceline.lock.RedisLocks;
import dev.fenceline.migrations.FenceMigrations;
import dev.fenceline.testkit.PostgresServer;
import dev.fenceline.testkit.SharedServers;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.sqlobject.SqlObjectPlugin;

/**
 * A database with accounts and the fence schema, and locks of its own on the shared Redis.
 *
 * @param source as the program has it
 * @param elsewhere the same database, as another process reaches it
 * @param locks of the program
 */
record Bank(DataSource source, DataSource elsewhere, Locks locks) {

    static Bank create() {
        PostgresServer server = SharedServers.postgres();
        String database = server.newDatabase();
        DataSource source = server.dataSource(database);
        FenceMigrations.on(source).install();
        Bank bank = new Bank(
                source,
                server.dataSource(database),
                RedisLocks.connect(
                        SharedServers.redis().uri(),
                        LockOptions.builder()
                                .keyPrefix("repository-" + UUID.randomUUID())
                                .masterClockSkew(Duration.ZERO)
                                .maxWait(Duration.ofSeconds(20))
                                .listener(FencelineListener.none())
                                .build()));
        bank.execute("CREATE TABLE account (id int PRIMARY KEY, balance bigint NOT NULL)");
        return bank;
    }

    Jdbi jdbi() {
        return Jdbi.create(source)
                .installPlugin(new SqlObjectPlugin())
                .registerRowMapper(Account.class, (row, context) -> new Account(row.getInt(1), row.getLong(2)));
    }

    /** Accounts 41 to 43, with 100 each. */
    void open() {
        execute("INSERT INTO account SELECT id, 100 FROM generate_series(41, 43) id"
                + " ON CONFLICT (id) DO UPDATE SET balance = 100");
    }

    long balance(int id) {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT balance FROM account WHERE id = " + id)) {
            row.next();
            return row.getLong(1);
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

    /** Somebody newer claims, in another process as far as anybody here can tell. */
    FencingToken overtake(FencingToken token) {
        FencingToken newer = new FencingToken(token.lock(), token.value() + 1, UUID.randomUUID());
        PostgresFence.on(elsewhere).listener(FencelineListener.none()).claim(newer);
        return newer;
    }

    static LockName account(int id) {
        return LockName.of("account", id);
    }
}
