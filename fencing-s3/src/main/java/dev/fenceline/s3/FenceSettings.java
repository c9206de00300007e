package dev.fenceline.s3;

import dev.fenceline.FencelineListener;
import dev.fenceline.LoggingListener;
import java.time.Duration;

/**
 * What can be set on a fence.
 *
 * @param requestTimeout how long one request of a document may take
 * @param encryption of what is written
 * @param listener hears of claims and writes
 * @param progress hears of data on its way
 * @param partSize of data that is sent in several parts, in bytes
 */
record FenceSettings(
        Duration requestTimeout,
        S3Encryption encryption,
        FencelineListener listener,
        S3Progress progress,
        int partSize) {

    private static final FencelineListener LOG = new LoggingListener();
    private static final Duration SHORTEST_REQUEST = Duration.ofMillis(50);
    private static final Duration LONGEST_REQUEST = Duration.ofMinutes(5);
    private static final int MEBIBYTE = 1024 * 1024;
    private static final int SMALLEST_PART = 5 * MEBIBYTE;
    private static final int LARGEST_PART = 1024 * MEBIBYTE;

    FenceSettings {
        if (requestTimeout.compareTo(SHORTEST_REQUEST) < 0 || requestTimeout.compareTo(LONGEST_REQUEST) > 0) {
            throw new IllegalArgumentException("requestTimeout of " + requestTimeout.toMillis() + " ms is not between "
                    + SHORTEST_REQUEST.toMillis() + " ms and " + LONGEST_REQUEST.toMillis() + " ms.");
        }
        if (partSize < SMALLEST_PART || partSize > LARGEST_PART) {
            throw new IllegalArgumentException("partSize of " + partSize + " bytes is not between " + SMALLEST_PART
                    + ", the least that S3 takes, and " + LARGEST_PART + ".");
        }
    }

    static FenceSettings defaults() {
        return new FenceSettings(Duration.ofSeconds(5), S3Encryption.none(), LOG, S3Progress.none(), 8 * MEBIBYTE);
    }

    FenceSettings withRequestTimeout(Duration timeout) {
        return new FenceSettings(timeout, encryption, listener, progress, partSize);
    }

    FenceSettings withEncryption(S3Encryption next) {
        return new FenceSettings(requestTimeout, next, listener, progress, partSize);
    }

    FenceSettings withListener(FencelineListener next) {
        return new FenceSettings(requestTimeout, encryption, next, progress, partSize);
    }

    FenceSettings withProgress(S3Progress next) {
        return new FenceSettings(requestTimeout, encryption, listener, next, partSize);
    }

    FenceSettings withPartSize(int bytes) {
        return new FenceSettings(requestTimeout, encryption, listener, progress, bytes);
    }
}
