package dev.fenceline.examples.pausedwriter;

import java.time.Instant;
import java.util.List;

/**
 * Something that a process saw or did and that leaves no row in the database.
 *
 * @param at by this machine's clock, which Redis and PostgreSQL read too
 * @param actor who: writer A, writer B, or the conductor
 * @param mode in which run
 * @param scene in which part of it
 * @param kind what
 * @param token under which token, 0 where none is involved
 * @param text more, for people
 */
record Event(Instant at, String actor, Mode mode, Scene scene, Kind kind, long token, String text) {

    static final String CONDUCTOR = "conductor";

    enum Kind {
        /** Redis granted the lock. */
        GRANTED,
        /** The writer read the balance. */
        READ,
        /** The conductor stopped the writer; the process table says T. */
        STOPPED,
        /** The key of the lock is gone from Redis. */
        LEASE_ENDED,
        /** PostgreSQL has ended the transaction that the stopped writer had left open. */
        TRANSACTION_ENDED,
        /** The conductor let the writer go on. */
        CONTINUED,
        /** A write was refused. */
        REFUSED,
        /** The writer gave the lock back. */
        RELEASED
    }

    String line() {
        return Fields.join(at, actor, mode, scene, kind, token, text);
    }

    static Event parse(String line) {
        List<String> fields = Fields.split(line);
        if (fields.size() != 7) {
            throw new IllegalArgumentException("Not a line of an event file: " + line);
        }
        return new Event(
                Instant.parse(fields.get(0)),
                fields.get(1),
                Mode.valueOf(fields.get(2)),
                Scene.valueOf(fields.get(3)),
                Kind.valueOf(fields.get(4)),
                Long.parseLong(fields.get(5)),
                fields.get(6));
    }
}
