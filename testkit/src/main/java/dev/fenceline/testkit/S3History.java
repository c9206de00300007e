package dev.fenceline.testkit;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * What was written to one key of an {@link AtomicS3}, in the order in which the store decided. A write is in here before its
 * writer can know of it, and whether or not its writer ever does.
 *
 * <p><b>Thread-safety:</b> any thread.
 */
public final class S3History {

    private final List<byte[]> bodies = new CopyOnWriteArrayList<>();

    S3History() {}

    void add(byte[] body) {
        bodies.add(body.clone());
    }

    /**
     * Returns the bodies that the key has had, also those that were replaced.
     *
     * @return a copy, the oldest first
     */
    public List<byte[]> bodies() {
        return bodies.stream().map(byte[]::clone).toList();
    }
}
