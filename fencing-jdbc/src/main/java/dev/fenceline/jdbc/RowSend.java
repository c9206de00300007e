package dev.fenceline.jdbc;

import dev.fenceline.FencelineEvent.WriteEnded;
import dev.fenceline.FencelineEvent.WriteOutcome;
import dev.fenceline.FencelineException;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.OutcomeUnknownException.Resolution;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.RowMissingException;
import dev.fenceline.StaleTokenException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Sends one statement that writes one row or several, in auto-commit, and finds out what became of it.
 *
 * <p>The invariant is that this returns normally iff the statement committed and wrote every row that it was to write. It compares
 * and writes in one step, so what it wrote was under the right mark; if it wrote nothing, nothing is left to undo and the marks are
 * looked at in a new statement, which in auto-commit sees the newest. Only where the answer was lost is anything open.
 *
 * @param <C> the connection of the library that the user has chosen
 */
final class RowSend<C> {

    /** Makes the statement. */
    interface Text {
        RowStatement of(RowSql sql, Optional<RowOperation> operation);
    }

    private final RowEngine<C> engine;
    private final RowForm form;
    private final List<RowSession> sessions;
    private final RowRights rights;
    private final RowTarget first;
    private final Duration wait;

    RowSend(RowEngine<C> engine, RowForm form, List<RowSession> sessions, RowRights rights, Duration wait) {
        this.engine = engine;
        this.form = form;
        this.sessions = sessions;
        this.rights = rights;
        this.first = sessions.get(0).target();
        this.wait = wait;
    }

    void run(Text text) throws StatementFailed {
        if (form.movesGuard()) {
            sessions.forEach(session -> OpenTransactions.requireNone(
                    engine.source(), Tokens.of(session.target().token()), form.step()));
        }
        long begun = System.nanoTime();
        WriteOutcome outcome = WriteOutcome.ROLLED_BACK;
        try {
            send(text);
            outcome = WriteOutcome.APPLIED;
        } catch (FencelineException e) {
            outcome = outcome(e);
            throw e;
        } finally {
            Duration took = Duration.ofNanos(System.nanoTime() - begun);
            for (RowSession session : sessions) {
                RowTarget target = session.target();
                engine.settings().listener().tell(new WriteEnded(target.resource(), target.token(), outcome, took));
            }
        }
    }

    static WriteOutcome outcome(FencelineException e) {
        if (e instanceof StaleTokenException) {
            return WriteOutcome.STALE;
        }
        if (e instanceof RowMissingException) {
            return WriteOutcome.MISSING;
        }
        if (e instanceof RetryableConflictException) {
            return WriteOutcome.RETRYABLE;
        }
        return e instanceof OutcomeUnknownException ? WriteOutcome.UNKNOWN : WriteOutcome.ROLLED_BACK;
    }

    private void send(Text text) throws StatementFailed {
        for (RowSession session : sessions) {
            session.refuseIfOvertaken(form.step());
            session.requireHeldToRaise();
        }
        try (Session<C> session = engine.open(form.step(), first)) {
            RowSql sql;
            Optional<RowOperation> operation;
            try {
                sql = engine.prepare(session, wait);
                operation = engine.operation(session.connection());
            } catch (SQLException e) {
                throw engine.aside(form.step(), first, e, session.connection());
            }
            long count;
            try {
                count = engine.runner().write(session.context(), text.of(sql, operation));
            } catch (StatementFailed failed) {
                if (!SqlFailure.isConnectionLost(failed.said(), session.connection())) {
                    throw refusal(session.connection(), failed);
                }
                settle(session, operation, failed.said());
                return;
            }
            judge(session.connection(), count);
        }
    }

    private void judge(Connection connection, long count) {
        if (count == 0) {
            throw RowVerdict.of(form, sessions, marks(connection), null);
        }
        if (count != sessions.size()) {
            throw RowRefusals.uncounted(form.step(), first, count);
        }
    }

    private List<RowMark> marks(Connection connection) {
        try {
            List<RowTarget> targets = sessions.stream().map(RowSession::target).toList();
            return RowMark.read(connection, engine.plain(connection), targets);
        } catch (SQLException e) {
            throw engine.aside(form.step(), first, e, connection);
        }
    }

    /** The server refused the statement, and the session goes on. */
    private FencelineException refusal(Connection connection, StatementFailed failed) throws StatementFailed {
        SQLException said = failed.said();
        Optional<FencelineException> ofServer = RowRefusals.ofServer(form.step(), first, said, connection);
        if (ofServer.isPresent()) {
            return ofServer.get();
        }
        if (SqlFailure.has(said, SqlFailure.NOT_THE_MARK)) {
            return RowVerdict.of(form, sessions, marks(connection), said);
        }
        if (SqlFailure.isRetryable(said)) {
            return RowRefusals.conflict(form.step(), first, conflict(connection, said), said);
        }
        if (SqlFailure.has(said, RowRefusals.TOO_OLD)) {
            engine.forgetTime();
            return RowRefusals.conflict(form.step(), first, "this process asked for the server's time days ago", said);
        }
        if (form == RowForm.INSERT && SqlFailure.has(said, RowRefusals.DUPLICATE)) {
            RowMark mark = marks(connection).get(0);
            Optional<FencelineException> stale = RowVerdict.stale(form.step(), sessions.get(0), mark, said);
            if (stale.isPresent() || mark.exists()) {
                return stale.orElseGet(() -> RowRefusals.exists(first, "and its mark is " + mark.row(), said));
            }
        }
        engine.explain(rights, form.step(), first, said, connection);
        throw failed;
    }

    private String conflict(Connection connection, SQLException said) {
        return SqlFailure.has(said, SqlFailure.LOCK_TIMEOUT)
                ? "it was blocked for longer than " + wait.toMillis() + " ms, by "
                        + RowBlocker.of(connection, engine, sessions)
                : SqlFailure.text(said);
    }

    /** The statement was sent and not answered. Asks once on a fresh connection, and returns normally if it happened. */
    private void settle(Session<C> session, Optional<RowOperation> operation, SQLException cause) {
        session.close();
        if (operation.isEmpty()) {
            throw RowRefusals.unknown(
                    form.step(),
                    first,
                    "the connection was lost (" + SqlFailure.text(cause) + "), and nothing recorded it",
                    cause);
        }
        RowOperation sent = operation.get();
        CommitResolver<C> resolver = new CommitResolver<>(
                engine.source(),
                Tokens.of(first.token()),
                sent.id(),
                sent.begunAt(),
                wait.plus(FenceSettings.WITH_LOST_LEASE));
        Resolution resolution;
        try {
            resolution = resolver.resolve();
        } catch (OutcomeUnknownException e) {
            e.addSuppressed(cause);
            throw e;
        }
        if (resolution == Resolution.NEVER_APPLIED) {
            throw neverHappened(cause);
        }
    }

    private FencelineException neverHappened(SQLException cause) {
        try (Session<C> fresh = engine.open(form.step(), first)) {
            engine.prepare(fresh, wait);
            List<RowMark> marks = marks(fresh.connection());
            for (int i = 0; i < sessions.size(); i++) {
                Optional<FencelineException> stale =
                        RowVerdict.stale(form.step(), sessions.get(i), marks.get(i), cause);
                if (stale.isPresent()) {
                    return stale.get();
                }
            }
        } catch (SQLException | FencelineException unanswered) {
            cause.addSuppressed(unanswered);
        }
        return RowEngine.lost(form.step(), first, cause);
    }
}
