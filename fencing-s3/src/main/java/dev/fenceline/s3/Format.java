package dev.fenceline.s3;

import java.util.Optional;

/**
 * How documents become bytes.
 *
 * @param <P> what they hold
 */
interface Format<P> {

    S3Format kind();

    /** What a document without data holds. */
    P nothing();

    byte[] encode(Document<P> document);

    /**
     * Reads what {@link #encode} wrote.
     *
     * @throws IllegalArgumentException when these are no such bytes; the message goes on after <i>because</i>
     */
    Document<P> decode(byte[] bytes, Attributes attributes);

    /** What the store keeps beside a document without data. */
    Attributes attributes();

    /** What the object's Content-Encoding is. */
    Optional<String> contentEncoding();

    /** What is said of the object to those who read past us. */
    default String note(Header header) {
        return kind().word() + (header.state() == Header.State.DATA ? "" : "-none");
    }
}
