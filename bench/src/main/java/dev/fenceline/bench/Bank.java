package dev.fenceline.bench;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.fenceline.FencedLease;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.lock.RedisLocks;
import dev.fenceline.migrations.FenceMigrations;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.PostgresServer;
import dev.fenceline.testkit.PostgresSpec;
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.Servers;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import javax.sql.DataSource;

/** A PostgreSQL that waits for its disk, with the fence schema, and the locks whose tokens its writers have. */
final class Bank implements AutoCloseable {

    /** Whether COMMIT waits for the disk. */
    enum Commits {
        /** {@code synchronous_commit = on}. */
        SYNCHRONOUS,
        /** {@code synchronous_commit = off}: the last of them are lost in a crash, and the disk is no part of what is measured. */
        ASYNCHRONOUS;

        private String setting() {
            return this == SYNCHRONOUS ? "on" : "off";
        }
    }

    /** Longer than any run: a lease is renewed meanwhile, and what is left of it is a part of each transaction's limits. */
    private static final Duration LEASE = Duration.ofHours(2);

    private static final int CONNECTIONS = 10;

    private final EmbeddedServers servers = Servers.embedded();
    private final PostgresServer postgres;
    private final String database;
    private final Map<Commits, HikariDataSource> pools = new EnumMap<>(Commits.class);
    private final Locks locks;

    Bank() {
        this.postgres = servers.postgres(PostgresSpec.primary().durable());
        this.database = postgres.newDatabase();
        for (Commits commits : Commits.values()) {
            pools.put(commits, pool(commits));
        }
        FenceMigrations.on(source(Commits.SYNCHRONOUS)).install();
        this.locks = RedisLocks.connect(
                servers.redis(RedisSpec.master()).uri(),
                LockOptions.builder()
                        .lease(LEASE)
                        .maxHold(LEASE)
                        .masterClockSkew(Duration.ZERO)
                        .build());
    }

    private HikariDataSource pool(Commits commits) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(postgres.jdbcUrl(database) + "&options=-c%20synchronous_commit%3D" + commits.setting());
        config.setMaximumPoolSize(CONNECTIONS);
        config.setPoolName("bench-" + commits.name().toLowerCase(Locale.ROOT));
        return new HikariDataSource(config);
    }

    DataSource source(Commits commits) {
        HikariDataSource pool = pools.get(commits);
        if (pool == null) {
            throw new IllegalStateException("No pool of " + commits + ".");
        }
        return pool;
    }

    /** A lease that nobody else wants. */
    FencedLease lease(LockName name) throws InterruptedException {
        return locks.fenced(name).acquire();
    }

    void execute(String sql) throws SQLException {
        try (Connection connection = source(Commits.SYNCHRONOUS).getConnection();
                Statement statement = connection.createStatement()) {
            boolean unused = statement.execute(sql);
        }
    }

    @Override
    public void close() {
        pools.values().forEach(HikariDataSource::close);
        locks.close();
        servers.close();
    }
}
