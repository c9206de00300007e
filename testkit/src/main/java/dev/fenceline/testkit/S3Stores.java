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
                    "A store of S3 needs " + artifact + " on the class path of the tests, which the testkit does not"
                            + " bring, and " + e.getMessage() + " is missing. Add the dependency with the exclusions"
                            + " that the documentation of EmbeddedServers.s3() shows: without them a library of"
                            + " another cloud brings a Jackson that is too old.",
                    e);
        }
    }
}
