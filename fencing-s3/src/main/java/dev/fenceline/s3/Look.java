package dev.fenceline.s3;

import java.time.Instant;
import java.util.Optional;

/**
 * What a store answered to the question what stands under a key.
 *
 * @param found empty when there is nothing
 * @param date the store's clock, if it told
 */
record Look(Optional<Found> found, Optional<Instant> date) {

    /** An object. */
    static final class Found {

        private final byte[] bytes;
        private final String etag;
        private final Optional<String> contentEncoding;
        private final Attributes attributes;

        Found(byte[] bytes, String etag, Optional<String> contentEncoding, Attributes attributes) {
            this.bytes = bytes;
            this.etag = etag;
            this.contentEncoding = contentEncoding;
            this.attributes = attributes;
        }

        /** All of it, or a little more than any document may have. */
        byte[] bytes() {
            return bytes;
        }

        /** Exactly as received; empty if the store has sent none. */
        String etag() {
            return etag;
        }

        /** As the store has it. */
        Optional<String> contentEncoding() {
            return contentEncoding;
        }

        /** What it keeps beside the bytes. */
        Attributes attributes() {
            return attributes;
        }
    }
}
