package dev.fenceline.s3;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import software.amazon.awssdk.services.s3.model.CreateMultipartUploadRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;

/**
 * What a store keeps beside the bytes and hands out with them. A claim writes them again as they were.
 *
 * @param contentType as in the header of that name; so are the next three
 * @param metadata the user's own
 */
record Attributes(
        Optional<String> contentType,
        Optional<String> cacheControl,
        Optional<String> contentDisposition,
        Optional<String> contentLanguage,
        Map<String, String> metadata) {

    /** Tells somebody who reads past us what the object is; what counts stands in the bytes. */
    static final String NOTE = "fenceline";

    /** What that takes of the store's room for metadata beside data. */
    static final int NOTE_BYTES = NOTE.length() + S3Format.ENVELOPE.word().length();

    Attributes {
        metadata = Map.copyOf(metadata);
    }

    static Attributes none() {
        return new Attributes(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(), Map.of());
    }

    static Attributes of(GetObjectResponse answer) {
        Map<String, String> metadata = new TreeMap<>(answer.metadata());
        metadata.remove(NOTE);
        return new Attributes(
                Optional.ofNullable(answer.contentType()),
                Optional.ofNullable(answer.cacheControl()),
                Optional.ofNullable(answer.contentDisposition()),
                Optional.ofNullable(answer.contentLanguage()),
                metadata);
    }

    Attributes withContentType(String type) {
        return new Attributes(Optional.of(type), cacheControl, contentDisposition, contentLanguage, metadata);
    }

    Attributes withCacheControl(String value) {
        return new Attributes(contentType, Optional.of(value), contentDisposition, contentLanguage, metadata);
    }

    Attributes withContentDisposition(String value) {
        return new Attributes(contentType, cacheControl, Optional.of(value), contentLanguage, metadata);
    }

    Attributes withContentLanguage(String value) {
        return new Attributes(contentType, cacheControl, contentDisposition, Optional.of(value), metadata);
    }

    Attributes withMetadata(String name, String value) {
        Map<String, String> more = new TreeMap<>(metadata);
        more.put(name, value);
        return new Attributes(contentType, cacheControl, contentDisposition, contentLanguage, more);
    }

    /** As S3 counts them, names and values. */
    int metadataBytes() {
        return metadata.entrySet().stream()
                .mapToInt(entry -> bytes(entry.getKey()) + bytes(entry.getValue()))
                .sum();
    }

    private static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    void addTo(PutObjectRequest.Builder request, Optional<String> note) {
        contentType.ifPresent(request::contentType);
        cacheControl.ifPresent(request::cacheControl);
        contentDisposition.ifPresent(request::contentDisposition);
        contentLanguage.ifPresent(request::contentLanguage);
        Map<String, String> all = new TreeMap<>(metadata);
        note.ifPresent(text -> all.put(NOTE, text));
        request.metadata(all);
    }

    void addTo(CreateMultipartUploadRequest.Builder request) {
        contentType.ifPresent(request::contentType);
        cacheControl.ifPresent(request::cacheControl);
        contentDisposition.ifPresent(request::contentDisposition);
        contentLanguage.ifPresent(request::contentLanguage);
        request.metadata(metadata);
    }
}
