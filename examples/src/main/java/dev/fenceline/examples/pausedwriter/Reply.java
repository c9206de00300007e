package dev.fenceline.examples.pausedwriter;

import java.util.ArrayList;
import java.util.List;

/** The lines that a writer answers with; each begins with one of these words. */
enum Reply {
    /** Connected. */
    READY,
    /** Has read and waits: token, balance, version. */
    AT_BARRIER,
    /** Has tried to write: {@link #ACCEPTED}, balance, base and replaced version, or {@link #REFUSED}, the SQL and the message. */
    OUTCOME,
    /** Has booked its part of the bulk: sessions, movements. */
    BULK,
    /** The daily statement: {@link #RUNNING}, {@link #SKIPPED} and who runs it, or {@link #DONE}, accounts and sum. */
    STATEMENT;

    static final String ACCEPTED = "accepted";
    static final String REFUSED = "refused";
    static final String RUNNING = "running";
    static final String SKIPPED = "skipped";
    static final String DONE = "done";

    String line(Object... fields) {
        List<Object> all = new ArrayList<>(List.of(name()));
        all.addAll(List.of(fields));
        return Fields.join(all.toArray());
    }
}
