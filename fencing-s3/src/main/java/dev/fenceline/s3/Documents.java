package dev.fenceline.s3;

import java.time.Instant;
import java.util.Optional;

/**
 * The documents of one format in one bucket.
 *
 * @param store the bucket
 * @param format how they are written
 * @param <P> what they hold
 */
record Documents<P>(Store store, Format<P> format) {

    /**
     * What was seen under a key.
     *
     * @param version empty when there is nothing
     * @param date the store's clock, if it told
     */
    record Seen<P>(Optional<Version<P>> version, Optional<Instant> date) {}

    Seen<P> look(String key, Effort effort) throws Unanswered {
        Look look = store.get(key, effort);
        return new Seen<>(look.found().map(found -> version(key, found)), look.date());
    }

    private Version<P> version(String key, Look.Found found) {
        try {
            Document<P> document = format.decode(found.bytes(), found.attributes());
            if (!found.contentEncoding().equals(format.contentEncoding())) {
                // The bytes decide; but a reader who goes by the header would get something else than was written.
                throw new IllegalArgumentException("its Content-Encoding is '"
                        + found.contentEncoding().orElse("") + "' in place of '"
                        + format.contentEncoding().orElse("") + "'");
            }
            if (found.etag().isEmpty()) {
                throw Refusals.noEtag(store.resource(key));
            }
            return new Version<>(document, found.etag());
        } catch (IllegalArgumentException e) {
            Optional<S3Format> other = Formats.of(found).filter(kind -> kind != format.kind());
            throw Refusals.foreign(store.resource(key), format.kind(), other, why(other, e));
        }
    }

    private static IllegalArgumentException why(Optional<S3Format> other, IllegalArgumentException unreadable) {
        return other.map(kind -> new IllegalArgumentException("it is of the format '" + kind.word() + "'", unreadable))
                .orElse(unreadable);
    }

    Answer put(String key, Document<P> document, Condition condition, Effort effort) {
        return store.put(key, format, document, condition, effort);
    }
}
