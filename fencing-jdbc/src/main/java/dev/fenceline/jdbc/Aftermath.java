package dev.fenceline.jdbc;

import dev.fenceline.FencelineException;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.OutcomeUnknownException.Resolution;
import dev.fenceline.TransactionRolledBackException;
import dev.fenceline.UnfencedWriteException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.postgresql.core.TransactionState;

/**
 * Finds out what became of a unit that did not end well, and says it.
 *
 * <p>After COMMIT was sent and not answered, only the {@link CommitResolver} knows. In every other case it is certain that nothing
 * happened, unless the work itself ended its transaction; what is left to find out is why: because somebody has taken over, or for
 * a reason that passes.
 */
final class Aftermath<C> {

    private final ConnectionSource<C> source;
    private final Claim<C> claim;
    private final Tokens tokens;
    private final String resource;
    private final Supplier<Duration> patience;
    private final TransactionGuard guard;
    private final String step;
    private volatile boolean unfenced;

    /**
     * Watches over one transaction.
     *
     * @param patience how long it may lie idle
     * @param step what it is called, as the subject of a sentence
     */
    Aftermath(
            ConnectionSource<C> source,
            Claim<C> claim,
            Supplier<Duration> patience,
            TransactionGuard guard,
            String step) {
        this.source = source;
        this.claim = claim;
        this.tokens = claim.presented();
        this.resource = tokens.resource();
        this.patience = patience;
        this.guard = guard;
        this.step = step;
    }

    /** Tells whether something may have been committed outside of the fence. */
    boolean isUnfenced() {
        return unfenced;
    }

    /** The mark was not ours at entering, or could not be locked. */
    FencelineException notEntered(Session<C> session, SQLException e) {
        Connection connection = session.connection();
        try {
            Optional<FencelineException> refusal = Resuming.refusal(claim, step, GuardSql.marks(connection, tokens), e);
            return refusal.orElseGet(() -> Refusals.conflict(
                    step, resource, "it could not enter: " + SqlFailure.text(e) + blocked(connection, e), e));
        } catch (SQLException onReading) {
            e.addSuppressed(onReading);
            return lost(session, e);
        }
    }

    private String blocked(Connection connection, SQLException e) {
        return SqlFailure.has(e, SqlFailure.LOCK_TIMEOUT) ? ", blocked by " + Blockers.names(connection, tokens) : "";
    }

    /** The mark was found to be somebody else's by a statement after entering. */
    FencelineException judge(Session<C> session, Optional<GuardSql.Entered> entered, Throwable said) {
        try {
            return Resuming.refusal(claim, step, GuardSql.marks(session.connection(), tokens), said)
                    // While the marks are ours only a protected table refuses, and it would do so again.
                    .orElseGet(() -> Refusals.unfenced(step + " under " + tokens, resource, said));
        } catch (SQLException e) {
            said.addSuppressed(e);
            return lost(session, entered, said);
        }
    }

    FencelineException swallowed(Session<C> session, Optional<GuardSql.Entered> entered, SQLException failure) {
        return SqlFailure.has(failure, SqlFailure.NOT_THE_MARK)
                ? judge(session, entered, failure)
                : rolledBack(failure, "a statement failed, and the work went on as if it had not");
    }

    FencelineException notLeft(Session<C> session, GuardSql.Entered entered, SQLException e) {
        if (SqlFailure.isConnectionLost(e, session.connection())) {
            return lost(session, Optional.of(entered), e);
        }
        return rollBack(session, Optional.of(entered), e)
                .orElseGet(() -> SqlFailure.has(e, SqlFailure.NOT_THE_MARK)
                        ? judge(session, Optional.of(entered), e)
                        : rolledBack(e, "the last check failed"));
    }

    FencelineException rolledBack(SQLException e, String why) {
        if (SqlFailure.isRetryable(e)) {
            return Refusals.conflict(step, resource, why + ": " + SqlFailure.text(e), e);
        }
        return new TransactionRolledBackException(
                step + " on " + resource + " under " + tokens + " rolled back: " + why + ": " + SqlFailure.text(e)
                        + ". Nothing of it happened. Correct the statement, or roll back to a savepoint set before it.",
                e);
    }

