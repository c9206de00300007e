package dev.fenceline.examples.pausedwriter;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.List;

/**
 * What one process saw, a line per event. Each process has a file of its own and writes every event through at once, so
 * that nothing is missing from it when the process is stopped or killed.
 *
 * <p><b>Thread-safety:</b> one thread.
 */
final class EventFile {

    private final Path path;
    private final String actor;

    private EventFile(Path path, String actor) {
        this.path = path;
        this.actor = actor;
    }

    static EventFile in(Path directory, String actor) {
        return new EventFile(directory.resolve("events-" + actor + ".tsv"), actor);
    }

    /** Forgets what an earlier demo saw. */
    void clear() {
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Event add(Mode mode, Scene scene, Event.Kind kind, long token, String text) {
        Event event = new Event(Instant.now(), actor, mode, scene, kind, token, text);
        try {
            Files.writeString(path, event.line() + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return event;
    }

    List<Event> events() {
        if (!Files.exists(path)) {
            return List.of();
        }
        try (var lines = Files.lines(path)) {
            return lines.map(Event::parse).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
