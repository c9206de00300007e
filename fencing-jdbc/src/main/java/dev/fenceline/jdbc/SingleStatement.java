package dev.fenceline.jdbc;

import dev.fenceline.FencelineEvent.WriteOutcome;
import dev.fenceline.FencelineException;
import dev.fenceline.OutcomeUnknownException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;

/**
 * One fenced statement that is its own transaction, in one round trip.
 *
 * <p>The invariant is that of a unit: this returns normally iff the statement committed while the marks were ours. The server commits by
 * itself, so there is no moment at which it is certain that nothing was sent for commit: a lost answer leaves the outcome open, unless
 * the statement has written its record too.
 */
final class SingleStatement<C> {

    /** Lets the user's statement run, over a connection that makes it a held one, or with it directly. */
    interface Execution<C, X extends Exception> {
        void run(Session<C> session, HeldStatement held) throws X;
    }

    private final ConnectionSource<C> source;
    private final FenceSettings settings;
    private final Claim<C> claim;
    private final Tokens tokens;
    private final String resource;
    private final HeldStatement held;
    private final TransactionGuard guard;
    private final Aftermath<C> aftermath;

    SingleStatement(ConnectionSource<C> source, FenceSettings settings, Claim<C> claim) {
        this.source = source;
        this.settings = settings;
        this.claim = claim;
        this.tokens = claim.presented();
        this.resource = tokens.resource();
        Duration patience = claim.patience();
        Optional<HeldStatement.Operation> operation = settings.has(FenceSettings.Choice.RECORDED)
                ? Optional.of(new HeldStatement.Operation(UUID.randomUUID(), claim.lastAnswer()))
                : Optional.empty();
        this.held = new HeldStatement(tokens, settings, patience, operation);
        this.guard = new TransactionGuard(resource, held);
        this.aftermath = new Aftermath<>(source, claim, () -> patience, guard, "Transaction");
    }

    /** Returns how many rows it changed. */
    <X extends Exception> long run(Execution<C, X> execution) throws X {
        long begun = System.nanoTime();
        WriteOutcome outcome = WriteOutcome.ROLLED_BACK;
        try {
            long rows = inSession(execution);
            outcome = WriteOutcome.APPLIED;
            claim.countCommitted();
            return rows;
        } catch (FencelineException e) {
            outcome = WriteEnd.outcome(e);
            if (outcome == WriteOutcome.UNKNOWN) {
                claim.countUnsettled();
            }
            throw e;
        } finally {
            WriteEnd.tell(settings, tokens, outcome, begun);
        }
    }

    private <X extends Exception> long inSession(Execution<C, X> execution) throws X {
        claim.refuseIfOvertaken("Statement");
        try (Session<C> session = open()) {
            guard.begin(TransactionGuard.Gate.OPEN);
            try {
                execution.run(session, held);
            } catch (Throwable escaped) {
                guard.end();
                // Without a failure of its own the statement was not sent, or has committed, and this is about
                // something else.
                Optional<SQLException> failure = held.failure();
                if (failure.isPresent() && SqlFailure.isConnectionLost(failure.get(), session.connection())) {
                    return settle(session, failure.get());
                }
                Optional<FencelineException> ours = failure.flatMap(said -> judge(session, said, escaped));
                if (ours.isPresent()) {
                    throw ours.get();
                }
                throw escaped;
            } finally {
                guard.end();
            }
            held.heldAt().ifPresent(claim::answered);
            return held.rows();
        }
    }

    private Session<C> open() {
        Session<C> session;
        try {
            session = source.open(guard);
        } catch (SQLException e) {
            throw Refusals.notOpened("Statement", resource, e);
        }
        try {
            session.connection().setAutoCommit(true);
            return session;
        } catch (SQLException e) {
            throw aftermath.lost(session, e);
        }
    }

    /** Returns what there is to say in our words of a statement that was refused; empty for what is the user's own affair. */
    private Optional<FencelineException> judge(Session<C> session, SQLException failure, Throwable escaped) {
        Connection connection = session.connection();
        if (SqlFailure.has(failure, SqlFailure.NOT_THE_MARK)) {
            return Optional.of(aftermath.judge(session, Optional.empty(), escaped));
        }
        if (SqlFailure.isRetryable(failure)) {
            // The statement may as well have waited for a row of its own, and who has that is not for us to say.
            boolean isOfMark = SqlFailure.has(failure, SqlFailure.LOCK_TIMEOUT)
                    && (SqlFailure.isWithin(failure, "fenceline.hold_") || SqlFailure.isWithin(failure, "\"guard\""));
            String blocked = isOfMark ? "; the mark is blocked by " + Blockers.names(connection, tokens) : "";
            return Optional.of(Refusals.conflict("Statement", resource, SqlFailure.text(failure) + blocked, escaped));
        }
        return SqlFailure.has(failure, SqlFailure.STANDBY) || SqlFailure.isReadOnly(failure)
                ? Optional.of(Refusals.refused("Statement", resource, clearer(connection, failure), connection))
                : Optional.empty();
    }

    /** A standby says first that it is read-only; asked for the marks it says why. */
    private SQLException clearer(Connection connection, SQLException failure) {
        try {
            GuardSql.marks(connection, tokens);
            return failure;
        } catch (SQLException standby) {
            return SqlFailure.has(standby, SqlFailure.STANDBY) ? standby : failure;
        }
    }

    /** The answer is lost. Returns how many rows were changed if it is settled that it happened. */
    private long settle(Session<C> session, SQLException cause) {
        Optional<HeldStatement.Operation> operation = held.operation();
        if (operation.isEmpty()) {
            throw new OutcomeUnknownException(
                    "Statement on " + resource + " under " + tokens + " may have happened: the answer was lost ("
                            + SqlFailure.text(cause)
                            + "), and it has left no record that could be asked for. Look at the data before it is done again, or"
                            + " use a fence with recorded().",
                    null,
                    cause);
        }
        UUID id = operation.get().id();
        aftermath.settle(session, id, operation.get().since(), cause);
        try (Session<C> fresh = source.open(new TransactionGuard(resource))) {
            fresh.limitNetwork(FenceSettings.NETWORK_ALLOWANCE);
            return GuardSql.changed(fresh.connection(), id);
        } catch (SQLException e) {
            OutcomeUnknownException uncounted = new OutcomeUnknownException(
                    "Statement of operation " + id + " on " + resource + " under " + tokens
                            + " is applied, and the answer that told how many rows it changed was lost: "
                            + SqlFailure.text(e)
                            + ". Do not do it again; look at the data if the number matters.",
                    () -> OutcomeUnknownException.Resolution.APPLIED,
                    cause);
            uncounted.addSuppressed(e);
            throw uncounted;
        }
    }
}
