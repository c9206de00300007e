package dev.fenceline.testkit;

import java.net.URI;

/**
 * An S3 store for a test, inside this JVM or on this machine. Clients reach it over HTTP as they reach any other: by {@link #endpoint()}, the two
 * keys, and the bucket in the path, not in the host's name ({@code forcePathStyle(true)} in the AWS SDK).
 *
 * <p><b>Thread-safety:</b> any thread.
 */
public interface S3Server extends AutoCloseable {

    /**
     * Returns where to connect to.
     *
     * @return {@code http://host:port}
     */
    URI endpoint();

    /**
     * Returns the region to sign requests for.
     *
     * @return a name that AWS has too
     */
    default String region() {
        return "us-east-1";
    }

    /**
     * Returns the access key that requests are signed with.
     *
     * @return an identity that means nothing elsewhere
     */
    default String accessKey() {
        return "fenceline";
    }

    /**
     * Returns the secret that belongs to the access key.
     *
     * @return a secret that opens nothing else
     */
    default String secretKey() {
        return "of-no-use-elsewhere";
    }

    /**
     * Makes an empty bucket, so that tests that share a server do not share their objects.
     *
     * @return its name
     */
    String newBucket();

    /** Stops the server and forgets its objects. Idempotent. */
    @Override
    void close();
}
