package dev.fenceline.testkit;

import java.util.Optional;
import java.util.function.Supplier;

/**
 * One Redis and one PostgreSQL for all tests of a JVM, since a start costs more than most tests. They start at first use and
 * stop with the JVM. {@link RealServers} hands them to a JUnit test.
 *
 * <p>A test leaves them as it found them: keys under a prefix of its own, a {@link PostgresServer#newDatabase() database} of
 * its own. A test that kills, pauses or reconfigures a server takes one of its own from {@link Servers#embedded()}.
 *
 * <p><b>Thread-safety:</b> any thread.
 *
 * <p><b>Errors:</b> a server that did not start is not started again; every call throws {@link IllegalStateException} with
 * what it said and what to install.
 */
public final class SharedServers {

    private static final Once<RedisProcess> REDIS =
            new Once<>(() -> Servers.embedded().redis(RedisSpec.master()));
    private static final Once<PostgresProcess> POSTGRES =
            new Once<>(() -> Servers.embedded().postgres(PostgresSpec.primary()));

    private SharedServers() {}

    /**
     * Returns the shared Redis, a master without persistence.
     *
     * @return the same server at every call
     */
    public static RedisProcess redis() {
        return REDIS.server();
    }

    /**
     * Returns the shared PostgreSQL, a fast primary.
     *
     * @return the same server at every call
     */
    public static PostgresProcess postgres() {
        return POSTGRES.server();
    }

    /**
     * Started at first use. Not by the initializer of a class: if that fails, the JVM tells the reason to the first test alone, and
     * all others that a class could not be initialized.
     */
    private static final class Once<T> {

        private final Supplier<T> start;
        private Optional<T> running = Optional.empty();
        private Optional<RuntimeException> failure = Optional.empty();

        Once(Supplier<T> start) {
            this.start = start;
        }

        synchronized T server() {
            if (running.isEmpty() && failure.isEmpty()) {
                try {
                    running = Optional.of(start.get());
                } catch (RuntimeException e) {
                    failure = Optional.of(e);
                }
            }
            return running.orElseThrow(() ->
                    new IllegalStateException(failure.map(Throwable::getMessage).orElse(""), failure.orElse(null)));
        }
    }
}
