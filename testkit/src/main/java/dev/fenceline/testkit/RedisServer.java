package dev.fenceline.testkit;

/**
 * A real Redis for a test, wherever it runs. {@link RedisProcess} is one that can also be killed and paused.
 *
 * <p><b>Thread-safety:</b> any thread.
 */
public interface RedisServer extends AutoCloseable {

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
     * Returns where to connect to, as clients read it.
     *
     * @return {@code redis://host:port}, with the password in it if one was set
     */
    String uri();

    /**
     * Sends one command over a connection of its own.
     *
     * <p><b>Blocking:</b> 10 s at most.
     *
     * @param words the command and its arguments, such as {@code "CONFIG", "SET", "maxmemory-policy", "allkeys-lru"}
     * @return the answer as text; the elements of an array joined by line feeds, nothing at all as the empty text
     * @throws IllegalStateException when the server answers with an error or cannot be reached; the message holds the answer
     */
    String command(String... words);

    /** Stops the server and removes its data. Idempotent. */
    @Override
    void close();
}
