package dev.fenceline.jdbc;

import dev.fenceline.UnfencedWriteException;
import java.sql.Connection;
import java.sql.SQLException;
import org.postgresql.core.TransactionState;

/**
 * What was left open on a connection between two of its transactions: questions that the driver asks by itself, or what was done with
 * an unwrapped object that was kept. None of it is ever committed with a transaction of ours.
 */
final class StrayWork {

    private final Connection raw;
    private final String resource;
    private boolean unwrapped;

    StrayWork(Connection raw, String resource) {
        this.raw = raw;
        this.resource = resource;
    }

    /** Somebody may hold the driver's own object from now on. */
    void unwrapped() {
        unwrapped = true;
    }

    /**
     * Rolls it back.
     *
     * @throws UnfencedWriteException when it may be more than the driver's questions
     */
    void remove() throws SQLException {
        boolean commitsByItself = unwrapped && Session.commitsByItself(raw);
        if (commitsByItself) {
            raw.setAutoCommit(false);
        } else if (Session.transactionState(raw) == TransactionState.IDLE) {
            return;
        } else {
            raw.rollback();
        }
        if (unwrapped) {
            throw new UnfencedWriteException(
                    "Transaction in a unit on " + resource
                            + " refused: a connection was used through an unwrapped object between two transactions"
                            + (commitsByItself
                                    ? ", and put into auto-commit mode; what was written so may be committed without the fence."
                                    : "; what was done so is rolled back.")
                            + " Use it inside of a transaction only.",
                    null);
        }
    }
}
