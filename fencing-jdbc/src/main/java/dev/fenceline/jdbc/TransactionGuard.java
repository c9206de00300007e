package dev.fenceline.jdbc;

import dev.fenceline.FencelineException;
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

    /** What the work has been given, and what it is told that tries to end the transaction. */
    private enum Setting {
        ONE_TRANSACTION(
                "in a fenced transaction",
                "what followed would be written without the fence. The transaction is rolled back. Return from the work to"
                        + " commit, throw to roll back, or use a savepoint."),
        ONE_STATEMENT(
                "in a fenced statement",
                "it would be outside of the fence. One statement is all that runs here; use inTransaction for more."),
        UNIT(
                "in a unit",
                "what followed would be written without the fence. The transaction can only be rolled back. Use commit(),"
                        + " rollback() and setAutoCommit() of the connection, or a savepoint.");

        private final String where;
        private final String remedy;

        Setting(String where, String remedy) {
            this.where = where;
            this.remedy = remedy;
        }
    }

    /** Hears of what the work sends, before it is sent. */
    interface Gate {

        /** Nothing has to happen first. */
        Gate OPEN = new Gate() {
            @Override
            public void beforeSetting() {}

            @Override
            public void beforeStatement() {}

            @Override
            public void isolationChosen() {}
        };

        /** A SET or SHOW is about to be sent. */
        void beforeSetting();

        /** Something else is about to be sent. */
        void beforeStatement();

        /** The work chooses an isolation level through the driver. */
        void isolationChosen();
    }

    private record Failure(SQLException exception, long at) {}

    private record Mark(
            @Nullable Savepoint savepoint, @Nullable String name, long at) {}

    private final String resource;
    private final List<Failure> failures = new ArrayList<>();
    private final List<SQLException> seen = new ArrayList<>();
    private final List<Mark> marks = new ArrayList<>();
    private final Optional<HeldStatement> held;
    private final Optional<InnerTransactions> inner;
    private final Setting setting;
    private final SessionChanges changes;
    private volatile Gate gate = Gate.OPEN;
    private Phase phase = Phase.OPENING;
    private long clock;
    private @Nullable UnfencedWriteException refusal;
    private @Nullable SQLException lost;
    private @Nullable Connection watched;
    private @Nullable FencelineException refusedFor;
    private boolean endingSent;
    private boolean unwrapped;

    TransactionGuard(String resource) {
        this(resource, Setting.ONE_TRANSACTION, Optional.empty(), Optional.empty(), new SessionChanges());
    }

    /** For a connection that prepares one kind of statement only. */
    TransactionGuard(String resource, HeldStatement held) {
        this(resource, Setting.ONE_STATEMENT, Optional.of(held), Optional.empty(), new SessionChanges());
    }

    /** For one of several transactions on a connection, which changes its session for those that follow too. */
    TransactionGuard(String resource, SessionChanges changes) {
        this(resource, Setting.UNIT, Optional.empty(), Optional.empty(), changes);
    }

    /** For work that may believe to begin and commit transactions itself. */
    TransactionGuard(String resource, InnerTransactions inner) {
        this(resource, Setting.ONE_TRANSACTION, Optional.empty(), Optional.of(inner), new SessionChanges());
    }

    private TransactionGuard(
            String resource,
            Setting setting,
            Optional<HeldStatement> held,
            Optional<InnerTransactions> inner,
            SessionChanges changes) {
        this.resource = resource;
        this.setting = setting;
        this.held = held;
        this.inner = inner;
        this.changes = changes;
    }

    /** Makes of each statement one that holds the marks by itself. */
    Optional<HeldStatement> held() {
        return held;
    }

    /** Transactions within this one; empty where the work may have none. */
    Optional<InnerTransactions> inner() {
        return inner;
    }

    /** Tells whether what the work asks of the connection does not concern it. */
    boolean isLeftOut(String method, List<?> arguments, Connection connection) throws SQLException {
        return inner.isPresent() && isActive() && InnerTransactions.isLeftOut(method, arguments, connection);
    }

    synchronized void watch(Connection connection) {
        watched = connection;
    }

    synchronized void begin(Gate next) {
        gate = next;
        phase = Phase.ACTIVE;
    }

    /** Lets the fence go first. Without our monitor, since that asks the server. */
    void before(Sending sending) {
        if (!isActive()) {
            return;
        }
        if (sending == Sending.SETTING) {
            gate.beforeSetting();
        } else if (sending == Sending.STATEMENT) {
            gate.beforeStatement();
        }
    }

    /** Keeps what the work is about to change on the connection, so that it is given back as it came. */
    void beforeChange(String method, Connection connection) throws SQLException {
        if (!isActive()) {
            return;
        }
        if (method.equals("setTransactionIsolation")) {
            gate.isolationChosen();
        }
        changes.before(method, connection);
    }

    /** Undoes what the work has changed; to be called when no transaction is open. */
    void restore(Connection connection) throws SQLException {
        changes.restore(connection);
    }

    /** Tells whether the work has made the session read-only itself, or may have, by text. */
    boolean hasSettings() {
        return changes.mayBeReadOnly();
    }

    /** Tells whether the work has chosen an isolation for this transaction and those that follow. */
    boolean hasIsolation() {
        return changes.haveIsolation();
    }

    /** The fence has refused the work: nothing more is sent, and every further use is told why. */
    synchronized void refuseAll(FencelineException why) {
        refusedFor = why;
        phase = Phase.ENDED;
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

    synchronized FencelineException afterEnd() {
        if (refusedFor != null) {
            return refusedFor;
        }
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
                    command + " " + setting.where + " on " + resource + " refused before it was sent: "
                            + setting.remedy,
                    null);
        }
        return refusal;
    }

    void check(String sql) {
        requireReadable();
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

    /** The work may have turned the setting off that was on when the session began. */
    private void requireReadable() {
        Connection driver;
        synchronized (this) {
            driver = phase == Phase.ACTIVE ? watched : null;
        }
        try {
            if (driver != null) {
                Session.requireConformingStrings(driver);
            }
        } catch (SQLException gone) {
            // Then nothing is sent either, and whoever tries is told why.
        }
    }

    /** Somebody holds the driver's own connection, and what is done with that is not seen here. */
    synchronized void unwrapped() {
        unwrapped = true;
    }

    synchronized boolean isUnwrapped() {
        return unwrapped;
    }

    /** Tells whether a string of several statements was sent that ends the transaction, if it got that far. */
    synchronized boolean mayBeEndedByText() {
        return endingSent;
    }

    /** Tells whether it cannot be ruled out, from here, that the work ended the transaction. */
    synchronized boolean mayBeEnded() {
        return endingSent || unwrapped;
    }

    synchronized void failed(SQLException exception, Sending sending) {
        if (phase != Phase.ACTIVE || exception instanceof SQLFeatureNotSupportedException) {
            // The latter is the driver's own and reached no server; frameworks probe for features.
            return;
        }
        seen.add(exception);
        // Frameworks look for columns too that are not there. What fails on the server after all is found by the last
        // check.
        if (setting != Setting.UNIT || sending != Sending.NOTHING) {
            failures.add(new Failure(exception, ++clock));
        }
        if (lost == null && watched != null && SqlFailure.isConnectionLost(exception, watched)) {
            lost = exception;
        }
    }

    synchronized void executed(String sql) {
        if (TransactionControl.isSetting(sql)) {
            changes.settingSent();
        }
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
