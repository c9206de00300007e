package dev.fenceline.testkit;

/**
 * One Redis, one PostgreSQL and one S3 store for all tests of a JVM, since a start costs more than most tests. They start at
 * first use and stop with the JVM.
 *
 * <p>A test leaves them as it found them: keys under a prefix of its own, a {@link PostgresServer#newDatabase() database} or a
 * {@link S3Server#newBucket() bucket} of its own. A test that kills, pauses or reconfigures a server takes one of its own from
 * {@link Servers#embedded()}.
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

    /**
     * Returns the shared S3 store, which decides conditional writes atomically. See {@link EmbeddedServers#s3()} for what it needs on
     * the class path.
     *
     * @return the same store at every call
     */
    public static AtomicS3 s3() {
        return S3.STORE;
    }

    /** Started when the class is first used. */
    private static final class Redis {
        private static final RedisProcess SERVER = Servers.embedded().redis(RedisSpec.master());
    }

    /** Started when the class is first used. */
    private static final class Postgres {
        private static final PostgresProcess SERVER = Servers.embedded().postgres(PostgresSpec.primary());
    }

    /** Started when the class is first used. */
    private static final class S3 {
        private static final AtomicS3 STORE = Servers.embedded().s3();
    }
}
