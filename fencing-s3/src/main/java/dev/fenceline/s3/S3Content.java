package dev.fenceline.s3;

import dev.fenceline.FencingToken;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;

/**
 * What was read: all the bytes of one write, and what the store keeps beside them.
 *
 * <p><b>Thread-safety:</b> immutable.
 */
public final class S3Content {

    private final byte[] bytes;
    private final Attributes attributes;
    private final FencingToken token;

    S3Content(byte[] bytes, Attributes attributes, FencingToken token) {
        this.bytes = bytes;
        this.attributes = attributes;
        this.token = token;
    }

    /**
     * Returns the bytes.
     *
     * @return a copy
     */
    public byte[] bytes() {
        return bytes.clone();
    }

    /**
     * Returns the bytes as text.
     *
     * @return decoded as UTF-8
     */
    public String text() {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /**
     * Returns what the writer said that the bytes are.
     *
     * @return the Content-Type; empty if the store has none
     */
    public Optional<String> contentType() {
        return attributes.contentType();
    }

    /**
     * Returns how long caches may keep it.
     *
     * @return the Cache-Control; empty if there is none
     */
    public Optional<String> cacheControl() {
        return attributes.cacheControl();
    }

    /**
     * Returns how browsers are to show or store it.
     *
     * @return the Content-Disposition; empty if there is none
     */
    public Optional<String> contentDisposition() {
        return attributes.contentDisposition();
    }

    /**
     * Returns in which language it is.
     *
     * @return the Content-Language; empty if there is none
     */
    public Optional<String> contentLanguage() {
        return attributes.contentLanguage();
    }

    /**
     * Returns the user's own metadata.
     *
     * @return unmodifiable
     */
    public Map<String, String> metadata() {
        return attributes.metadata();
    }

    /**
     * Returns the mark of the object when this was read. Not necessarily the token that wrote it: a newer holder may have claimed since.
     *
     * @return the newest token that was claimed
     */
    public FencingToken token() {
        return token;
    }
}
