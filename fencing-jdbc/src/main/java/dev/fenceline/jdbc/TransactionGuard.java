package dev.fenceline.jdbc;

import dev.fenceline.UnfencedWriteException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What happened on the connection of one fenced transaction, as far as it decides about the commit.
 *
 * <p>Problem: to commit a transaction in which a statement failed succeeds quietly, in the driver too, although everything is
 * rolled back. So whatever failed is kept here, and only a rollback to a savepoint that is older than the failure forgives it.
 */
final class TransactionGuard {

    private enum Phase {
        /** The connection is on its way to the fence; whoever customises it may do as it likes. */
        OPENING,
        /** The work runs. */
        ACTIVE,
        /** The work has ended, and the library that lent the connection takes it back. */
        RETURNING,
        /** The connection may belong to somebody else by now. */
        ENDED
    }

    private record Failure(SQLException exception, long at) {}

    private record Mark(
            @Nullable Savepoint savepoint, @Nullable String name, long at) {}

    private final String resource;
    private final List<Failure> failures = new ArrayList<>();
    private final List<SQLException> seen = new ArrayList<>();
    private final List<Mark> marks = new ArrayList<>();
    private Phase phase = Phase.OPENING;
    private long clock;
    private @Nullable UnfencedWriteException refusal;
    private @Nullable SQLException lost;
    private @Nullable Connection watched;
    private boolean endingSent;
    private boolean unwrapped;

    TransactionGuard(String resource) {
        this.resource = resource;
    }

    synchronized void watch(Connection connection) {
        watched = connection;
    }

    synchronized void begin() {
        phase = Phase.ACTIVE;
    }

    synchronized void end() {
        phase = Phase.ENDED;
    }

    synchronized void returning() {
        phase = Phase.RETURNING;
    }

    synchronized boolean isActive() {
        return phase == Phase.ACTIVE;
    }

    synchronized boolean hasEnded() {
        return phase == Phase.ENDED;
    }

    UnfencedWriteException afterEnd() {
        return new UnfencedWriteException(
                "Use of a connection on " + resource
                        + " refused: the fenced transaction that it belonged to has ended, and"
                        + " nothing protects a write any more. Keep the connection inside the work.",
                null);
    }

    /** Always the first attempt: libraries try to restore auto-commit when their commit failed, and would hide it. */
    synchronized UnfencedWriteException refuse(String command) {
        if (refusal == null) {
            refusal = new UnfencedWriteException(
                    command + " in a fenced transaction on " + resource
                            + " refused before it was sent: what followed would"
                            + " be written without the fence. The transaction is rolled back. Return from the work to"
                            + " commit, throw to roll back, or use a savepoint.",
                    null);
        }
        return refusal;
    }

    void check(String sql) {
        Optional<String> ending = TransactionControl.ending(sql);
        if (ending.isPresent() && isActive()) {
            throw refuse("The statement " + ending.get());
        }
        if (TransactionControl.endsLater(sql)) {
            synchronized (this) {
                endingSent = true;
            }
        }
    }

    /** Somebody holds the driver's own connection, and what is done with that is not seen here. */
    synchronized void unwrapped() {
        unwrapped = true;
    }

    /** Tells whether a string of several statements was sent that ends the transaction, if it got that far. */
    synchronized boolean mayBeEndedByText() {
        return endingSent;
    }

    /** Tells whether it cannot be ruled out, from here, that the work ended the transaction. */
    synchronized boolean mayBeEnded() {
        return endingSent || unwrapped;
    }

    synchronized void failed(SQLException exception) {
        if (phase != Phase.ACTIVE || exception instanceof SQLFeatureNotSupportedException) {
            // The latter is the driver's own and reached no server; frameworks probe for features.
            return;
        }
        seen.add(exception);
        failures.add(new Failure(exception, ++clock));
        if (lost == null && watched != null && SqlFailure.isConnectionLost(exception, watched)) {
            lost = exception;
        }
    }

    synchronized void executed(String sql) {
        TransactionControl.savepoint(sql).ifPresent(name -> marks.add(new Mark(null, name, ++clock)));
        TransactionControl.rollbackTo(sql).ifPresent(name -> forgive(lastMark(null, name)));
    }

    synchronized void savepointSet(Savepoint savepoint, @Nullable String name) {
        marks.add(new Mark(savepoint, name, ++clock));
    }

    synchronized void rolledBackTo(Savepoint savepoint) {
        forgive(lastMark(savepoint, null));
    }

    private Optional<Mark> lastMark(@Nullable Savepoint savepoint, @Nullable String name) {
        for (int i = marks.size() - 1; i >= 0; i--) {
            Mark mark = marks.get(i);
            if (savepoint != null ? mark.savepoint == savepoint : name != null && name.equals(mark.name)) {
                return Optional.of(mark);
            }
        }
        return Optional.empty();
    }

    private void forgive(Optional<Mark> mark) {
        mark.ifPresent(since -> failures.removeIf(failure -> failure.at > since.at));
    }

    /** The first attempt to end the transaction from within. */
    synchronized Optional<UnfencedWriteException> refusal() {
        return Optional.ofNullable(refusal);
    }

    /** The first failure that no savepoint undid. */
    synchronized Optional<SQLException> failure() {
        return failures.stream().findFirst().map(Failure::exception);
    }

    /** What the driver said when the session was lost. */
    synchronized Optional<SQLException> lost() {
        return Optional.ofNullable(lost);
    }

    /** Tells whether an exception is the very one that our connection threw, and not another connection's. */
    synchronized boolean threw(SQLException exception) {
        return seen.stream().anyMatch(known -> known == exception);
    }
}
