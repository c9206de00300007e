package dev.fenceline.jdbc;

import dev.fenceline.LockName;
import dev.fenceline.UnfencedWriteException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.postgresql.core.TransactionState;

/**
 * The connections that each thread has taken outside of units, and not closed yet. A unit that is opened while one of them is in a
 * transaction would work on what that has read before the claim.
 */
final class PassedConnections {

    private record Passed(Object origin, Connection connection, boolean commitsByItself) {

        /**
         * In auto-commit mode nothing is kept. Where a pool has it off from the beginning, nothing was read before a statement was
         * sent; the driver knows without asking. Whoever turned it off is about to.
         */
        boolean isInTransaction() {
            try {
                return !connection.getAutoCommit()
                        && (commitsByItself || Session.transactionState(connection) != TransactionState.IDLE);
            } catch (SQLException closedMeanwhile) {
                return false;
            }
        }
    }

    // Closed by any thread, and so concurrent; null where a thread has none.
    private static final ThreadLocal<@Nullable Map<PassedConnection, Passed>> TAKEN = new ThreadLocal<>();

    private PassedConnections() {}

    /** Hands a connection out as it is, but for calls from within a unit. */
    static Connection pass(Object origin, Connection opened) throws SQLException {
        Map<PassedConnection, Passed> taken = TAKEN.get();
        if (taken == null) {
            taken = new ConcurrentHashMap<>();
            TAKEN.set(taken);
        }
        Map<PassedConnection, Passed> takenBy = taken;
        PassedConnection passed = new PassedConnection(origin, opened, closed -> {
            takenBy.remove(closed);
            if (takenBy.isEmpty() && TAKEN.get() == takenBy) {
                TAKEN.remove();
            }
        });
        taken.put(passed, new Passed(origin, opened, opened.getAutoCommit()));
        return passed.shown();
    }

    /**
     * Tells whether this thread has nothing in a transaction.
     *
     * @throws UnfencedWriteException when it has
     */
    static void requireNoTransaction(Object origin, List<LockName> locks) {
        Map<PassedConnection, Passed> taken = TAKEN.get();
        if (taken == null) {
            return;
        }
        taken.values().removeIf(passed -> isClosed(passed.connection()));
        boolean inTransaction =
                taken.values().stream().anyMatch(passed -> passed.origin() == origin && passed.isInTransaction());
        if (inTransaction) {
            throw new UnfencedWriteException(
                    "Unit of " + OpenUnits.names(locks)
                            + " refused: this thread has a connection of the fence's data source in a transaction already"
                            + " (auto-commit is off), and what that has read may be older than the claim. Nothing was"
                            + " acquired. Open the unit outside of the transaction: around the @Transactional method, not inside"
                            + " of it.",
                    null);
        }
    }

    private static boolean isClosed(Connection connection) {
        try {
            return connection.isClosed();
        } catch (SQLException gone) {
            return true;
        }
    }
}
