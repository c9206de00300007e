package dev.fenceline.s3;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.UnaryOperator;

/**
 * A claim of an object of any size, or of several that change together; see {@link ObjectClaim}. The data is sent first, under a key that
 * nobody else writes, and then the pointer is changed to it in one step; a reader sees all of a write or nothing of it.
 */
public final class PointerClaim extends ObjectClaim {

    /** What an object is called that was written without a name. */
    static final String UNNAMED = "body";

    private static final int MAX_NAME = 512;
    private static final int MAX_OBJECTS = 1_000;

    private final Session<List<DataObject>> session;
    private final DataStore data;
    private final PointerReading reading;

    PointerClaim(Session<List<DataObject>> session, PointerReading reading) {
        this.session = session;
        this.data = reading.data();
        this.reading = reading;
    }

    @Override
    Session<List<DataObject>> session() {
        return session;
    }

    @Override
    public Optional<S3Content> read() {
        return session.read(seen -> single("Read", seen.document(), "readAll"));
    }

    private Optional<S3Content> single(String step, Document<List<DataObject>> pointer, String ofSeveral) {
        if (pointer.payload().isEmpty()) {
            return Optional.empty();
        }
        PointerReading.requireOne(step, pointer.payload(), session.resource(), ofSeveral);
        return contents(pointer).values().stream().findFirst();
    }

    /**
     * Reads all objects, as they were after one write, and that the mark is still ours. What is written next is based on this.
     *
     * @return by name; empty when nothing was written yet, or it was deleted
     */
    public Map<String, S3Content> readAll() {
        return session.read(seen -> contents(seen.document()));
    }

    /** Data that is gone was replaced, so there is somebody who has done so: newer than us, or of the same claim. */
    private Map<String, S3Content> contents(Document<List<DataObject>> pointer) {
        try {
            return reading.contents(pointer.payload(), pointer.token());
        } catch (DataGone e) {
            UUID now = session.look("Read").document().header().writeId();
            if (now.equals(pointer.header().writeId())) {
                throw reading.missing(session.key(), e);
            }
            throw Refusals.overtakenByOwnClaim("Read", session.resource(), session.token(), null);
        }
    }

    @Override
    public void write(S3Body body) {
        write(Map.of(UNNAMED, given(body)));
    }

    /**
     * Writes several objects at once, in place of all that were seen last.
     *
     * @param bodies by name, 1 to 1,000; these are all that there are from now on
     * @throws IllegalArgumentException when there are none or too many, or a name is empty or longer than 512 characters; nothing was sent
     */
    public void write(Map<String, S3Body> bodies) {
        Map<String, S3Body> checked = checked(bodies);
        if (checked.isEmpty()) {
            throw new IllegalArgumentException("Write on " + session.resource()
                    + " refused: there is no object to write. To leave nothing, use delete().");
        }
        replace(objects -> send(checked));
    }

    /**
     * Writes and removes several objects at once; the others stay.
     *
     * @param put by name, what is new or replaced
     * @param remove names; no matter whether they are there
     * @throws IllegalArgumentException when a name is put and removed, or as {@link #write(Map)}; nothing was sent
     */
    public void change(Map<String, S3Body> put, Set<String> remove) {
        Map<String, S3Body> checked = checked(put);
        remove.stream().filter(put::containsKey).findFirst().ifPresent(name -> {
            throw new IllegalArgumentException("Change of " + session.resource() + " refused: '" + name
                    + "' is both put and removed. Nothing was sent.");
        });
        replace(objects -> {
            Map<String, DataObject> all = new TreeMap<>();
            objects.forEach(object -> all.put(object.name(), object));
            remove.forEach(all::remove);
            send(checked).forEach(object -> all.put(object.name(), object));
            return List.copyOf(all.values());
        });
    }

    private void replace(UnaryOperator<List<DataObject>> change) {
        session.write("Write", document -> next(document, change.apply(document.payload())));
    }

    private Document<List<DataObject>> next(Document<List<DataObject>> document, List<DataObject> objects) {
        if (objects.size() > MAX_OBJECTS) {
            throw new IllegalArgumentException("Write on " + session.resource() + " refused: there would be "
                    + objects.size() + " objects, and at most " + MAX_OBJECTS
                    + " change together. Nothing was written.");
        }
        Document<List<DataObject>> next = objects.isEmpty()
                ? document.deleted(objects, Formats.POINTER.attributes())
                : document.written(objects, document.attributes());
        if (Formats.POINTER.encode(next).length > PointerFormat.MAX_DOCUMENT) {
            throw new IllegalArgumentException("Write on " + session.resource()
                    + " refused: the pointer would have more than " + PointerFormat.MAX_DOCUMENT
                    + " bytes. Nothing was written that anybody sees; take shorter names.");
        }
        return next;
    }

    private List<DataObject> send(Map<String, S3Body> bodies) {
        return bodies.entrySet().stream()
                .map(entry -> data.send(session.key(), session.token(), entry.getKey(), entry.getValue()))
                .toList();
    }

    @Override
    public <X extends Exception> void update(S3Change<X> change) throws X {
        Thrown.<X>carrying(carrier -> session.update("Write", document -> {
            Optional<S3Content> content = single("Update", document, "readAll and then change");
            String name = document.payload().stream()
                    .map(DataObject::name)
                    .findFirst()
                    .orElse(UNNAMED);
            S3Body body = computed(carrier.call(() -> change.of(content)));
            return next(document, send(Map.of(name, body)));
        }));
    }

    @Override
    public void delete() {
        session.write("Deletion", document -> next(document, List.of()));
    }

    private Map<String, S3Body> checked(Map<String, S3Body> bodies) {
        if (bodies.size() > MAX_OBJECTS) {
            throw new IllegalArgumentException("Write on " + session.resource() + " refused: " + bodies.size()
                    + " objects are given, and at most " + MAX_OBJECTS + " change together. Nothing was sent.");
        }
        for (String name : bodies.keySet()) {
            if (name.isEmpty() || name.length() > MAX_NAME) {
                throw new IllegalArgumentException("Write on " + session.resource() + " refused: a name has "
                        + name.length() + " characters; it has 1 to " + MAX_NAME + ". Nothing was sent.");
            }
        }
        return new LinkedHashMap<>(new TreeMap<>(bodies));
    }
}
