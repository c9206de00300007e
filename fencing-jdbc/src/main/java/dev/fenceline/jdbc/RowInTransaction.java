package dev.fenceline.jdbc;

import dev.fenceline.FencelineEvent.WriteEnded;
import dev.fenceline.FencelineException;
import dev.fenceline.StaleTokenException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Statements are part of a transaction of the user's, and take effect when that commits.
 *
 * <p>Problem: it may be committed although one of them was refused. So a refusal as stale makes it one that cannot commit. A row that
 * is missing does not: what follows from that is the user's to decide.
 */
final class RowInTransaction<C> extends RowWriter<C> {

    private static final String STEP = "Reading";

    private final C context;

    RowInTransaction(RowEngine<C> engine, RowSession session, C context) {
        super(engine, session);
        this.context = context;
    }

    @Override
    void send(RowForm form, ColumnValues values) throws StatementFailed {
        long begun = System.nanoTime();
        try {
            session().refuseIfOvertaken(form.step());
            Connection connection = transaction(form.step());
            RowSql sql = within(form.step(), connection);
            long count;
            try {
                count = engine().runner()
                        .write(
                                context,
                                sql.write(form, target(), values, session().admission(), Optional.empty()));
            } catch (StatementFailed failed) {
                if (form == RowForm.INSERT
                        && SqlFailure.has(failed.said(), RowRefusals.DUPLICATE)
                        && isOfKey(failed.said(), connection)) {
                    throw RowRefusals.exists(target(), "and the transaction has failed", failed.said());
                }
                RowRights rights = RowRights.toWrite(form, engine().table(), values.columns(), Admission.EQUAL);
                throw refusal(form.step(), rights, connection, failed);
            }
            if (count < 0) {
                throw RowRefusals.uncounted(form.step(), target(), count);
            }
            if (count == 0) {
                throw refused(connection, wroteNothing(form, connection));
            }
        } catch (FencelineException e) {
            // Success is not told: only the user's own commit decides about it.
            Duration took = Duration.ofNanos(System.nanoTime() - begun);
            engine().settings()
                    .listener()
                    .tell(new WriteEnded(target().resource(), target().token(), RowSend.outcome(e), took));
            throw e;
        }
    }

    private FencelineException wroteNothing(RowForm form, Connection connection) throws StatementFailed {
        RowMark mark = mark(form.step(), connection);
        Optional<FencelineException> conflict = ofSnapshot(form.step(), mark, connection);
        return conflict.orElseGet(() -> RowVerdict.of(form, List.of(session()), List.of(mark), null));
    }

    /** Whoever looks at an old snapshot does not see that the row is claimed, or that another transaction of this claim made it. */
    private Optional<FencelineException> ofSnapshot(String step, RowMark mark, Connection connection)
            throws StatementFailed {
        boolean mine = mark.of(target().token()) == Mark.Standing.MINE;
        if (mark.overtakenBy(target().token()).isPresent() || (mine && mark.exists())) {
            return Optional.empty();
        }
        // Before the server is asked: a pause in between makes the transaction seem older, which costs one more run at
        // most.
        Duration acknowledged = session().sinceAcknowledged();
        RowSnapshot snapshot = snapshot(step, connection);
        if (!mine) {
            if (!snapshot.mayPrecede(acknowledged)) {
                return Optional.empty();
            }
            FencelineException conflict = RowRefusals.olderSnapshot(step, target(), snapshot, mark);
            fail(connection, conflict, mark.ruling().toString());
            return Optional.of(conflict);
        }
        if (snapshot.lasts()) {
            try {
                // Whoever makes the row moves the guard too: the server refuses to lock a version that is not the
                // newest.
                lockGuard(connection);
            } catch (StatementFailed failed) {
                throw refusal(step, RowRights.toRead(step), connection, failed);
            }
        }
        return Optional.empty();
    }

