package dev.fenceline.s3;

import dev.fenceline.FencingToken;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * One version of an object, as the store got it.
 *
 * @param token the mark
 * @param writeId of the write that made it
 * @param content the body of an envelope, the checksums of what a pointer names; empty for a mark without data
 */
record Written(FencingToken token, UUID writeId, String content) {

    static Written of(S3Format format, byte[] bytes) {
        if (format == S3Format.ENVELOPE) {
            Document<byte[]> document = Formats.ENVELOPE.decode(bytes, Attributes.none());
            return new Written(
                    document.token(),
                    document.header().writeId(),
                    new String(document.payload(), StandardCharsets.UTF_8));
        }
        Document<List<DataObject>> document = Formats.POINTER.decode(bytes, Attributes.none());
        return new Written(
                document.token(),
                document.header().writeId(),
                document.payload().stream().map(DataObject::sha256).collect(Collectors.joining(" ")));
    }

    /** What a version that holds this body has as its content. */
    static String content(S3Format format, String body) {
        return format == S3Format.ENVELOPE ? body : Digests.hex(sha256(body.getBytes(StandardCharsets.UTF_8)));
    }

    private static MessageDigest sha256(byte[] bytes) {
        MessageDigest digest = Digests.sha256();
        digest.update(bytes);
        return digest;
    }
}
