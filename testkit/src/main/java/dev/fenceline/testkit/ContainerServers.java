package dev.fenceline.testkit;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Servers in containers, by Testcontainers: the official images of Redis 7 and PostgreSQL 17, on published ports. They can be
 * started, configured and replicated, and that is all; what crashes and sleeps comes from {@link EmbeddedServers}.
 *
 * <p>Needs {@code org.testcontainers:testcontainers} and {@code org.testcontainers:testcontainers-postgresql} on the class
 * path, which the testkit does not bring, and a container engine that Testcontainers finds.
 *
 * <p><b>Thread-safety:</b> any thread.
 */
public final class ContainerServers implements Servers {

    private final Deque<AutoCloseable> servers = new ArrayDeque<>();
    private boolean closed;

    ContainerServers() {}

    /**
     * Starts a Redis.
     *
     * @param spec what is needed; the master of a replica must be a container too
     * @return a running server
     * @throws IllegalArgumentException when the master is not a container, which this one could not reach
     */
    @Override
    public RedisServer redis(RedisSpec spec) {
        return add(ContainerRedis.start(spec));
    }

    /**
     * Starts a PostgreSQL.
     *
     * @param spec what is needed
     * @return a running server
     */
    @Override
    public PostgresServer postgres(PostgresSpec spec) {
        return add(ContainerPostgres.start(spec));
    }

    private synchronized <T extends AutoCloseable> T add(T server) {
        if (closed) {
            throw new IllegalStateException("These servers are closed; " + server + " was not to be started.");
        }
        servers.push(server);
        return server;
    }

    @Override
    public synchronized void close() {
        closed = true;
        Stopping.stopAll(servers);
    }
}
