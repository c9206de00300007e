package dev.fenceline.jdbc;

import dev.fenceline.FencelineException;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.TransactionRolledBackException;
import dev.fenceline.UnfencedWriteException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

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
    private static final String FAILED = "25P02";

    private static final Set<String> CONTROL = Set.of("getAutoCommit", "setAutoCommit", "commit", "close");
    private static final Set<String> LARGE_OBJECTS = Set.of("getBlob", "getClob");

    private final OwnUnit unit;
    private final Session<Connection> session;
    private final Connection raw;
    private final Connection shown;
    private final UnitTransactions transactions;
    private final ReentrantLock turn = new ReentrantLock();
    private boolean autoCommit;
    private volatile boolean closed;

    private UnitConnection(OwnUnit unit, Session<Connection> session) throws SQLException {
        this.unit = unit;
        this.session = session;
        this.raw = session.connection();
        this.autoCommit = raw.getAutoCommit();
        this.shown = GuardedConnection.around(raw, this);
        session.keepNetwork();
        SessionChanges changes = new SessionChanges();
        this.transactions = new UnitTransactions(unit, session, changes);
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
        return transactions.current().guard();
    }

    @Override
    public @Nullable Object run(JdbcCall call) throws Throwable {
        if (call.name().equals("cancel")) {
            // Meant for a statement that another thread is waiting for.
            return call.proceed();
        }
        if (call.isOfConnection() && call.name().equals("abort")) {
            abort((Executor) call.arguments().get(0));
            return null;
        }
        turn.lock();
        try {
            Optional<FencelineException> over = over();
            if (over.isPresent() || closed) {
                if (call.isOfConnection() && call.name().equals("close")) {
                    close();
                }
                return EndedConnection.answer(call, autoCommit, over);
            }
            return call.isOfConnection() && isOfTransactions(call) ? control(call) : inTurn(call);
        } finally {
            turn.unlock();
        }
    }

    private static boolean isOfTransactions(JdbcCall call) {
        return CONTROL.contains(call.name())
                || (call.name().equals("rollback") && call.arguments().isEmpty());
    }

    /** What is about the transactions is answered here, and nothing of it is handed on. */
    private @Nullable Object control(JdbcCall call) throws SQLException {
        switch (call.name()) {
            case "getAutoCommit" -> {
                return autoCommit;
            }
            case "setAutoCommit" -> setAutoCommit((Boolean) call.arguments().get(0));
            case "commit" -> {
                requireTransaction("commit");
                transactions.commit();
            }
            case "rollback" -> {
                requireTransaction("roll back");
                transactions.rollBack();
            }
            default -> close();
        }
        return null;
    }

    private @Nullable Object inTurn(JdbcCall call) throws Throwable {
        if (call.isOfConnection() && call.name().equals("setSavepoint")) {
            requireTransaction("set a savepoint");
        }
        if (call.name().equals("unwrap")) {
            if (((Class<?>) call.arguments().get(0)).isInstance(call.proxy())) {
                return call.proxy();
            }
            requireSeen();
        }
        if (transactions.refusal().isPresent()) {
            if (EndedConnection.isQuiet(call)) {
                return null;
            }
            if (call.name().equals("isClosed")) {
                return false;
            }
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
        try {
            transactions.begin(call.sending());
            return call.proceed();
        } catch (SQLException | FencelineException e) {
            throw transactions.failed(e);
        }
    }

    /** Begin, enter, the statement, leave, commit. */
    private @Nullable Object single(JdbcCall call) throws Throwable {
        Object result;
        try {
            transactions.begin(call.sending());
            result = call.target() instanceof Statement statement && call.name().startsWith("execute")
                    ? completely(statement, call)
                    : call.proceed();
        } catch (Throwable escaped) {
            throw transactions.failedAlone(escaped);
        }
        transactions.commit();
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

    /** To turn it on commits, as JDBC says; and frameworks do so to tidy up after a refusal. */
    private void setAutoCommit(boolean next) throws SQLException {
        if (next && !autoCommit) {
            Optional<FencelineException> refusal = transactions.refusal();
            if (refusal.isPresent()) {
                // It was told already; or else it was swallowed, and is told again when the unit ends.
                transactions.giveUp(refusal.get());
            } else {
                commitAsTheDriver();
            }
        }
        autoCommit = next;
    }

    /** What the driver throws here for a transaction in which a statement failed is an exception of SQL, and so is this. */
    private void commitAsTheDriver() throws SQLException {
        boolean hasFailed = transactions.hasFailed();
        try {
            transactions.commit();
        } catch (TransactionRolledBackException | RetryableConflictException e) {
            if (!hasFailed) {
                throw e;
            }
            SQLException asTheDriver = new SQLException(e.getMessage(), FAILED, e);
            unit.note(asTheDriver, e);
            throw asTheDriver;
        }
    }

    /** Likewise meant for a call that hangs: that one is told by the driver, and finds out what became of its transaction. */
    private void abort(Executor executor) throws SQLException {
        if (closed || unit.hasEnded()) {
            return;
        }
        raw.abort(executor);
        if (turn.tryLock()) {
            try {
                close();
            } finally {
                turn.unlock();
            }
        }
    }

    private void close() {
        if (closed) {
            return;
        }
        closed = true;
        transactions.close();
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
        boolean hasOpen = !closed && transactions.isWriting();
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
        return closed ? Optional.empty() : transactions.gone();
    }
}
