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
import dev.fenceline.testkit.RedisServer;
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.Servers;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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

    private static final Pattern SCRIPTS = Pattern.compile("cmdstat_evalsha:calls=([0-9]+)");

    private final EmbeddedServers servers = Servers.embedded();
    private final PostgresServer postgres;
    private final RedisServer redis;
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
        this.redis = servers.redis(RedisSpec.master());
        this.locks = RedisLocks.connect(
                redis.uri(),
                LockOptions.builder()
                        .lease(LEASE)
                        .maxHold(LEASE)
                        .masterClockSkew(Duration.ZERO)
                        .build());
    }

    private HikariDataSource pool(Commits commits) {
        return pool(
                "&options=-c%20synchronous_commit%3D" + commits.setting(),
                CONNECTIONS,
                "bench-" + commits.name().toLowerCase(Locale.ROOT));
    }

    private HikariDataSource pool(String more, int connections, String name) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(postgres.jdbcUrl(database) + more);
        config.setMaximumPoolSize(connections);
        config.setPoolName(name);
        return new HikariDataSource(config);
    }

    /** A pool of one connection whose {@link RoundTrips} are counted. */
    HikariDataSource counted() {
        return pool("&socketFactory=" + RoundTrips.class.getName(), 1, "bench-counted");
    }

    /** How many scripts Redis has run so far. */
    long scripts() {
        Matcher calls = SCRIPTS.matcher(redis.command("INFO", "commandstats"));
        return calls.find() ? Long.parseLong(calls.group(1)) : 0;
    }

    Locks locks() {
        return locks;
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
