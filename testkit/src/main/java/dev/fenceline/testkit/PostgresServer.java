package dev.fenceline.testkit;

import javax.sql.DataSource;

/**
 * A real PostgreSQL for a test, wherever it runs. {@link PostgresProcess} is one that can also crash and be replicated.
 *
 * <p>Every role connects without a password: it is a server for an hour.
 *
 * <p><b>Thread-safety:</b> any thread.
 */
public interface PostgresServer extends AutoCloseable {

    /**
     * Returns the host to connect to.
     *
     * @return a name or an address
     */
    String host();

    /**
     * Returns the port to connect to, which stays the same over a restart.
     *
     * @return a TCP port
     */
    int port();

    /**
     * Asks the server for its major version: what a test may expect can depend on it.
     *
     * @return such as 18
     */
    int majorVersion();

    /**
     * Returns the role that may do everything.
     *
     * @return its name
     */
    String superuser();

    /**
     * Returns where to connect to as the superuser.
     *
     * @param database such as one of {@link #newDatabase()}
     * @return {@code jdbc:postgresql://…}, with the user in it
     */
    String jdbcUrl(String database);

    /**
     * Connects as the superuser.
     *
     * @param database such as one of {@link #newDatabase()}
     * @return opens a new connection at each call
     */
    DataSource dataSource(String database);

    /**
     * Connects as another role.
     *
     * @param database such as one of {@link #newDatabase()}
     * @param user a role that may log in
     * @return opens a new connection at each call
     */
    DataSource dataSource(String database, String user);

    /**
     * Creates an empty database: one for each test class, so that none sees what another left.
     *
     * @return its name, used for the first time
     */
    String newDatabase();

    /** Stops the server and removes its data. Idempotent. */
    @Override
    void close();
}
