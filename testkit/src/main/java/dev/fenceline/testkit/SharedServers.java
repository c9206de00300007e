package dev.fenceline.testkit;

/**
 * One Redis and one PostgreSQL for all tests of a JVM, since a start costs more than most tests. They start at first use and
 * stop with the JVM.
 *
 * <p>A test leaves them as it found them: keys under a prefix of its own, a {@link PostgresServer#newDatabase() database} of
 * its own. A test that kills, pauses or reconfigures a server takes one of its own from {@link Servers#embedded()}.
 *
 * <p><b>Thread-safety:</b> any thread.
 */
public final class SharedServers {

    private SharedServers() {}

    /**
     * Returns the shared Redis, a master without persistence.
     *
     * @return the same server at every call
     */
    public static RedisProcess redis() {
        return Redis.SERVER;
    }

    /**
     * Returns the shared PostgreSQL, a fast primary.
     *
     * @return the same server at every call
     */
    public static PostgresProcess postgres() {
        return Postgres.SERVER;
    }

    /** Started when the class is first used. */
    private static final class Redis {
        private static final RedisProcess SERVER = Servers.embedded().redis(RedisSpec.master());
    }

    /** Started when the class is first used. */
    private static final class Postgres {
        private static final PostgresProcess SERVER = Servers.embedded().postgres(PostgresSpec.primary());
    }
}
