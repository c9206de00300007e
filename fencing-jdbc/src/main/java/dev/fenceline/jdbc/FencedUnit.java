package dev.fenceline.jdbc;

import dev.fenceline.FencelineEvent.WriteEnded;
import dev.fenceline.FencelineEvent.WriteOutcome;
import dev.fenceline.FencelineException;
import dev.fenceline.FencingToken;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.OutcomeUnknownException.Resolution;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.TransactionRolledBackException;
import dev.fenceline.UnfencedWriteException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import org.postgresql.core.TransactionState;

/**
 * One fenced transaction: enter, work, leave, commit.
 *
 * <p>The invariant is that this returns normally iff the transaction committed while the mark was ours. Entering locks the mark
 * while it equals our token, as the first statement; the lock is kept until the end, so nobody can claim in between. Leaving is
 * the last statement: it fails where COMMIT would succeed without effect, or for another transaction than ours. After COMMIT was
 * sent and not answered, only the {@link CommitResolver} knows. In every other case it is certain that nothing happened, and what
 * is left to find out is why: because somebody has taken over, or for a reason that passes.
 */
final class FencedUnit<C> {

    private final ConnectionSource<C> source;
    private final FenceSettings settings;
    private final Claim<C> claim;
    private final FencingToken token;
    private final String resource;
    private final Duration patience;
    private final TransactionGuard guard;

    FencedUnit(ConnectionSource<C> source, FenceSettings settings, Claim<C> claim) {
        this.source = source;
        this.settings = settings;
        this.claim = claim;
        this.token = claim.token();
        this.resource = Refusals.resource(token.lock());
        this.patience = claim.patience();
        this.guard = new TransactionGuard(resource);
    }

    <T, X extends Exception> T run(Work<C, T, X> work) throws X {
        long begun = System.nanoTime();
        WriteOutcome outcome = WriteOutcome.ROLLED_BACK;
        try {
            T result = enterAndRun(work);
            outcome = WriteOutcome.APPLIED;
            return result;
        } catch (StaleTokenException e) {
            outcome = WriteOutcome.STALE;
            throw e;
        } catch (RetryableConflictException e) {
            outcome = WriteOutcome.RETRYABLE;
            throw e;
        } catch (OutcomeUnknownException e) {
            outcome = WriteOutcome.UNKNOWN;
            throw e;
        } finally {
            Duration took = Duration.ofNanos(System.nanoTime() - begun);
            settings.listener().tell(new WriteEnded(resource, token, outcome, took));
        }
    }

    private <T, X extends Exception> T enterAndRun(Work<C, T, X> work) throws X {
        claim.refuseIfOvertaken();
        try (Session<C> session = open()) {
            GuardSql.Entered entered = enter(session);
            T result = runIn(session, entered, work);
            commit(session, entered);
            return result;
        }
    }

    private Session<C> open() {
        try {
            return source.open(guard);
        } catch (SQLException e) {
            throw Refusals.notOpened("Transaction", resource, e);
        }
    }

    private GuardSql.Entered enter(Session<C> session) {
        Connection connection = session.connection();
        try {
            connection.setAutoCommit(false);
            return GuardSql.enter(connection, token, patience, settings.transactionTimeout());
        } catch (SQLException e) {
            if (SqlFailure.isConnectionLost(e)) {
                throw lost(session, e);
            }
            if (SqlFailure.has(e, SqlFailure.NOT_THE_MARK) || SqlFailure.isRetryable(e) || SqlFailure.isTimeout(e)) {
                throw notEntered(session, e);
            }
            throw Refusals.refused("Transaction", resource, e, connection);
        }
    }

    private <T, X extends Exception> T runIn(Session<C> session, GuardSql.Entered entered, Work<C, T, X> work)
            throws X {
        guard.begin();
        try {
            return work.with(session.context());
        } catch (Throwable escaped) {
            guard.end();
            Optional<FencelineException> ours = afterFailure(session, entered, escaped);
            if (ours.isPresent() && isDriverFailure(escaped)) {
                throw ours.get();
            }
            ours.ifPresent(escaped::addSuppressed);
            throw escaped;
        } finally {
            guard.end();
        }
    }

    /** The work threw, so nothing is to be committed; returns what there is to say about it beyond what it threw. */
    private Optional<FencelineException> afterFailure(Session<C> session, GuardSql.Entered entered, Throwable escaped) {
        Optional<SQLException> lost = guard.lost();
        if (lost.isPresent()) {
            return Optional.of(lost(session, isDriverFailure(escaped) ? escaped : lost.get()));
        }
        try {
            Optional<FencelineException> found =
                    endedWithin(session.connection(), entered) ? Optional.of(strayCommit(escaped)) : Optional.empty();
            session.connection().rollback();
            if (found.isEmpty() && isDriverFailure(escaped)) {
                return failedStatement(session, escaped);
            }
            return found;
        } catch (SQLException e) {
            return Optional.of(lost(session, e));
        }
    }

    private Optional<FencelineException> failedStatement(Session<C> session, Throwable said) {
        if (SqlFailure.has(said, SqlFailure.NOT_THE_MARK)) {
            return Optional.of(judge(session, said));
        }
        return SqlFailure.isRetryable(said)
                ? Optional.of(Refusals.conflict("Transaction", resource, SqlFailure.text(said), said))
                : Optional.empty();
    }

    private boolean isDriverFailure(Throwable escaped) {
        return source.driverFailure(escaped).filter(guard::threw).isPresent();
    }

