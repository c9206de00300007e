package dev.fenceline.s3;

import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;

/**
 * What is to be written: bytes, a file or a stream, and what the store keeps beside them.
 *
 * <p><b>Thread-safety:</b> immutable; a stream can be read once, and then this can be written once.
 */
public final class S3Body {

    /** A token of HTTP (RFC 9110, 5.6.2). */
    private static final Pattern HEADER_NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");

    private static final int MAX_METADATA_BYTES = 2048;

    private final Source source;
    private final Attributes attributes;

    /** Where the bytes come from. */
    @FunctionalInterface
    private interface Source {
        InputStream open() throws IOException;
    }

    private S3Body(Source source, Attributes attributes) {
        this.source = source;
        this.attributes = attributes;
    }

    /**
     * Writes bytes.
     *
     * @param bytes copied
     * @return a body without attributes
     */
    public static S3Body of(byte[] bytes) {
        byte[] copy = bytes.clone();
        return new S3Body(() -> new ByteArrayInputStream(copy), Attributes.none());
    }

    /**
     * Writes text in UTF-8, and says so as the content type.
     *
     * @param text of any length
     * @return a body of the content type {@code text/plain; charset=utf-8}
     */
    public static S3Body of(String text) {
        return of(text.getBytes(StandardCharsets.UTF_8)).contentType("text/plain; charset=utf-8");
    }

    /**
     * Writes a file. It is opened when it is written, and must not change meanwhile.
     *
     * @param file to read
     * @return a body without attributes
     */
    public static S3Body of(Path file) {
        return new S3Body(() -> Files.newInputStream(file), Attributes.none());
    }

    /**
     * Writes what a stream gives, to its end. The caller closes it. No more than two parts of it are held in memory, see
     * {@link S3Setup#partSize}, so it may be of any length.
     *
     * @param stream is read once
     * @return a body without attributes, which can be written once
     */
    public static S3Body of(InputStream stream) {
        AtomicBoolean used = new AtomicBoolean();
        return new S3Body(
                () -> {
                    if (used.getAndSet(true)) {
                        throw new IllegalStateException(
                                "This body is a stream that was read already, and what it gave is gone;"
                                        + " make a new body of a new stream, or of a file or bytes.");
                    }
                    return new Unclosed(stream);
                },
                Attributes.none());
    }

    /**
     * Says what the bytes are.
     *
     * @param type such as {@code application/json}
     * @return a copy with this Content-Type
     * @throws IllegalArgumentException when it holds something else than printable ASCII; so do the next three
     */
    public S3Body contentType(String type) {
        return new S3Body(source, attributes.withContentType(printable("Content-Type", type)));
    }

    /**
     * Says how long caches may keep it.
     *
     * @param value as in the header of that name
     * @return a copy with this Cache-Control
     */
    public S3Body cacheControl(String value) {
        return new S3Body(source, attributes.withCacheControl(printable("Cache-Control", value)));
    }

    /**
     * Says how browsers are to show or store it.
     *
     * @param value as in the header of that name
     * @return a copy with this Content-Disposition
     */
    public S3Body contentDisposition(String value) {
        return new S3Body(source, attributes.withContentDisposition(printable("Content-Disposition", value)));
    }

    /**
     * Says in which language it is.
     *
     * @param value as in the header of that name
     * @return a copy with this Content-Language
     */
    public S3Body contentLanguage(String value) {
        return new S3Body(source, attributes.withContentLanguage(printable("Content-Language", value)));
    }

    /**
     * Adds metadata of the user's own. S3 takes 2,048 bytes of names and values, 17 of which are for the note that tells how the object
     * is stored.
     *
     * @param name without {@code x-amz-meta-}; what the name of a header takes, in lower case, as stores do not keep the case
     * @param value printable ASCII
     * @return a copy with it
     * @throws IllegalArgumentException when the name is {@code fenceline}, not in lower case or no name of a header, the value not printable
     *     ASCII, or all together too long
     */
    public S3Body metadata(String name, String value) {
        if (!HEADER_NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    "The metadata name '" + name
                            + "' is not one that a header takes; it is made of a-z, 0-9 and !#$%&'*+-.^_`|~, at least one of them.");
        }
        if (!name.equals(name.toLowerCase(Locale.ROOT))) {
            throw new IllegalArgumentException("The metadata name '" + name
                    + "' is not in lower case, and stores do not keep the case; write it in lower case.");
        }
        if (name.equals(Attributes.NOTE)) {
            throw new IllegalArgumentException("The metadata name '" + Attributes.NOTE
                    + "' tells readers how the object is stored; take another one.");
        }
        Attributes more = attributes.withMetadata(name, printable("metadata '" + name + "'", value));
        if (more.metadataBytes() + Attributes.NOTE_BYTES > MAX_METADATA_BYTES) {
            throw new IllegalArgumentException("With '" + name + "' the names and values of the metadata have "
                    + more.metadataBytes() + " bytes, and S3 takes " + MAX_METADATA_BYTES + ", of which "
                    + Attributes.NOTE_BYTES
                    + " are for the note that tells how the object is stored; keep large values in the body.");
        }
        return new S3Body(source, more);
    }

    /** Stores hand out anything else encoded in their own way, and a claim that wrote it again would encode it twice. */
    private static String printable(String what, String value) {
        if (value.chars().anyMatch(c -> c < ' ' || c > '~')) {
            throw new IllegalArgumentException("The value of the " + what
                    + " holds something else than printable ASCII, and a header takes nothing else; encode it, for instance as"
                    + " Base64.");
        }
        return value;
    }

    Attributes attributes() {
        return attributes;
    }

    InputStream open() throws IOException {
        return source.open();
    }

    /** Closing is left to whoever opened it. */
    private static final class Unclosed extends FilterInputStream {

        Unclosed(InputStream stream) {
            super(stream);
        }

        @Override
        public void close() {}

        @Override
        public int read(byte[] into, int from, int length) throws IOException {
            return in.read(into, from, length);
        }
    }
}
