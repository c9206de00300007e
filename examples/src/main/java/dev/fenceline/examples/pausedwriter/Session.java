package dev.fenceline.examples.pausedwriter;

import dev.fenceline.FencedLease;
import java.sql.SQLException;

/** How a writer that holds the lock reads an account and writes it: what the three runs compare. */
interface Session {

    /** The point between read and write, where the conductor may stop the writer. */
    @FunctionalInterface
    interface Barrier {

        /** Passes at once. */
        Barrier OPEN = (token, state) -> {};

        void reached(long token, AccountState state);
    }

    /**
     * Reads, passes the barrier, and writes what it computed from what it read.
     *
     * @return what was written over what
     * @throws WriteRefused when the database refused the write; nothing happened
     */
    Written book(FencedLease lease, Job job, Barrier barrier) throws SQLException;
}
