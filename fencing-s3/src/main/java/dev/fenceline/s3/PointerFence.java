package dev.fenceline.s3;

import dev.fenceline.FencingToken;
import dev.fenceline.Hold;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A fence for objects of any size, and for several that change together: under the key lies a small document that names where the data
 * is, and the data lies under keys that are written once. See {@link ObjectFence}.
 *
 * <p>A read takes two requests, a write of one object up to the part size two, a claim two, whatever the size of the data. Data that
 * was replaced stays until {@link #cleanUp}.
 *
 * <p>Keys have up to 969 bytes of UTF-8, as those of the data are 55 longer, and S3 takes 1,024.
 */
public final class PointerFence extends ObjectFence<PointerClaim> {

    private final Claims<List<DataObject>> claims;
    private final PointerReading reading;
    private final Store store;

    PointerFence(Store store, FenceSettings settings) {
        super(settings);
        this.store = store;
        Documents<List<DataObject>> documents = new Documents<>(store, Formats.POINTER);
        this.claims = new Claims<>(documents, settings);
        this.reading = new PointerReading(Reading.of(documents, settings, "Read"), new DataStore(store, settings));
    }

    /** Else the mark could be made and no data be sent. */
    @Override
    String requireKey(String key) {
        return checked(
                "a pointer",
                key,
                MAX_KEY_BYTES - DataStore.KEY_BYTES_MORE,
                ": S3 takes keys of " + MAX_KEY_BYTES + " bytes, and those of its data are " + DataStore.KEY_BYTES_MORE
                        + " longer.");
    }

    @Override
    PointerClaim open(String key, FencingToken token, @Nullable Hold lease) {
        return new PointerClaim(claims.claim(key, token, lease), reading);
    }

    @Override
    PointerClaim reopen(String key, FencingToken token) {
        return new PointerClaim(claims.resume(key, token), reading);
    }

    /**
     * Reads the object without a lock, as it was after some accepted write.
     *
     * @throws IllegalStateException when there are several; see {@link #readAll}
     */
    @Override
    public Optional<S3Content> read(String key) {
        return reading.take(
                requireKey(key),
                (objects, mark) ->
                        reading.data().read(PointerReading.only(objects, store.resource(key), "readAll"), mark));
    }

    /**
     * Reads all objects without a lock, as they were after one accepted write.
     *
     * <p><b>Blocking:</b> one request for the pointer and one for each object; again from the start when one of them was replaced and removed
     * meanwhile.
     *
     * @param key of the pointer
     * @return by name; empty when nothing was written yet, or it was deleted
     * @throws dev.fenceline.BackendUnavailableException when the store does not answer
     * @throws dev.fenceline.BackendMisconfiguredException when the key holds something else, a right is missing, or data was removed past
     *     the fence
     */
    public Map<String, S3Content> readAll(String key) {
        return reading.all(requireKey(key));
    }

    /**
     * Opens the object as a stream, without a lock, as it was after some accepted write.
     *
     * <p><b>Interruption:</b> ends the opening and the reading of the stream with an exception; nothing is changed by that. The flag is kept.
     *
     * @param key of the pointer
     * @return to be closed; empty when nothing was written yet, or it was deleted
     * @throws IllegalStateException when there are several objects; see {@link #open(String, String)}
     * @throws dev.fenceline.BackendUnavailableException when the store does not answer
     * @throws dev.fenceline.BackendMisconfiguredException as {@link #readAll}
     */
    public Optional<S3Stream> open(String key) {
        return reading.take(
                requireKey(key),
                (objects, mark) -> reading.data()
                        .open(PointerReading.only(objects, store.resource(key), "readAll, or open with a name")));
    }

    /**
     * Opens one of several objects as a stream; see {@link #open(String)}.
     *
     * <p><b>Not guaranteed:</b> that two calls see the same write. {@link #readAll} takes all objects of one.
     *
     * @param key of the pointer
     * @param name of the object
     * @return to be closed; empty when there is no object of this name
     * @throws dev.fenceline.BackendUnavailableException when the store does not answer
     * @throws dev.fenceline.BackendMisconfiguredException as {@link #readAll}
     */
    public Optional<S3Stream> open(String key, String name) {
        Objects.requireNonNull(name, "The name of the object is null.");
        return reading.<Optional<S3Stream>>take(requireKey(key), (objects, mark) -> {
                    for (DataObject object : objects) {
                        if (object.name().equals(name)) {
                            return Optional.of(reading.data().open(object));
                        }
                    }
                    return Optional.empty();
                })
                .flatMap(found -> found);
    }

    /**
     * Tells where the data lies, for presigned reads: the data under one of these keys never changes. A clean-up may remove it as soon as it
     * is replaced, a newer holder has claimed, and it is as old as the grace age; see {@link #remove} for how to spare links for longer.
     *
     * @param key of the pointer
     * @return the objects; empty when nothing was written yet, or it was deleted
     * @throws dev.fenceline.BackendUnavailableException when the store does not answer
     * @throws dev.fenceline.BackendMisconfiguredException when the key holds something else, or a right is missing
     */
    public List<DataObject> locate(String key) {
        return reading.reading()
                .look(requireKey(key))
                .map(version -> version.document().payload())
                .orElseGet(List::of);
    }

    /**
     * Lists what {@link #cleanUp} would remove now.
     *
     * @param key of the pointer
     * @param grace how old data must be, from when it was written, zero or more
     * @return data that no pointer can name any more
     * @throws IllegalArgumentException when the grace age is negative
     */
    public List<Garbage> unreferenced(String key, Duration grace) {
        return new CleanUp(reading.reading()).find(requireKey(key), grace);
    }

    /**
     * Removes data that was replaced or never named, and uploads that were never finished. Needs no lock, and may run while others read
     * and write.
     *
     * <p><b>Guarantees:</b> nothing is removed that the pointer names, or that a claim which is still good can make it name: only what older
     * tokens than the pointer's have sent. So what a session replaces stays until somebody newer claims.
     *
     * <p><b>Not guaranteed:</b> that presigned reads of replaced data go on. The grace age is that of the data, as nothing tells when it was
     * replaced: what is older may go right after its replacement. {@link #read}, {@link #readAll} and {@link #open} then read the pointer again; for
     * presigned links see {@link #remove}.
     *
     * <p><b>Interruption:</b> ends it, with {@link dev.fenceline.BackendUnavailableException} before anything was removed, or with what is left in
     * {@link Cleaned#kept()}; the flag is kept. The next clean-up does the rest.
     *
     * <p><b>Errors:</b> what the store does not let go is in the result. Those of {@link #readAll} when the pointer cannot be read or the
     * data not be listed.
     *
     * @param key of the pointer
     * @param grace how old data must be, from when it was written, zero or more; by the store's clock
     * @return what was removed and what not
     * @throws IllegalArgumentException when the grace age is negative
     */
    public Cleaned cleanUp(String key, Duration grace) {
        return remove(unreferenced(key, grace));
    }

    /**
     * Removes what {@link #unreferenced} has found earlier. For those who hand out presigned links: find, wait for as long as links live, then remove
     * what was found. No link to that is good any more, as it had been replaced before it was found.
     *
     * <p><b>Guarantees:</b> as {@link #cleanUp}: what was out of reach stays out of reach.
     *
     * <p><b>Interruption:</b> what is left is in {@link Cleaned#kept()}; the flag is kept.
     *
     * @param found by {@link #unreferenced}, in this bucket; made up, it removes what is in use
     * @return what was removed and what not
     */
    public Cleaned remove(List<Garbage> found) {
        return new CleanUp(reading.reading()).remove(found);
    }
}
