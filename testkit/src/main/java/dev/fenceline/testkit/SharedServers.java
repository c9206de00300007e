package dev.fenceline.testkit;

import java.util.Optional;
import java.util.function.Supplier;

/**
 * One Redis, one PostgreSQL and one S3 store for all tests of a JVM, since a start costs more than most tests. They start at first use
 * and stop with the JVM. {@link RealServers} hands the first two to a JUnit test.
 *
 * <p>A test leaves them as it found them: keys under a prefix of its own, a {@link PostgresServer#newDatabase() database} or a
 * {@link S3Server#newBucket() bucket} of its own. A test that kills, pauses or reconfigures a server takes one of its own from
 * {@link Servers#embedded()}.
 *
 * <p><b>Thread-safety:</b> any thread.
 *
 * <p><b>Errors:</b> a server that did not start is not started again; every call throws {@link IllegalStateException} with
 * what it said and what to install.
 */
public final class SharedServers {

    static final String S3_STORE = "fenceline.s3.store";

    private static final String S3PROXY = "s3proxy";
    private static final String RADOSGW = "radosgw";

    private static final Once<RedisProcess> REDIS =
            new Once<>(() -> Servers.embedded().redis(RedisSpec.master()));
    private static final Once<PostgresProcess> POSTGRES =
            new Once<>(() -> Servers.embedded().postgres(PostgresSpec.primary()));
    private static final Once<AtomicS3> S3 =
            new Once<>(() -> store(System.getProperty(S3_STORE, S3PROXY), Servers.embedded()));

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
     * Returns the shared S3 store, which decides conditional writes atomically. It is that of {@link EmbeddedServers#s3()}, or with the
     * system property {@code fenceline.s3.store} set to {@code radosgw} that of {@link EmbeddedServers#radosGateway()}; see there for
     * what each needs.
     *
     * @return the same store at every call
     */
    public static AtomicS3 s3() {
        return S3.server();
    }

    static AtomicS3 store(String name, EmbeddedServers servers) {
        return switch (name) {
            case S3PROXY -> servers.s3();
            case RADOSGW -> servers.radosGateway();
            default ->
                throw new IllegalStateException("There is no S3 store '" + name + "'. Set -D" + S3_STORE + " to "
                        + S3PROXY + " or " + RADOSGW + ", or leave it out for " + S3PROXY + ".");
        };
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
