package dev.fenceline.testkit;

import dev.fenceline.LockOptions;
import java.util.Optional;
import java.util.UUID;
import javax.sql.DataSource;

/**
 * What one test class has for itself on the shared servers. JUnit is not to end it by itself, as it does with what is closeable, from
 * 5.13 on.
 */
final class TestSpace {

    private static final int LONGEST_NAME = 48;

    private final String name;
    private final String keyPrefix;
    private Optional<String> database = Optional.empty();

    TestSpace(Class<?> testClass) {
        String simple = testClass.getSimpleName().replaceAll("[^A-Za-z0-9._-]", "_");
        name = simple.substring(0, Math.min(simple.length(), LONGEST_NAME));
        keyPrefix = name + "-" + UUID.randomUUID().toString().substring(0, 8);
    }

    LockOptions.Builder lockOptions() {
        return LockOptions.builder().keyPrefix(keyPrefix).application(name);
    }

    /** The same one at each call, made at the first. */
    synchronized DataSource database() {
        PostgresServer server = SharedServers.postgres();
        String own = database.orElseGet(server::newDatabase);
        database = Optional.of(own);
        return server.dataSource(own);
    }

    /** Drops the database, also from under a pool that a test has forgotten. */
    synchronized void end() {
        database.ifPresent(own -> PostgresSessions.execute(
                SharedServers.postgres().dataSource(LocalPostgres.MAINTENANCE),
                "DROP DATABASE " + own + " WITH (FORCE)"));
        database = Optional.empty();
    }
}
