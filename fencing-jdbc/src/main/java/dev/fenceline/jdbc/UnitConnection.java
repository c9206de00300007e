package dev.fenceline.jdbc;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineEvent.WriteOutcome;
import dev.fenceline.FencelineException;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.UnfencedWriteException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.postgresql.core.TransactionState;

/**
 * A connection of a unit: one fenced transaction after the other, which its user begins and ends as on any connection. In auto-commit
 * mode each statement is one.
 *
 * <p>Problem: whoever ends a transaction here is a framework, which goes on after a failure with calls that tidy up, and reports as
 * committed whatever did not throw. So {@code commit} throws whenever nothing was committed, and what comes after it is quiet. The
 * driver's own auto-commit mode is off throughout, so that nothing that escapes from here is ever committed by itself.
 *
 * <p>One call at a time: a unit that ends takes the connection away from a thread that still uses it, and in the middle of a commit that
 * would be the commit of whoever has the connection next.
 */
final class UnitConnection implements Conduct {

    private static final String NO_TRANSACTION = "25P01";
    private static final String NO_CONNECTION = "08003";

    // What frameworks call to tidy up, in whatever state.
    private static final Set<String> TIDYING =
            Set.of("setReadOnly", "setTransactionIsolation", "setHoldability", "clearWarnings", "getWarnings");
    private static final Set<String> LARGE_OBJECTS = Set.of("getBlob", "getClob");

    private final OwnUnit unit;
    private final Session<Connection> session;
    private final Connection raw;
    private final Connection shown;
    private final SessionChanges changes = new SessionChanges();
    private final ReentrantLock turn = new ReentrantLock();
    private volatile @Nullable FencedTransaction<Connection> transaction;
    private OpenTransactions.@Nullable Ending registered;
    private boolean autoCommit;
    private boolean begun;
    private boolean unwrapped;
    private volatile boolean closed;
    private volatile @Nullable FencelineException gone;

    private UnitConnection(OwnUnit unit, Session<Connection> session) throws SQLException {
        this.unit = unit;
        this.session = session;
        this.raw = session.connection();
        this.autoCommit = raw.getAutoCommit();
        this.shown = GuardedConnection.around(raw, this);
        session.keepNetwork();
        session.restoreWith(changes::restore);
        raw.setAutoCommit(false);
    }

    /** Takes over a session, or gives it back at once. */
    static UnitConnection over(OwnUnit unit, Session<Connection> session) throws SQLException {
        try {
            return new UnitConnection(unit, session);
        } catch (SQLException e) {
            session.close();
            throw e;
        }
    }

    /** What the work gets. */
    Connection shown() {
        return shown;
    }

    @Override
    public TransactionGuard guard() {
        return current().guard();
    }

    private FencedTransaction<Connection> current() {
        FencedTransaction<Connection> open = transaction;
        if (open == null) {
            open = unit.transaction(session, new TransactionGuard(unit.tokens().resource(), changes));
            open.guard().watch(raw);
            open.begin();
            transaction = open;
        }
        return open;
    }

    @Override
    public @Nullable Object run(JdbcCall call) throws Throwable {
        if (call.name().equals("cancel")) {
            // Meant for a statement that another thread is waiting for.
            return call.proceed();
        }
        turn.lock();
        try {
            Optional<FencelineException> over = over();
            if (over.isPresent() || closed) {
                return afterEnd(call, over);
            }
            if (call.isOfConnection()) {
                switch (call.name()) {
                    case "getAutoCommit":
                        return autoCommit;
                    case "setAutoCommit":
                        setAutoCommit((Boolean) call.arguments()[0]);
                        return null;
                    case "commit":
                        requireTransaction("commit");
                        commit();
                        return null;
                    case "close":
                        close();
                        return null;
                    case "abort":
                        call.proceed();
                        close();
                        return null;
                    case "setSavepoint":
                        requireTransaction("set a savepoint");
                        break;
                    case "rollback":
                        requireTransaction("roll back");
                        if (call.arguments().length == 0) {
                            rollBack();
                            return null;
                        }
                        break;
                    default:
                        break;
                }
            }
            return inTurn(call);
        } finally {
            turn.unlock();
        }
    }

    private @Nullable Object inTurn(JdbcCall call) throws Throwable {
        if (call.name().equals("unwrap")) {
            if (((Class<?>) call.arguments()[0]).isInstance(call.proxy())) {
                return call.proxy();
            }
            requireSeen();
        }
        if (current().refusal().isPresent() && (isQuiet(call) || call.name().equals("isClosed"))) {
            return call.isOfConnection() && call.name().equals("isClosed") ? Boolean.FALSE : null;
        }
        if (autoCommit && call.sending() != Sending.NOTHING) {
            return single(call);
        }
        if (autoCommit && call.target() instanceof ResultSet && LARGE_OBJECTS.contains(call.name())) {
            throw new SQLException("Large Objects may not be used in auto-commit mode.", NO_TRANSACTION);
        }
        return inTransaction(call);
    }

