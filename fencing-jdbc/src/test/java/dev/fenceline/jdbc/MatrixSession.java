package dev.fenceline.jdbc;

import dev.fenceline.jdbc.MatrixCell.Operation;
import java.util.Map;
import java.util.Optional;

/**
 * One session of a cell: one token, on one connection, by one form of the fence or by a naive one. A session that is refused
 * throws what its user would see.
 */
interface MatrixSession {

    /**
     * Something that its user was told has happened.
     *
     * @param saw the state that it was based on, if it looked
     */
    record Applied(Operation operation, String writer, Optional<MatrixState> saw) {}

    /** How a transaction that was held ends. */
    enum End {
        COMMIT,
        ROLLBACK
    }

    /** What happens while a transaction is held. */
    interface Steps {
        void run() throws Exception;
    }

    /** Claims, and returns when that is committed. */
    void claim() throws Exception;

    /** Does the operation under the claim and returns when it is committed. */
    Applied perform(Operation operation, String writer) throws Exception;

    /** Does the operation under the claim and commits after something else has happened; empty when its user is told nothing. */
    Optional<Applied> performAndHold(Operation operation, String writer, Steps meanwhile) throws Exception;

    /** Claims and does the operation in one transaction, which keeps the mark locked meanwhile. */
    void claimAndHold(Operation operation, String writer, End end, Steps meanwhile) throws Exception;

    /** The ways to do an operation once more as if nobody had refused it, by name. */
    default Map<String, Steps> insist(Operation operation, String writer) throws Exception {
        return Map.of();
    }
}
