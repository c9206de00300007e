package dev.fenceline.testkit;

/**
 * Where the servers of a test come from: processes of this machine ({@link #embedded()}) or containers
 * ({@link #containers()}). A test that needs no more than a server is written against this and runs on both.
 *
 * <p><b>Thread-safety:</b> any thread.
 */
public interface Servers extends AutoCloseable {

    /**
     * Starts a Redis.
     *
     * <p><b>Blocking:</b> until it answers; 30 s at most once its program or image is here.
     *
     * @param spec what is needed
     * @return a running server
     */
    RedisServer redis(RedisSpec spec);

    /**
     * Starts a PostgreSQL.
     *
     * <p><b>Blocking:</b> until it answers; 30 s at most once its program or image is here.
     *
     * @param spec what is needed
     * @return a running server
     */
    PostgresServer postgres(PostgresSpec spec);

    /** Stops every server that came from here and removes its data. Idempotent. */
    @Override
    void close();

    /**
     * Starts servers as processes of this machine, which needs no installation and no privileges.
     *
     * @return a new source
     */
    static EmbeddedServers embedded() {
        return new EmbeddedServers();
    }

    /**
     * Starts servers in containers, for those whose rules or platforms want that. Testcontainers must be on the class path.
     *
     * @return a new source
     */
    static ContainerServers containers() {
        return new ContainerServers();
    }
}