    /** What is done with the driver's own connection between transactions would be in none of ours. */
    private void requireSeen() {
        if (autoCommit) {
            throw new UnfencedWriteException(
                    "unwrap in a unit on " + unit.tokens().resource()
                            + " refused in auto-commit mode: what is done with the driver's own object would be in no fenced"
                            + " transaction. Call setAutoCommit(false) first, and commit() after it.",
                    null);
        }
    }

    private void requireTransaction(String what) throws SQLException {
        if (autoCommit) {
            throw new SQLException("Cannot " + what + " when autoCommit is enabled.", NO_TRANSACTION);
        }
    }

    private @Nullable Object inTransaction(JdbcCall call) throws Throwable {
        FencedTransaction<Connection> open = current();
        try {
            beginBefore(open, call);
            return call.proceed();
        } catch (SQLException e) {
            if (open.guard().lost().isEmpty()) {
                throw e;
            }
            // A sleeper whose session the server ended learns here that somebody has taken over.
            FencelineException ours = open.failed(e).orElseThrow();
            gone = ours;
            unit.note(e, ours);
            over(open, WriteEnd.outcome(ours));
            throw ours;
        } catch (FencelineException e) {
            if (session.isOver()) {
                gone = e;
                over(open, WriteEnd.outcome(e));
            }
            throw unit.noted(e);
        }
    }

    /** Begin, enter, the statement, leave, commit. */
    private @Nullable Object single(JdbcCall call) throws Throwable {
        FencedTransaction<Connection> open = current();
        Object result;
        try {
            beginBefore(open, call);
            result = call.target() instanceof Statement statement && call.name().startsWith("execute")
                    ? completely(statement, call)
                    : call.proceed();
        } catch (Throwable escaped) {
            open.guard().end();
            FencelineException ours = escaped instanceof FencelineException refusal
                    ? refusal
                    : open.failed(escaped).orElse(null);
            over(open, ours == null ? WriteOutcome.ROLLED_BACK : WriteEnd.outcome(ours));
            if (ours == null) {
                throw escaped;
            }
            throw unit.noted(ours);
        }
        commit();
        return result;
    }

    /** As the driver does in this mode: a cursor would end with the transaction of its statement. */
    private static @Nullable Object completely(Statement statement, JdbcCall call) throws Throwable {
        int fetchSize = statement.getFetchSize();
        if (fetchSize == 0) {
            return call.proceed();
        }
        statement.setFetchSize(0);
        try {
            return call.proceed();
        } finally {
            if (!statement.isClosed()) {
                statement.setFetchSize(fetchSize);
            }
        }
    }

    /** What was left open between transactions is none of them: questions of the driver, or what came through an unwrapped object. */
    private void beginBefore(FencedTransaction<Connection> open, JdbcCall call) throws SQLException {
        Sending sending = call.sending();
        if (sending == Sending.NOTHING) {
            return;
        }
        if (!begun) {
            try {
                removeStray();
            } catch (SQLException e) {
                open.guard().failed(e, Sending.STATEMENT);
                throw e;
            }
            begun = true;
        }
        if (sending == Sending.STATEMENT) {
            register(open);
        }
    }

    private void removeStray() throws SQLException {
        boolean commitsByItself = unwrapped && raw.getAutoCommit();
        if (!commitsByItself && Session.transactionState(raw) == TransactionState.IDLE) {
            return;
        }
        if (commitsByItself) {
            raw.setAutoCommit(false);
        } else {
            raw.rollback();
        }
        if (unwrapped) {
            throw unit.noted(new UnfencedWriteException(
                    "Transaction in a unit on " + unit.tokens().resource()
                            + " refused: a connection was used through an unwrapped object between two transactions"
                            + (commitsByItself
                                    ? ", and put into auto-commit mode; what was written so may be committed without the fence."
                                    : "; what was done so is rolled back.")
                            + " Use it inside of a transaction only.",
                    null));
        }
    }

    /** While it keeps the marks, this thread would wait for itself elsewhere. */
    private void register(FencedTransaction<Connection> open) {
        if (registered == null) {
            registered = unit.register(open.guard());
        }
    }

    private void setAutoCommit(boolean next) {
        if (next && !autoCommit) {
            FencedTransaction<Connection> open = transaction;
            Optional<FencelineException> refusal =
                    open == null ? Optional.empty() : open.refusal();
            if (open != null && refusal.isPresent()) {
                // It was told already, and this is how frameworks tidy up; or else it was swallowed.
                unit.swallowed(refusal.get());
                over(open, WriteEnd.outcome(refusal.get()));
            } else {
                commit();
            }
        }
        autoCommit = next;
    }

