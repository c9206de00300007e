package dev.fenceline.jdbc;

import dev.fenceline.TransactionRolledBackException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.postgresql.core.TransactionState;

/**
 * The transactions that work believes to begin and to commit inside of one that is not its own. They are counted and not sent.
 *
 * <p>The invariant is that the outer transaction commits iff each inner one would have: whoever rolls one back, lets an exception out of
 * one, or forgets to commit one, has undone all of it, and the outer commit says so.
 */
final class InnerTransactions {

    private record Undone(String by, @Nullable Throwable cause) {}

    private int begun;
    private @Nullable Undone undone;

    /** What runs in an inner transaction. */
    interface Body<T, X extends Exception> {
        T run() throws X;
    }

    /** Runs a body as an inner transaction: its end commits what was begun in it, and an exception that leaves it undoes all. */
    <T, X extends Exception> T run(Body<T, X> body) throws X {
        int outer = begun();
        try {
            return body.run();
        } catch (Throwable escaped) {
            escaped(escaped);
            throw escaped;
        } finally {
            endedAt(outer);
        }
    }

    synchronized void begin() {
        begun++;
    }

    /** Without a begin it means nothing, as in Jdbi. */
    synchronized void commit() {
        if (begun > 0) {
            begun--;
        }
    }

    synchronized void rollBack() {
        commit();
        undo("an inner transaction was rolled back", null);
    }

    private synchronized void escaped(Throwable cause) {
        undo("an exception left an inner transaction (" + cause + ")", cause);
    }

    private synchronized int begun() {
        return begun;
    }

    private synchronized void endedAt(int outer) {
        begun = Math.min(begun, outer);
    }

    private void undo(String by, @Nullable Throwable cause) {
        if (undone == null) {
            undone = new Undone(by, cause);
        }
    }

    /** Throws what is to be said instead of committing. */
    synchronized void requireCommitted(Tokens tokens) {
        if (undone == null && begun > 0) {
            undo("an inner transaction was begun and never committed", null);
        }
        if (undone != null) {
            throw new TransactionRolledBackException(
                    "Unit on " + tokens.resource() + " under " + tokens + " rolled back: " + undone.by
                            + ", and a unit is one transaction. Nothing of it happened. Let what went wrong leave the unit, or set a"
                            + " savepoint before it and roll back to that.",
                    undone.cause);
        }
    }

    /**
     * Tells whether a wish for the connection is for the outer transaction to grant, and can be left out: to be read-only is a hint that may
     * not reach the writes beside it, and an isolation that is no stricter is there already.
     */
    static boolean isLeftOut(String method, List<?> arguments, Connection connection) throws SQLException {
        if (method.equals("setReadOnly")) {
            return true;
        }
        return method.equals("setTransactionIsolation")
                && Session.transactionState(connection) == TransactionState.OPEN
                && arguments.get(0) instanceof Integer level
                && level <= connection.getTransactionIsolation();
    }
}
