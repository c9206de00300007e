package dev.fenceline.testkit;

import java.util.function.Supplier;

/** The stores are libraries that only tests of S3 have; everybody else should not carry their hundred jars. */
final class S3Stores {

    private S3Stores() {}

    static <T extends S3Server> T from(String artifact, Supplier<T> store) {
        try {
            return store.get();
        } catch (NoClassDefFoundError e) {
            throw new IllegalStateException(
                    "A store of S3 needs " + artifact + " on the class path of the tests, and " + e.getMessage()
                            + " is missing. The testkit does not bring it; add the dependency as the documentation of"
                            + " EmbeddedServers.s3() says.",
                    e);
        }
    }
}
