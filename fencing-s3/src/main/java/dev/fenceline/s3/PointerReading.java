package dev.fenceline.s3;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencingToken;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Reads a pointer, and then what it names. Data that is gone was removed after the pointer had changed, so the pointer is read again.
 *
 * @param reading of the pointer
 * @param data where it leads
 */
record PointerReading(Reading<List<DataObject>> reading, DataStore data) {

    private static final int TRIES = 10;

    /** Takes what a pointer names. */
    @FunctionalInterface
    interface Taking<T> {
        T from(List<DataObject> objects, FencingToken mark) throws DataGone;
    }

    Map<String, S3Content> all(String key) {
        return take(key, this::contents).orElseGet(Map::of);
    }

    Map<String, S3Content> contents(List<DataObject> objects, FencingToken mark) throws DataGone {
        Map<String, S3Content> contents = new LinkedHashMap<>();
        for (DataObject object : objects) {
            contents.put(object.name(), data.read(object, mark));
        }
        return Map.copyOf(contents);
    }

    /** Returns empty when there is no data. */
    <T> Optional<T> take(String key, Taking<T> taking) {
        Optional<UUID> before = Optional.empty();
        for (int i = 0; i < TRIES; i++) {
            Optional<Version<List<DataObject>>> version = reading.look(key);
            if (version.isEmpty() || version.get().document().header().state() == Header.State.NONE) {
                return Optional.empty();
            }
            Document<List<DataObject>> pointer = version.get().document();
            try {
                return Optional.of(taking.from(pointer.payload(), pointer.token()));
            } catch (DataGone e) {
                UUID now = pointer.header().writeId();
                if (before.isPresent() && before.get().equals(now)) {
                    throw missing(key, e);
                }
                before = Optional.of(now);
            }
        }
        throw new BackendUnavailableException(
                "Read on " + data.store().resource(key) + " gave up: " + TRIES
                        + " times in a row the data was removed before it could be read. Clean up with a longer grace age.",
                null);
    }

    BackendMisconfiguredException missing(String key, DataGone gone) {
        return new BackendMisconfiguredException(
                "Read on " + data.store().resource(key) + " failed: the data that it names, '" + gone.getMessage()
                        + "', is missing. Something else than Fenceline removed it; look for lifecycle rules that match '"
                        + DataStore.folder(key) + "'.",
                gone);
    }

    /** The one object that there is. */
    static DataObject only(List<DataObject> objects, String resource, String instead) {
        requireOne("Read", objects, resource, instead);
        return objects.get(0);
    }

    /** Names what takes several. */
    static void requireOne(String step, List<DataObject> objects, String resource, String instead) {
        if (objects.size() != 1) {
            throw new IllegalStateException(step + " on " + resource + " refused: it has " + objects.size()
                    + " objects, and which one is meant is not said; use " + instead + ".");
        }
    }
}
