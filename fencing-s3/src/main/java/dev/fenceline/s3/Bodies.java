package dev.fenceline.s3;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** Reads what is to be written. */
final class Bodies {

    private Bodies() {}

    /** All bytes; one more than {@code limit} at most, to show that there are more. */
    @SuppressWarnings("try") // kept until the end
    static byte[] upTo(int limit, S3Body body) {
        try (Interruption interruption = new Interruption();
                InputStream in = body.open()) {
            return in.readNBytes(limit + 1);
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    static UncheckedIOException unreadable(IOException e) {
        return new UncheckedIOException("The body cannot be read, so nothing was written: " + e.getMessage(), e);
    }
}
