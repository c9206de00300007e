package dev.fenceline.jdbc;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineEvent.WriteOutcome;
import dev.fenceline.FencelineException;
import dev.fenceline.OutcomeUnknownException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.postgresql.core.TransactionState;

/**
 * The transactions of one connection, one after the other. There is always one that the next call belongs to; it begins with the first
 * that sends something, and until then there is nothing to commit.
 */
final class UnitTransactions {

    private final OwnUnit unit;
    private final Session<Connection> session;
    private final Connection raw;
    private final SessionChanges changes;
    private final StrayWork stray;
    private volatile @Nullable FencedTransaction<Connection> transaction;
    private OpenTransactions.@Nullable Ending registered;
    private boolean begun;
    private @Nullable IllegalStateException waitsForItself;
    private volatile @Nullable FencelineException gone;

    UnitTransactions(OwnUnit unit, Session<Connection> session, SessionChanges changes) {
        this.unit = unit;
        this.session = session;
        this.raw = session.connection();
        this.changes = changes;
        this.stray = new StrayWork(raw, unit.tokens().resource());
    }

    FencedTransaction<Connection> current() {
        FencedTransaction<Connection> open = transaction;
        if (open == null) {
            open = unit.transaction(session, new TransactionGuard(unit.tokens().resource(), changes));
            open.guard().watch(raw);
            open.begin();
            transaction = open;
        }
        return open;
    }

    /** Why the connection can be used no more. */
    Optional<FencelineException> gone() {
        return Optional.ofNullable(gone);
    }

    /** Why the one that is open was refused. */
    Optional<FencelineException> refusal() {
        FencedTransaction<Connection> open = transaction;
        return open == null ? Optional.empty() : open.refusal();
    }

    /** Tells whether a statement failed in the one that is open. */
    boolean hasFailed() {
        FencedTransaction<Connection> open = transaction;
        return open != null && open.guard().failure().isPresent();
    }

    /** Tells whether one is open that keeps the marks. */
    boolean isWriting() {
        FencedTransaction<Connection> open = transaction;
        return open != null && open.isWriting();
    }

    /** To be called before something is sent. */
    void begin(Sending sending) throws SQLException {
        FencedTransaction<Connection> open = current();
        if (sending == Sending.NOTHING) {
            return;
        }
        if (!begun) {
            try {
                stray.remove();
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

    /** While it keeps the marks, this thread would wait for itself elsewhere. */
    private void register(FencedTransaction<Connection> open) {
        if (registered == null) {
            try {
                registered = unit.register(open.guard());
            } catch (IllegalStateException refused) {
                waitsForItself = refused;
                throw refused;
            }
        }
    }

    /** Commits; returns normally also where there was nothing to be committed. */
    void commit() {
        FencedTransaction<Connection> open = transaction;
        if (open == null || (!begun && open.guard().refusal().isEmpty())) {
            transaction = null;
            return;
        }
        WriteOutcome outcome = WriteOutcome.ROLLED_BACK;
        open.guard().end();
        try {
            requireAllSent();
            register(open);
            open.end();
            outcome = WriteOutcome.APPLIED;
        } catch (FencelineException e) {
            outcome = WriteEnd.outcome(e);
            throw unit.noted(e);
        } finally {
            over(open, outcome);
        }
    }

    /** A statement was refused because of another connection's transaction; without it the rest would be half of the work. */
    private void requireAllSent() {
        IllegalStateException refused = waitsForItself;
        if (refused != null) {
            throw refused;
        }
    }

    /** Rolls back; quiet unless something may have happened all the same. */
    void rollBack() {
        FencedTransaction<Connection> open = transaction;
        if (open == null) {
            return;
        }
        Optional<FencelineException> said = begun ? rollBack(open) : Optional.empty();
        over(open, said.map(WriteEnd::outcome).orElse(WriteOutcome.ROLLED_BACK));
        boolean mayHaveHappened = open.isUnfenced()
                || said.filter(OutcomeUnknownException.class::isInstance).isPresent();
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
        if (open.guard().isUnwrapped()) {
            stray.unwrapped();
        }
        open.guard().end();
        transaction = null;
        if (begun) {
            open.tell(outcome);
        }
        begun = false;
        waitsForItself = null;
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

    /** The connection is given back: rolls back quietly, and leaves to the unit's end what is to be told. */
    void close() {
        FencedTransaction<Connection> open = transaction;
        if (open != null) {
            Optional<FencelineException> said = begun ? rollBack(open) : Optional.empty();
            if (open.isUnfenced()) {
                said.ifPresent(unit::swallowed);
            }
            over(open, said.map(WriteEnd::outcome).orElse(WriteOutcome.ROLLED_BACK));
        }
        try {
            if (gone == null) {
                stray.remove();
            }
        } catch (FencelineException e) {
            unit.swallowed(e);
        } catch (SQLException broken) {
            // It is closed, one way or the other.
        }
    }

    /** The work swallowed a refusal, or a framework tidies up after it. */
    void giveUp(FencelineException refusal) {
        unit.swallowed(refusal);
        over(current(), WriteEnd.outcome(refusal));
    }

    /** A call failed, and the work goes on with what is returned: the driver's exception, or ours if the session is lost. */
    Exception failed(Exception thrown) {
        FencedTransaction<Connection> open = current();
        if (thrown instanceof FencelineException ours) {
            if (session.isOver()) {
                gone = ours;
                over(open, WriteEnd.outcome(ours));
            }
            return unit.noted(ours);
        }
        if (!(thrown instanceof SQLException failure) || open.guard().lost().isEmpty()) {
            return thrown;
        }
        // A sleeper whose session the server ended learns here that somebody has taken over.
        FencelineException ours = open.failed(failure).orElseThrow();
        gone = ours;
        unit.note(failure, ours);
        over(open, WriteEnd.outcome(ours));
        return ours;
    }

    /** The only statement of a transaction failed; likewise. */
    Throwable failedAlone(Throwable thrown) {
        FencedTransaction<Connection> open = current();
        open.guard().end();
        Optional<FencelineException> ours =
                thrown instanceof FencelineException refusal ? Optional.of(refusal) : open.failed(thrown);
        over(open, ours.map(WriteEnd::outcome).orElse(WriteOutcome.ROLLED_BACK));
        return ours.isPresent() ? unit.noted(ours.get()) : thrown;
    }
}
