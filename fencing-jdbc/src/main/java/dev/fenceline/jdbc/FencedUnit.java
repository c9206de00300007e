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
import dev.fenceline.Work;
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
    private boolean unfenced;

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
            if (unfenced) {
                outcome = WriteOutcome.UNKNOWN;
            }
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

    /** A server that waits for a lock gives up after our patience; one that is silent for longer is not there. */
    private void limitNetwork(Session<C> session) throws SQLException {
        session.limitNetwork(patience.plus(FenceSettings.NETWORK_ALLOWANCE));
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
            limitNetwork(session);
            connection.setAutoCommit(false);
            GuardSql.Entered entered = GuardSql.enter(connection, token, patience, settings.transactionTimeout());
            // How long the work's own statements may take is the user's to say.
            session.restoreNetwork();
            return entered;
        } catch (SQLException e) {
            if (SqlFailure.isConnectionLost(e, connection)) {
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
            return Optional.of(lost(session, entered, isDriverFailure(escaped) ? escaped : lost.get()));
        }
        Optional<FencelineException> stray = rollBack(session, entered, escaped);
        return stray.isPresent() || !isDriverFailure(escaped) ? stray : failedStatement(session, entered, escaped);
    }

    private Optional<FencelineException> failedStatement(Session<C> session, GuardSql.Entered entered, Throwable said) {
        if (SqlFailure.has(said, SqlFailure.NOT_THE_MARK)) {
            return Optional.of(judge(session, entered, said));
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
            throw lost(session, entered, lost.get());
        }
        guard.refusal().ifPresent(refusal -> {
            throw rollBack(session, entered, refusal).orElse(refusal);
        });
        guard.failure().ifPresent(failure -> {
            throw rollBack(session, entered, failure).orElseGet(() -> swallowed(session, entered, failure));
        });
        UUID operation = UUID.randomUUID();
        try {
            limitNetwork(session);
            GuardSql.leave(session.connection(), operation, entered);
        } catch (SQLException e) {
            throw notLeft(session, entered, e);
        }
        try {
            session.connection().commit();
        } catch (SQLException e) {
            if (SqlFailure.isRefusal(e, session.connection())) {
                throw rolledBack(e, "the commit was refused");
            }
            settle(session, operation, entered, e);
        }
    }

    private FencelineException swallowed(Session<C> session, GuardSql.Entered entered, SQLException failure) {
        if (SqlFailure.has(failure, SqlFailure.NOT_THE_MARK)) {
            return judge(session, entered, failure);
        }
        return rolledBack(failure, "a statement failed, and the work went on as if it had not");
    }

    private FencelineException notLeft(Session<C> session, GuardSql.Entered entered, SQLException e) {
        if (SqlFailure.isConnectionLost(e, session.connection())) {
            return lost(session, entered, e);
        }
        return rollBack(session, entered, e).orElseGet(() -> rolledBack(e, "the last check failed"));
    }

    /**
     * Rolls back, and asks what became of the transaction that entered: only if it is rolled back now, or was open until now, did
     * nothing happen. Returns what is to be said otherwise.
     */
    private Optional<FencelineException> rollBack(Session<C> session, GuardSql.Entered entered, Throwable cause) {
        Connection connection = session.connection();
        try {
            limitNetwork(session);
            TransactionState before = Session.transactionState(connection);
            if (before == TransactionState.OPEN) {
                try {
                    if (GuardSql.status(connection, entered) == TransactionStatus.OPEN) {
                        connection.rollback();
                        return Optional.empty();
                    }
                } catch (SQLException unanswered) {
                    // The work may have taken another role, or a shorter timeout; a rollback gives both back.
                    before = Session.transactionState(connection);
                }
            }
            connection.rollback();
            TransactionStatus status = GuardSql.status(connection, entered);
            // A failed transaction answers nothing, so whether it was ours that failed is seen by its end alone.
            // That is not enough where the work may have rolled ours back, and committed the next one.
            boolean oursFailed = before == TransactionState.FAILED
                    && status == TransactionStatus.ABORTED
                    && !SqlFailure.has(cause, SqlFailure.OTHER_TRANSACTION);
            if (!oursFailed) {
                return Optional.of(endedWithin("was", status, cause));
            }
            return guard.mayBeEndedByText()
                    ? Optional.of(endedWithin("may have been", status, cause))
                    : Optional.empty();
        } catch (SQLException e) {
            return Optional.of(lost(session, entered, e));
        }
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

    /** The session is gone before COMMIT was sent. Nothing of it was committed, unless the work itself did so. */
    private FencelineException lost(Session<C> session, GuardSql.Entered entered, Throwable cause) {
        // Asked on a fresh connection, and a pool may hold no second one.
        session.close();
        TransactionStatus status;
        try (Session<C> fresh = source.open(new TransactionGuard(resource))) {
            fresh.limitNetwork(FenceSettings.NETWORK_ALLOWANCE);
            status = GuardSql.status(fresh.connection(), entered);
        } catch (SQLException | FencelineException e) {
            if (guard.mayBeEnded()) {
                OutcomeUnknownException unknown = unknown("the database does not answer", cause);
                unknown.addSuppressed(e);
                return unknown;
            }
            return lost(session, cause);
        }
        return switch (status) {
            case COMMITTED, PREPARED -> endedWithin("was", status, cause);
            case ABORTED ->
                guard.mayBeEndedByText() ? endedWithin("may have been", status, cause) : lost(session, cause);
            default -> guard.mayBeEnded() ? unknown("its session has not ended yet", cause) : lost(session, cause);
        };
    }

    private OutcomeUnknownException unknown(String why, Throwable cause) {
        return new OutcomeUnknownException(
                "Transaction on " + resource + " under token " + token + " may be committed in part: the connection was"
                        + " lost (" + SqlFailure.text(cause) + "), the work may have ended the transaction itself, in a"
                        + " string of several statements or through an unwrapped connection, and " + why
                        + ". Look at the data before the work is done again.",
                null,
                cause);
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
            if (SqlFailure.has(e, SqlFailure.LOCK_TIMEOUT)) {
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
    private FencelineException judge(Session<C> session, GuardSql.Entered entered, Throwable said) {
        try {
            Mark mark = GuardSql.mark(session.connection(), token.lock());
            // While the mark is ours only a protected table refuses, and it would do so again.
            return mark.of(token) == Mark.Standing.MINE
                    ? Refusals.unfenced("Transaction under token " + token, resource, said)
                    : Resuming.refusal(claim, "Transaction", mark, said);
        } catch (SQLException e) {
            said.addSuppressed(e);
            return lost(session, entered, said);
        }
    }

    private UnfencedWriteException endedWithin(String verb, TransactionStatus status, Throwable cause) {
        unfenced = true;
        String what = "Transaction on " + resource + " under token " + token + " " + verb + " ended from within, by a ";
        String how = " in a string of several statements or through an unwrapped connection. ";
        if (status == TransactionStatus.PREPARED) {
            return new UnfencedWriteException(
                    what + "PREPARE TRANSACTION" + how
                            + "It is prepared and keeps its locks, that on the mark too, until somebody ends it: find it"
                            + " in pg_prepared_xacts, run ROLLBACK PREPARED or COMMIT PREPARED with its gid, and remove"
                            + " that command.",
                    cause);
        }
        return new UnfencedWriteException(
                what + "COMMIT or ROLLBACK" + how
                        + "What the work wrote before a COMMIT is committed; what it wrote after it may be committed"
                        + " without the fence, and the rest is rolled back. Look at the data, and remove that command.",
                cause);
    }
}