    @Override
    <R> Optional<R> read(RowRunner.Reading<C, R> reading) throws StatementFailed {
        session().refuseIfOvertaken(STEP);
        Connection connection = transaction(STEP);
        RowSql sql = within(STEP, connection);
        try {
            Optional<R> row = reading.read(context, sql.lock(target()));
            if (row.isEmpty()) {
                // There is no row to lock, and another transaction of this claim may be about to make it: under the
                // guard's lock.
                lockGuard(connection);
                row = reading.read(context, sql.lock(target()));
            }
            if (row.isPresent()) {
                return row;
            }
        } catch (StatementFailed failed) {
            throw refusal(STEP, RowRights.toClaim(STEP), connection, failed);
        }
        RowMark mark = mark(STEP, connection);
        Optional<FencelineException> stale = RowVerdict.stale(STEP, session(), mark, null);
        if (stale.isPresent()) {
            throw refused(connection, stale.get());
        }
        Optional<FencelineException> conflict = ofSnapshot(STEP, mark, connection);
        if (conflict.isPresent()) {
            throw conflict.get();
        }
        if (mark.exists() || mark.of(target().token()) != Mark.Standing.MINE) {
            throw refused(connection, RowRefusals.notClaimed(target(), mark, null));
        }
        return Optional.empty();
    }

    private void lockGuard(Connection connection) throws StatementFailed {
        try (PreparedStatement lock =
                JdbcRunner.prepare(connection, engine().plain(connection).lockGuard(target().token()))) {
            lock.execute();
        } catch (SQLException e) {
            throw new StatementFailed(e, e);
        }
    }

    private Connection transaction(String step) {
        Connection connection = engine().runner().connection(context);
        try {
            if (connection.getAutoCommit()) {
                throw new IllegalStateException(step + " of " + target().resource()
                        + " refused: the connection is in auto-commit, where each statement is a transaction of its own."
                        + " Nothing was sent; begin a transaction, or leave out in(...).");
            }
            if (!GuardedConnection.isGuarded(connection) && Session.rollsBackEachFailure(connection)) {
                throw new IllegalStateException(step + " of " + target().resource()
                        + " refused: the driver's autosave=always rolls back each statement that fails alone, so a transaction"
                        + " in which this is refused could be committed. Nothing was sent; set autosave=never.");
            }
            return connection;
        } catch (SQLException e) {
            throw engine().aside(step, target(), e, connection);
        }
    }

    private RowSql within(String step, Connection connection) {
        try {
            return engine().within(connection);
        } catch (SQLException e) {
            throw engine().aside(step, target(), e, connection);
        }
    }

    /** As this transaction sees it, which is how the statement saw it: READ COMMITTED looks anew, and a snapshot is the same one. */
    private RowMark mark(String step, Connection connection) {
        try {
            return RowMark.read(connection, engine().plain(connection), List.of(target()))
                    .get(0);
        } catch (SQLException e) {
            throw engine().aside(step, target(), e, connection);
        }
    }

    private RowSnapshot snapshot(String step, Connection connection) {
        try {
            return RowSnapshot.of(connection);
        } catch (SQLException e) {
            throw engine().aside(step, target(), e, connection);
        }
    }

    /** What is based on a refused state must not be committed; only a failed transaction is sure not to be. */
    private FencelineException refused(Connection connection, FencelineException verdict) {
        if (verdict instanceof StaleTokenException stale) {
            fail(connection, stale, stale.newest().toString());
        }
        return verdict;
    }

    private void fail(Connection connection, FencelineException verdict, String mark) {
        try (PreparedStatement refuse =
                JdbcRunner.prepare(connection, engine().plain(connection).refuse(target().token(), mark))) {
            refuse.execute();
        } catch (SQLException failedAsIntended) {
            verdict.addSuppressed(failedAsIntended);
        }
    }

    private FencelineException refusal(String step, RowRights rights, Connection connection, StatementFailed failed)
            throws StatementFailed {
        SQLException said = failed.said();
        if (SqlFailure.isConnectionLost(said, connection)) {
            return RowEngine.lost(step, target(), said);
        }
        if (SqlFailure.isRetryable(said)) {
            return RowRefusals.conflictWithin(step, target(), said);
        }
        Optional<FencelineException> ofServer = RowRefusals.ofServer(step, target(), said, connection);
        if (ofServer.isPresent()) {
            return ofServer.get();
        }
        try {
            engine().requireRights(rights, said, connection);
        } catch (SQLException unanswered) {
            said.addSuppressed(unanswered);
        }
        throw failed;
    }

    private boolean isOfKey(SQLException said, Connection connection) {
        try {
            Optional<String> constraint = SqlFailure.constraint(said);
            return constraint.isPresent() && engine().isKeyIndex(connection, constraint.get());
        } catch (SQLException unanswered) {
            said.addSuppressed(unanswered);
            return false;
        }
    }
}
