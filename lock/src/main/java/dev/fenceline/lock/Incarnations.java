package dev.fenceline.lock;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Which incarnation of the server this client has seen, and since when by the server's clock. One for all connections to a
 * server: {@code seen} stays true when an incarnation is met again, as nothing was issued by another since then.
 */
final class Incarnations {

    /** An incarnation and the server times at which INFO named it: at first, and last on one connection. */
    record Sighting(String incarnation, long seen, long checked, String words) {

        /** Equals no boot key, so the script asks INFO. */
        static final Sighting NONE = new Sighting("", 0, 0);

        /** With the words in which scripts are told of it, made once: they are part of every request. */
        Sighting(String incarnation, long seen, long checked) {
            this(
                    incarnation,
                    seen,
                    checked,
                    "1|" + (incarnation.isEmpty() ? "|" : incarnation) + "|" + checked + "|" + seen + "|");
        }
    }

    /** Whether {@code seen} is sent, and whether anything is. */
    enum Knowledge {
        /** One server, or the one of several that is the master: an incarnation that is left does not come back. */
        SEEN_AND_CHECKED,
        /** A slot of a Cluster that moves there and back finds an old incarnation again: when it was seen says nothing. */
        CHECKED,
        /** What was learnt of one server may be sent to another. */
        NONE
    }

    private final Knowledge knowledge;

    private record Known(String incarnation, long seen) {}

    private final AtomicReference<@Nullable Known> known = new AtomicReference<>();

    Incarnations(Knowledge knowledge) {
        this.knowledge = knowledge;
    }

    /** A connection's own view. It begins with nothing, since it may have reached another node than the last one. */
    Connection newConnection() {
        return new Connection();
    }

    final class Connection {

        private volatile Sighting last = Sighting.NONE;

        Sighting last() {
            return last;
        }

        /** Notes what INFO said at a server time; returns the incarnation if it took the place of another. */
        Optional<String> note(String incarnation, long time) {
            Known before = known.get();
            if (before != null && before.incarnation().equals(incarnation)) {
                last = told(incarnation, before.seen(), time);
                return Optional.empty();
            }
            last = told(incarnation, time, time);
            boolean first = known.compareAndSet(before, new Known(incarnation, time));
            return first && before != null ? Optional.of(incarnation) : Optional.empty();
        }

        private Sighting told(String incarnation, long seen, long checked) {
            return switch (knowledge) {
                case SEEN_AND_CHECKED -> new Sighting(incarnation, seen, checked);
                case CHECKED -> new Sighting(incarnation, 0, checked);
                case NONE -> Sighting.NONE;
            };
        }
    }
}
