package dev.fenceline.jdbc;

import dev.fenceline.FencelineException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Each statement is a transaction of its own, on a connection of the data source. */
final class RowAutoCommit<C> extends RowWriter<C> {

    private static final int MOST_LOOKS = 20;
    private static final String STEP = "Reading";

    RowAutoCommit(RowEngine<C> engine, RowSession session) {
        super(engine, session);
    }

    @Override
    void send(RowForm form, ColumnValues values) throws StatementFailed {
        Duration wait = session().admission() == Admission.RAISING
                ? engine().claimTimeout(session())
                : session().patience();
        RowRights rights = RowRights.toWrite(
                form, engine().table(), values.columns(), session().admission());
        new RowSend<>(engine(), form, List.of(session()), rights, wait)
                .run((sql, operation) ->
                        sql.write(form, target(), values, session().admission(), operation));
    }

    @Override
    <R> Optional<R> read(RowRunner.Reading<C, R> reading) throws StatementFailed {
        session().refuseIfOvertaken(STEP);
        try (Session<C> open = engine().open(STEP, target())) {
            Connection connection = open.connection();
            try {
                RowSql sql = engine().prepare(open, session().patience());
                for (int looks = 0; looks < MOST_LOOKS; looks++) {
                    Optional<R> row = reading.read(open.context(), sql.read(target()));
                    if (row.isPresent()) {
                        session().acknowledged();
                        return row;
                    }
                    RowMark mark = RowMark.read(connection, engine().plain(connection), List.of(target()))
                            .get(0);
                    if (isFencedAbsence(mark)) {
                        session().acknowledged();
                        return Optional.empty();
                    }
                }
                throw RowRefusals.conflict(
                        STEP, target(), "the row came and went " + MOST_LOOKS + " times while it was looked for", null);
            } catch (SQLException e) {
                throw engine().aside(STEP, target(), e, connection);
            } catch (StatementFailed failed) {
                throw refusal(failed, connection);
            }
        }
    }

    /** Returns false when the row is there after all, and throws when the mark is not ours. */
    private boolean isFencedAbsence(RowMark mark) {
        Optional<FencelineException> stale = RowVerdict.stale(STEP, session(), mark, null);
        if (stale.isPresent()) {
            throw stale.get();
        }
        if (mark.of(target().token()) != Mark.Standing.MINE) {
            throw RowRefusals.notClaimed(target(), mark, null);
        }
        return !mark.exists();
    }

    private FencelineException refusal(StatementFailed failed, Connection connection) throws StatementFailed {
        SQLException said = failed.said();
        if (SqlFailure.isConnectionLost(said, connection)) {
            return RowEngine.lost(STEP, target(), said);
        }
        if (SqlFailure.isRetryable(said)) {
            return RowRefusals.conflict(STEP, target(), SqlFailure.text(said), said);
        }
        engine().explain(RowRights.toRead(STEP), STEP, target(), said, connection);
        throw failed;
    }
}
