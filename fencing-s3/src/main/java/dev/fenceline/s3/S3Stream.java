package dev.fenceline.s3;

import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/**
 * Data as a stream, which has to be closed. Its length and checksum are compared at its end: whoever has seen the end without an exception has read what was
 * written.
 *
 * <p><b>Thread-safety:</b> one thread at a time.
 */
public final class S3Stream extends InputStream {

    private final ResponseInputStream<GetObjectResponse> in;
    private final DataObject object;
    private final Attributes attributes;
    private final MessageDigest digest = Digests.sha256();
    private long seen;
    private boolean compared;

    S3Stream(ResponseInputStream<GetObjectResponse> in, DataObject object, Attributes attributes) {
        this.in = in;
        this.object = object;
        this.attributes = attributes;
    }

    Attributes attributes() {
        return attributes;
    }

    /**
     * Returns how long it is.
     *
     * @return bytes
     */
    public long length() {
        return object.length();
    }

    /**
     * Returns what the writer said that it is.
     *
     * @return the Content-Type; empty if the store has none
     */
    public Optional<String> contentType() {
        return attributes.contentType();
    }

    /**
     * Returns the user's own metadata.
     *
     * @return unmodifiable
     */
    public Map<String, String> metadata() {
        return attributes.metadata();
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int from, int length) throws IOException {
        int count = in.read(into, from, length);
        if (count < 0) {
            compare();
            return -1;
        }
        digest.update(into, from, count);
        seen += count;
        return count;
    }

    private void compare() throws IOException {
        if (compared) {
            return;
        }
        compared = true;
        String sha256 = Digests.hex(digest);
        if (seen != object.length() || !sha256.equals(object.sha256())) {
            throw new Altered(object, seen, sha256);
        }
    }

    /** Ends the transfer, also in its middle. */
    @Override
    public void close() throws IOException {
        if (!compared) {
            in.abort(); // else the client reads to the end, to keep the connection
        }
        in.close();
    }
}
