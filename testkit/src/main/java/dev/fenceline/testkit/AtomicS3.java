package dev.fenceline.testkit;

/**
 * A store that decides each conditional write in one step, as S3 does: of several writers that expect the same ETag, or no
 * object, exactly one succeeds. It checks signatures, presigned ones too.
 *
 * <p><b>Guarantees:</b> {@code If-Match} and {@code If-None-Match} on a PUT, and {@code If-None-Match} on the completion of an
 * upload in parts, are decided together with the write.
 *
 * <p><b>Not guaranteed:</b> {@code If-Match} on the completion of an upload in parts and on DELETE, which may be checked before. What
 * is answered where S3 answers more than one thing: {@code If-Match} on a missing key is 404 at one store and 412 at another.
 */
public interface AtomicS3 extends S3Server {

    /**
     * Records what is written to one key from now on.
     *
     * @param bucket of the key
     * @param key of an object that need not exist yet
     * @return the history, which grows
     */
    S3History watch(String bucket, String key);
}