    /**
     * Rolls back, and asks what became of the transaction that entered: only if it is rolled back now, or was open until now, did
     * nothing happen. Returns what is to be said otherwise.
     */
    Optional<FencelineException> rollBack(
            Session<C> session, Optional<GuardSql.Entered> entered, @Nullable Throwable cause) {
        if (entered.isEmpty() || (entered.get().isReading() && !guard.mayBeEnded())) {
            // There is nothing in it, and it ends with its session.
            return Optional.empty();
        }
        Connection connection = session.connection();
        try {
            session.limitNetwork(patience.get().plus(FenceSettings.NETWORK_ALLOWANCE));
            TransactionState before = Session.transactionState(connection);
            if (before == TransactionState.OPEN) {
                try {
                    if (isStillOpen(connection, entered.get())) {
                        connection.rollback();
                        return Optional.empty();
                    }
                } catch (SQLException unanswered) {
                    // The work may have taken another role, or a shorter timeout; a rollback gives both back.
                    before = Session.transactionState(connection);
                }
            }
            connection.rollback();
            if (entered.get().isReading()) {
                boolean isCertain =
                        before != TransactionState.FAILED || SqlFailure.has(cause, SqlFailure.OTHER_TRANSACTION);
                return Optional.of(endedWithin(isCertain ? "was" : "may have been", TransactionStatus.TOO_OLD, cause));
            }
            TransactionStatus status = GuardSql.status(connection, entered.get());
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

    private static boolean isStillOpen(Connection connection, GuardSql.Entered entered) throws SQLException {
        return entered.isReading()
                ? GuardSql.begunAt(connection).isEqual(entered.begunAt())
                : GuardSql.status(connection, entered) == TransactionStatus.OPEN;
    }

    /** COMMIT was sent. Asks once on a fresh connection, and returns normally if it happened. */
    void settle(Session<C> session, UUID operation, OffsetDateTime since, SQLException cause) {
        session.close();
        // A transaction still in flight lies idle, and the server ends it after our patience; a little more settles it.
        CommitResolver<C> resolver = new CommitResolver<>(
                source, tokens, operation, since, patience.get().plus(FenceSettings.WITH_LOST_LEASE));
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
    FencelineException lost(Session<C> session, Optional<GuardSql.Entered> entered, Throwable cause) {
        if (entered.isEmpty() || (entered.get().isReading() && !guard.mayBeEnded())) {
            return lost(session, cause);
        }
        if (entered.get().isReading()) {
            return unknown("a transaction that began by reading leaves no trace", cause);
        }
        // Asked on a fresh connection, and a pool may hold no second one.
        session.close();
        TransactionStatus status;
        try (Session<C> fresh = source.open(new TransactionGuard(resource))) {
            fresh.limitNetwork(FenceSettings.NETWORK_ALLOWANCE);
            status = GuardSql.status(fresh.connection(), entered.get());
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

    /**
     * The session is gone and nothing of it was committed. A sleeper whose session the server ended learns here that somebody has
     * taken over meanwhile, which the driver's exception does not say.
     */
    FencelineException lost(Session<C> session, Throwable cause) {
        // The mark is read on a fresh connection, and a pool may hold no second one.
        session.close();
        try (Session<C> fresh = source.open(new TransactionGuard(resource))) {
            fresh.limitNetwork(FenceSettings.NETWORK_ALLOWANCE);
            Marks marks = GuardSql.marks(fresh.connection(), tokens);
            Optional<Marks.Mismatch> mismatch = marks.mismatch();
            if (mismatch.isPresent() && mismatch.get().mark().of(mismatch.get().token()) == Mark.Standing.OVERTAKEN) {
                return claim.overtaken(step, mismatch.get().mark().newest().orElseThrow(), cause);
            }
            return Refusals.lost(
                    step + " under " + tokens,
                    resource,
                    "Nothing of it was committed. " + marks + "; run it again under the same claim.",
                    cause);
        } catch (SQLException | FencelineException e) {
            FencelineException unavailable = Refusals.lost(
                    step + " under " + tokens,
                    resource,
                    "Nothing of it was committed. Run it again under the same claim when the database answers.",
                    cause);
            unavailable.addSuppressed(e);
            return unavailable;
        }
    }

    private OutcomeUnknownException unknown(String why, Throwable cause) {
        return new OutcomeUnknownException(
                step + " on " + resource + " under " + tokens + " may be committed in part: the connection was"
                        + " lost (" + SqlFailure.text(cause) + "), the work may have ended the transaction itself, in a"
                        + " string of several statements or through an unwrapped connection, and " + why
                        + ". Look at the data before the work is done again.",
                null,
                cause);
    }

    private UnfencedWriteException endedWithin(String verb, TransactionStatus status, @Nullable Throwable cause) {
        unfenced = true;
        String what = step + " on " + resource + " under " + tokens + " " + verb + " ended from within, by a ";
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
