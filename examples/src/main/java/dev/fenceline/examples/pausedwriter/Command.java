package dev.fenceline.examples.pausedwriter;

import java.util.ArrayList;
import java.util.List;

/** The lines that the conductor sends to a writer. */
enum Command {
    /** Book your part of the bulk: mode, half. */
    BULK,
    /** Acquire, read, and wait at the barrier: mode, scene, movement. */
    BEGIN,
    /** Leave the barrier and write. */
    WRITE,
    /** Make the daily statement, unless another instance does. */
    STATEMENT,
    /** Leave the barrier in the middle of the statement. */
    FINISH;

    String line(Object... fields) {
        List<Object> all = new ArrayList<>(List.of(name()));
        all.addAll(List.of(fields));
        return Fields.join(all.toArray());
    }
}