    private void commit(Session<C> session, GuardSql.Entered entered) {
        Optional<SQLException> lost = guard.lost();
        if (lost.isPresent()) {
            throw lost(session, lost.get());
        }
        guard.refusal().ifPresent(refusal -> {
            throw refusal;
        });
        Optional<SQLException> failure = guard.failure();
        if (failure.isPresent()) {
            throw swallowed(session, failure.get());
        }
        // Another transaction of this claim may have been refused meanwhile, perhaps by this very work, which went on.
        claim.refuseIfOvertaken();
        UUID operation = UUID.randomUUID();
        try {
            GuardSql.leave(session.connection(), operation, entered);
        } catch (SQLException e) {
            throw notLeft(session, e);
        }
        try {
            session.connection().commit();
        } catch (SQLException e) {
            if (SqlFailure.isRefusal(e)) {
                throw rolledBack(e, "the commit was refused");
            }
            settle(session, operation, entered, e);
        }
    }

    private FencelineException swallowed(Session<C> session, SQLException failure) {
        if (SqlFailure.has(failure, SqlFailure.NOT_THE_MARK)) {
            return judge(session, failure);
        }
        return rolledBack(failure, "a statement failed, and the work went on as if it had not");
    }

    private FencelineException notLeft(Session<C> session, SQLException e) {
        if (SqlFailure.isConnectionLost(e)) {
            return lost(session, e);
        }
        return SqlFailure.has(e, SqlFailure.OTHER_TRANSACTION)
                ? strayCommit(e)
                : rolledBack(e, "the last check failed");
    }

    private FencelineException rolledBack(SQLException e, String why) {
        if (SqlFailure.isRetryable(e)) {
            return Refusals.conflict("Transaction", resource, why + ": " + SqlFailure.text(e), e);
        }
        return new TransactionRolledBackException(
                "Transaction on " + resource + " under token " + token + " rolled back: " + why + ": "
                        + SqlFailure.text(e)
                        + ". Nothing of it happened. Correct the statement, or roll back to a savepoint set before it.",
                e);
    }

    /** COMMIT was sent. Asks once on a fresh connection, and returns normally if it happened. */
    private void settle(Session<C> session, UUID operation, GuardSql.Entered entered, SQLException cause) {
        session.close();
        // A transaction still in flight lies idle, and the server ends it after our patience; a little more settles it.
        CommitResolver<C> resolver = new CommitResolver<>(
                source, token, operation, entered.at(), patience.plus(FenceSettings.WITH_LOST_LEASE));
        Resolution resolution;
        try {
            resolution = resolver.resolve();
        } catch (OutcomeUnknownException e) {
            e.addSuppressed(cause);
            throw e;
        }
        if (resolution == Resolution.NEVER_APPLIED) {
            throw lost(session, cause);
        }
    }

    /**
     * The session is gone and nothing of it was committed. A sleeper whose session the server ended learns here that somebody has
     * taken over meanwhile, which the driver's exception does not say.
     */
    private FencelineException lost(Session<C> session, Throwable cause) {
        // The mark is read on a fresh connection, and a pool may hold no second one.
        session.close();
        try (Session<C> fresh = source.open(new TransactionGuard(resource))) {
            fresh.limitNetwork(FenceSettings.NETWORK_ALLOWANCE);
            Mark mark = GuardSql.mark(fresh.connection(), token.lock());
            if (mark.of(token) == Mark.Standing.OVERTAKEN) {
                return claim.overtaken("Transaction", mark.newest().orElseThrow(), cause);
            }
            return Refusals.lost(
                    "Transaction under token " + token,
                    resource,
                    "Nothing of it was committed. The mark is " + mark + "; run it again under the same claim.",
                    cause);
        } catch (SQLException | FencelineException e) {
            FencelineException unavailable = Refusals.lost(
                    "Transaction under token " + token,
                    resource,
                    "Nothing of it was committed. Run it again under the same claim when the database answers.",
                    cause);
            unavailable.addSuppressed(e);
            return unavailable;
        }
    }

    private FencelineException notEntered(Session<C> session, SQLException e) {
        Connection connection = session.connection();
        try {
            Mark mark = GuardSql.mark(connection, token.lock());
            if (mark.of(token) != Mark.Standing.MINE) {
                return Resuming.refusal(claim, "Transaction", mark, e);
            }
            String why = "it could not enter: " + SqlFailure.text(e);
            if (SqlFailure.isTimeout(e)) {
                why += ", blocked by "
                        + GuardSql.blocker(connection, token.lock()).orElse("a transaction that has ended meanwhile");
            }
            return Refusals.conflict("Transaction", resource, why, e);
        } catch (SQLException onReading) {
            e.addSuppressed(onReading);
            return lost(session, e);
        }
    }

    /** The mark was found to be somebody else's by a statement of the work. */
    private FencelineException judge(Session<C> session, Throwable said) {
        try {
            Mark mark = GuardSql.mark(session.connection(), token.lock());
            return mark.of(token) == Mark.Standing.MINE
                    ? Refusals.conflict("Transaction", resource, SqlFailure.text(said), said)
                    : Resuming.refusal(claim, "Transaction", mark, said);
        } catch (SQLException e) {
            said.addSuppressed(e);
            return lost(session, said);
        }
    }

    private static boolean endedWithin(Connection connection, GuardSql.Entered entered) throws SQLException {
        TransactionState state = Session.transactionState(connection);
        if (state == TransactionState.OPEN) {
            return !GuardSql.currentTransaction(connection).equals(Optional.of(entered.transaction()));
        }
        return state == TransactionState.IDLE;
    }

    private UnfencedWriteException strayCommit(Throwable cause) {
        return new UnfencedWriteException(
                "Transaction on " + resource + " under token " + token
                        + " was ended from within, by a COMMIT or ROLLBACK in a"
                        + " string of several statements or through an unwrapped connection. What the work wrote before that"
                        + " COMMIT is committed; what it wrote after it may be committed without the fence, and the rest"
                        + " is rolled back. Look at the data, and remove that command.",
                cause);
    }
}
