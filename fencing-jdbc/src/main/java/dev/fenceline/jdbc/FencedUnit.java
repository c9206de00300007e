package dev.fenceline.jdbc;

import dev.fenceline.FencelineEvent.WriteOutcome;
import dev.fenceline.FencelineException;
import dev.fenceline.Work;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;

/**
 * One fenced transaction: enter, work, leave, commit.
 *
 * <p>The invariant is that this returns normally iff the transaction committed while the marks were ours. Entering locks them while they
 * equal our tokens, before the first statement of the work; the locks are kept until the end, so nobody can claim in between. Leaving
 * is the last statement: it fails where COMMIT would succeed without effect, or for another transaction than ours. A transaction that
 * only reads locks nothing and leaves nothing behind, and what it read is as of entering.
 */
final class FencedUnit<C> {

    private final ConnectionSource<C> source;
    private final FenceSettings settings;
    private final Claim<C> claim;
    private final Entry entry;
    private final Tokens tokens;
    private final String resource;
    private final Duration patience;
    private final TransactionGuard guard;
    private final Aftermath<C> aftermath;

    FencedUnit(ConnectionSource<C> source, FenceSettings settings, Claim<C> claim, Entry entry) {
        this.source = source;
        this.settings = settings;
        this.claim = claim;
        this.entry = entry;
        this.tokens = claim.presented();
        this.resource = tokens.resource();
        this.patience = claim.patience();
        this.guard = new TransactionGuard(resource);
        this.aftermath = new Aftermath<>(source, claim, patience, guard);
    }

    /** Watches over the connection that the work is given. */
    TransactionGuard guard() {
        return guard;
    }

    <T, X extends Exception> T run(Work<C, T, X> work) throws X {
        long begun = System.nanoTime();
        WriteOutcome outcome = WriteOutcome.ROLLED_BACK;
        try {
            T result = inSession(work);
            outcome = WriteOutcome.APPLIED;
            return result;
        } catch (FencelineException e) {
            outcome = WriteEnd.outcome(e);
            throw e;
        } finally {
            if (aftermath.isUnfenced()) {
                outcome = WriteOutcome.UNKNOWN;
            }
            // Reading ends no write, unless it is unknown what was written in between.
            if (entry != Entry.READING || outcome == WriteOutcome.UNKNOWN) {
                WriteEnd.tell(settings, tokens, outcome, begun);
            }
        }
    }

    private <T, X extends Exception> T inSession(Work<C, T, X> work) throws X {
        claim.refuseIfOvertaken();
        try (Session<C> session = open()) {
            session.restoreWith(guard::restore);
            Entering<C> entering = new Entering<>(session, settings, claim, entry, guard, aftermath, patience);
            begin(session);
            T result = runIn(session, entering, work);
            end(session, entering);
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

    private void begin(Session<C> session) {
        try {
            session.connection().setAutoCommit(false);
        } catch (SQLException e) {
            throw aftermath.lost(session, e);
        }
    }

    private <T, X extends Exception> T runIn(Session<C> session, Entering<C> entering, Work<C, T, X> work) throws X {
        guard.begin(entering);
        try {
            return work.with(session.context());
        } catch (Throwable escaped) {
            guard.end();
            Optional<FencelineException> ours = afterFailure(session, entering, escaped);
            if (ours.isPresent() && isDriverFailure(escaped)) {
                throw ours.get();
            }
            ours.filter(said -> said != escaped).ifPresent(escaped::addSuppressed);
            throw escaped;
        } finally {
            guard.end();
        }
    }

    /** The work threw, so nothing is to be committed; returns what there is to say about it beyond what it threw. */
    private Optional<FencelineException> afterFailure(Session<C> session, Entering<C> entering, Throwable escaped) {
        Optional<FencelineException> refusal = entering.refusal();
        if (refusal.isPresent()) {
            return refusal;
        }
        Optional<GuardSql.Entered> entered = entering.entered();
        Optional<SQLException> lost = guard.lost();
        if (lost.isPresent()) {
            return Optional.of(aftermath.lost(session, entered, isDriverFailure(escaped) ? escaped : lost.get()));
        }
        Optional<FencelineException> stray = aftermath.rollBack(session, entered, escaped);
        return stray.isPresent() || !isDriverFailure(escaped) ? stray : failedStatement(session, entered, escaped);
    }

    private Optional<FencelineException> failedStatement(
            Session<C> session, Optional<GuardSql.Entered> entered, Throwable said) {
        if (SqlFailure.has(said, SqlFailure.NOT_THE_MARK)) {
            return Optional.of(aftermath.judge(session, entered, said));
        }
        return SqlFailure.isRetryable(said)
                ? Optional.of(Refusals.conflict("Transaction", resource, SqlFailure.text(said), said))
                : Optional.empty();
    }

    private boolean isDriverFailure(Throwable escaped) {
        return source.driverFailure(escaped).filter(guard::threw).isPresent();
    }

    private void end(Session<C> session, Entering<C> entering) {
        entering.refusal().ifPresent(refusal -> {
            throw refusal;
        });
        Optional<GuardSql.Entered> entered = entering.entered();
        guard.lost().ifPresent(lost -> {
            throw aftermath.lost(session, entered, lost);
        });
        guard.refusal().ifPresent(refusal -> {
            throw aftermath.rollBack(session, entered, refusal).orElse(refusal);
        });
        guard.failure().ifPresent(failure -> {
            throw aftermath
                    .rollBack(session, entered, failure)
                    .orElseGet(() -> aftermath.swallowed(session, entered, failure));
        });
        // Work without a statement has not entered yet.
        GuardSql.Entered now = entering.enter();
        if (now.isReading()) {
            endReading(session, now);
        } else {
            commit(session, now);
        }
    }

    private void commit(Session<C> session, GuardSql.Entered entered) {
        UUID operation = UUID.randomUUID();
        try {
            limitNetwork(session);
            GuardSql.leave(session.connection(), operation, entered);
        } catch (SQLException e) {
            throw aftermath.notLeft(session, entered, e);
        }
        try {
            session.connection().commit();
        } catch (SQLException e) {
            if (SqlFailure.isRefusal(e, session.connection())) {
                throw aftermath.rolledBack(e, "the commit was refused");
            }
            aftermath.settle(session, operation, entered.at(), e);
        }
    }

    private void endReading(Session<C> session, GuardSql.Entered entered) {
        Connection connection = session.connection();
        if (!entered.hasSnapshot() || guard.mayBeEnded()) {
            try {
                limitNetwork(session);
                GuardSql.leaveReading(connection, tokens, entered);
            } catch (SQLException e) {
                throw aftermath.notLeft(session, entered, e);
            }
        }
        try {
            connection.commit();
        } catch (SQLException unanswered) {
            // There was nothing to be committed, and what was read stands.
        }
    }

    /** A server that waits for a lock gives up after our patience; one that is silent for longer is not there. */
    private void limitNetwork(Session<C> session) throws SQLException {
        session.limitNetwork(patience.plus(FenceSettings.NETWORK_ALLOWANCE));
    }
}