    private void commit() {
        FencedTransaction<Connection> open = transaction;
        if (open == null || (!begun && open.guard().refusal().isEmpty())) {
            transaction = null;
            return;
        }
        WriteOutcome outcome = WriteOutcome.ROLLED_BACK;
        open.guard().end();
        try {
            register(open);
            open.end();
            outcome = WriteOutcome.APPLIED;
            if (open.isWriting()) {
                unit.committed();
            }
        } catch (FencelineException e) {
            outcome = WriteEnd.outcome(e);
            throw unit.noted(e);
        } finally {
            over(open, outcome);
        }
    }

    private void rollBack() {
        FencedTransaction<Connection> open = transaction;
        if (open == null) {
            return;
        }
        Optional<FencelineException> said = begun ? rollBack(open) : Optional.empty();
        over(open, said.map(WriteEnd::outcome).orElse(WriteOutcome.ROLLED_BACK));
        boolean mayHaveHappened =
                open.isUnfenced() || said.filter(OutcomeUnknownException.class::isInstance).isPresent();
        if (mayHaveHappened) {
            throw unit.noted(said.orElseThrow());
        }
    }

    private Optional<FencelineException> rollBack(FencedTransaction<Connection> open) {
        open.guard().end();
        if (open.refusal().isPresent()) {
            return open.refusal();
        }
        Optional<SQLException> failure = open.guard().failure();
        if (failure.isEmpty()) {
            return open.rollBack();
        }
        Optional<FencelineException> said = open.failed(failure.get());
        said.ifPresent(ours -> unit.note(failure.get(), ours));
        return said;
    }

    /** The transaction has ended, one way or the other, and the next call begins another one. */
    private void over(FencedTransaction<Connection> open, WriteOutcome outcome) {
        unwrapped |= open.guard().isUnwrapped();
        open.guard().end();
        transaction = null;
        if (begun) {
            open.tell(outcome);
        }
        begun = false;
        if (registered != null) {
            registered.end();
            registered = null;
        }
        if (gone != null) {
            return;
        }
        try {
            if (!session.isOver() && !Session.isGone(raw)) {
                session.restoreNetwork();
                if (Session.transactionState(raw) != TransactionState.IDLE) {
                    raw.rollback();
                }
                return;
            }
        } catch (SQLException broken) {
            // Then it is gone too.
        }
        session.close();
        gone = new BackendUnavailableException(
                "Use of a connection of a unit on " + unit.tokens().resource()
                        + " refused: its session was lost with the transaction before, whose end is told already. Close it and"
                        + " take another one.",
                null);
    }

    private void close() {
        if (closed) {
            return;
        }
        closed = true;
        FencedTransaction<Connection> open = transaction;
        if (open != null) {
            Optional<FencelineException> said = begun ? rollBack(open) : Optional.empty();
            if (open.isUnfenced()) {
                said.ifPresent(unit::noted);
            }
            over(open, said.map(WriteEnd::outcome).orElse(WriteOutcome.ROLLED_BACK));
        }
        try {
            if (gone == null) {
                removeStray();
            }
        } catch (SQLException | UnfencedWriteException noted) {
            // The unit knows, and who closes is told nothing.
        }
        session.close();
        unit.closed(this);
    }

    /** Closes it with its unit, unless a thread is in the middle of a call; tells whether a transaction was open that had entered. */
    Optional<Boolean> tryEnd() {
        if (!turn.tryLock()) {
            return Optional.empty();
        }
        try {
            return Optional.of(closeInTurn());
        } finally {
            turn.unlock();
        }
    }

    /** Likewise, after that call. */
    boolean end() {
        turn.lock();
        try {
            return closeInTurn();
        } finally {
            turn.unlock();
        }
    }

    private boolean closeInTurn() {
        FencedTransaction<Connection> open = transaction;
        boolean hasOpen = !closed && open != null && open.isWriting();
        close();
        return hasOpen;
    }

    /** Why it can be used no more, beside that it was closed. */
    private Optional<FencelineException> over() {
        if (unit.hasEnded()) {
            return Optional.of(new UnfencedWriteException(
                    "Use of a connection on " + unit.tokens().resource()
                            + " refused: the unit that it was taken in has ended, and nothing protects a write any more. Take a"
                            + " connection where it is used.",
                    null));
        }
        return closed ? Optional.empty() : Optional.ofNullable(gone);
    }

    private @Nullable Object afterEnd(JdbcCall call, Optional<FencelineException> over) throws SQLException {
        switch (call.name()) {
            case "isClosed":
                return true;
            case "isValid":
                return false;
            case "close":
                if (call.isOfConnection()) {
                    close();
                }
                return null;
            case "getAutoCommit":
                return autoCommit;
            case "setAutoCommit", "rollback", "abort":
                return null;
            default:
                if (isQuiet(call)) {
                    return null;
                }
        }
        if (over.isPresent()) {
            throw over.get();
        }
        throw new SQLException("This connection has been closed.", NO_CONNECTION);
    }

    private static boolean isQuiet(JdbcCall call) {
        return call.name().equals("close") || (call.isOfConnection() && TIDYING.contains(call.name()));
    }
}
