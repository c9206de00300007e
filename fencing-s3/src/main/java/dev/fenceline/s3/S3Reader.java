package dev.fenceline.s3;

import dev.fenceline.BackendMisconfiguredException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Reads fenced objects of both formats, without a lock and without the rights of a writer. What it returns was an accepted write.
 *
 * <p><b>Blocking:</b> one request for an envelope; for a pointer two, and one more for each object. Each is tried three times.
 *
 * <p><b>Interruption:</b> the flag is kept.
 *
 * <p><b>Thread-safety:</b> immutable.
 *
 * <p><b>Errors:</b> {@link dev.fenceline.BackendUnavailableException} when the store does not answer,
 * {@link BackendMisconfiguredException} when the key holds something else or a right is missing.
 */
public final class S3Reader {

    private final Store store;
    private final FenceSettings settings;
    private final PointerReading pointers;

    private S3Reader(Store store, FenceSettings settings) {
        this.store = store;
        this.settings = settings;
        this.pointers = new PointerReading(
                Reading.of(new Documents<>(store, Formats.POINTER), settings, "Read"), new DataStore(store, settings));
    }

    static S3Reader of(S3Client client, String bucket, FenceSettings settings) {
        return new S3Reader(Store.of(client, bucket, EtagForm.AS_RECEIVED, settings.encryption()), settings);
    }

    /**
     * Has the key of {@link S3Encryption#customerKey} sent with each request.
     *
     * @param encryption that of the writers
     * @return a copy with it
     */
    public S3Reader encryption(S3Encryption encryption) {
        return of(store.client(), store.bucket(), settings.withEncryption(encryption));
    }

    /**
     * Limits how long one request of a document may take; 5 s unless set.
     *
     * @param timeout from 50 ms to 5 min
     * @return a copy with this limit
     * @throws IllegalArgumentException when it is out of range
     */
    public S3Reader requestTimeout(Duration timeout) {
        return of(store.client(), store.bucket(), settings.withRequestTimeout(timeout));
    }

    /**
     * Reads an object.
     *
     * @param key of it
     * @return empty when nothing was written yet, or it was deleted
     * @throws IllegalStateException when a pointer has several objects; see {@link #readAll}
     */
    public Optional<S3Content> read(String key) {
        Optional<Look.Found> found = look(key);
        if (found.isPresent() && format(key, found.get()) == S3Format.POINTER) {
            return pointers.take(
                    key,
                    (objects, mark) ->
                            pointers.data().read(PointerReading.only(objects, store.resource(key), "readAll"), mark));
        }
        return found.flatMap(
                envelope -> EnvelopeClaim.content(Formats.ENVELOPE.decode(envelope.bytes(), envelope.attributes())));
    }

    /**
     * Reads all objects of a pointer, as they were after one write.
     *
     * @param key of the pointer
     * @return by name; empty when nothing was written yet, or it was deleted
     */
    public Map<String, S3Content> readAll(String key) {
        return pointers.all(ObjectFence.checked(key));
    }

    /**
     * Tells what stands under a key, and not the data.
     *
     * @param key of it
     * @return empty when there is no object
     */
    public Optional<S3Mark> mark(String key) {
        return look(key).map(found -> {
            if (format(key, found) == S3Format.ENVELOPE) {
                return S3Mark.of(
                        Formats.ENVELOPE
                                .decode(found.bytes(), found.attributes())
                                .header(),
                        List.of());
            }
            Document<List<DataObject>> pointer = Formats.POINTER.decode(found.bytes(), found.attributes());
            return S3Mark.of(pointer.header(), pointer.payload());
        });
    }

    private Optional<Look.Found> look(String key) {
        return Reading.of(new Documents<>(store, Formats.ENVELOPE), settings, "Read")
                .raw(ObjectFence.checked(key))
                .found();
    }

    private S3Format format(String key, Look.Found found) {
        return Formats.of(found)
                .orElseThrow(() -> new BackendMisconfiguredException(
                        "Read on " + store.resource(key)
                                + " refused: it is no fenced object, neither an envelope nor a pointer. Read it with the client"
                                + " itself.",
                        null));
    }
}
