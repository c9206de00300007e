package dev.fenceline.examples;

import dev.fenceline.LockName;
import dev.fenceline.Locks;
import dev.fenceline.lock.RedisLocks;
import dev.fenceline.migrations.FenceMigrations;
import dev.fenceline.testkit.PostgresProcess;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.SharedServers;
import javax.sql.DataSource;

/** Real servers for a test of your own, from the testkit. */
public final class InYourTests {

    private InYourTests() {}

    /**
     * Starts both servers and takes a lock.
     *
     * @param args none
     */
    public static void main(String[] args) {
        System.out.println(acquired() ? "the lock is ours" : "somebody else has the lock");
    }

    static boolean acquired() {
        // snippet: in-your-tests
        RedisProcess redis = SharedServers.redis();
        PostgresProcess postgres = SharedServers.postgres();
        DataSource database = postgres.dataSource(postgres.newDatabase());
        FenceMigrations.on(database).install();
        try (Locks locks = RedisLocks.connect(redis.uri())) {
            return locks.fenced(LockName.of("account", 42)).tryAcquire().isPresent();
        }
        // end snippet
    }
}
