package dev.fenceline.jdbc;

import dev.fenceline.FencelineEvent.WriteOutcome;
import dev.fenceline.FencelineException;
import dev.fenceline.TransactionRolledBackException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;

/**
 * One transaction on a session: enters before its first statement, leaves with its last, and commits.
 *
 * <p>The invariant is that {@link #end} returns normally iff it committed while the marks were ours. Entering locks them while they
 * equal our tokens, before the first statement of the work; the locks are kept until the end, so nobody can claim in between. Leaving
 * is the last statement: it fails where COMMIT would succeed without effect, or for another transaction than ours. A transaction that
 * only reads locks nothing and leaves nothing behind, and what it read is as of entering.
 */
final class FencedTransaction<C> {

    private final FenceSettings settings;
    private final Claim<C> claim;
    private final Tokens tokens;
    private final Entry entry;
    private final Session<C> session;
    private final TransactionGuard guard;
    private final String step;
    private final ConnectionSource<C> source;
    private final Aftermath<C> aftermath;
    private final Entering<C> entering;
    private final long begunNanos = System.nanoTime();

    /**
     * Begins to watch; nothing is sent yet.
     *
     * @param step what it is called, as the subject of a sentence
     */
    FencedTransaction(
            ConnectionSource<C> source,
            FenceSettings settings,
            Claim<C> claim,
            Entry entry,
            Session<C> session,
            TransactionGuard guard,
            String step) {
        this.source = source;
        this.settings = settings;
        this.claim = claim;
        this.tokens = claim.presented();
        this.entry = entry;
        this.session = session;
        this.guard = guard;
        this.step = step;
        this.aftermath = new Aftermath<>(source, claim, this::patience, guard, step);
        this.entering = new Entering<>(session, settings, claim, entry, guard, aftermath, step);
        if (guard.hasIsolation()) {
            entering.isolationChosen();
        }
    }

    private Duration patience() {
        return entering.patience();
    }

    TransactionGuard guard() {
        return guard;
    }

    /** From now on the connection is the work's. */
    void begin() {
        guard.begin(entering);
    }

    /** Makes the driver begin one with the next statement. */
    void beginOnSession() {
        try {
            session.connection().setAutoCommit(false);
        } catch (SQLException e) {
            throw aftermath.lost(session, e);
        }
    }

    /** Why it could not enter. */
    Optional<FencelineException> refusal() {
        return entering.refusal();
    }

    /** Tells whether it keeps the marks, and with them whoever else wants them. */
    boolean isWriting() {
        return entering.entered().filter(entered -> !entered.isReading()).isPresent();
    }

    /** Tells whether something of it may have been committed outside of the fence. */
    boolean isUnfenced() {
        return aftermath.isUnfenced();
    }

    /** The work threw, so nothing is to be committed; returns what there is to say about it beyond what it threw. */
    Optional<FencelineException> failed(Throwable escaped) {
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
        return stray.isPresent() || !isDriverFailure(escaped) ? stray : failedStatement(entered, escaped);
    }

    private Optional<FencelineException> failedStatement(Optional<GuardSql.Entered> entered, Throwable said) {
        if (SqlFailure.has(said, SqlFailure.NOT_THE_MARK)) {
            return Optional.of(aftermath.judge(session, entered, said));
        }
        return SqlFailure.isRetryable(said)
                ? Optional.of(Refusals.conflict(step, tokens.resource(), SqlFailure.text(said), said))
                : Optional.empty();
    }

    /** Tells whether it is the driver's own exception, and of this transaction, that escaped from the work. */
    boolean isDriverFailure(Throwable escaped) {
        return source.driverFailure(escaped).filter(guard::threw).isPresent();
    }

    /** Rolls back because the work says so; returns what is to be said if it was ended before. */
    Optional<FencelineException> rollBack() {
        return aftermath.rollBack(session, entering.entered(), null);
    }

    /** Leaves and commits. */
    void end() {
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
        try {
            guard.inner().ifPresent(inner -> inner.requireCommitted(tokens));
        } catch (TransactionRolledBackException undone) {
            throw aftermath.rollBack(session, entered, undone).orElse(undone);
        }
        // Work without a statement has not entered yet.
        GuardSql.Entered now = entering.enter();
        if (now.isReading()) {
            endReading(now);
        } else {
            commit(now);
        }
    }

    private void commit(GuardSql.Entered entered) {
        UUID operation = UUID.randomUUID();
        try {
            limitNetwork();
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
        claim.countCommitted();
    }

    private void endReading(GuardSql.Entered entered) {
        Connection connection = session.connection();
        if (!entered.hasSnapshot() || guard.mayBeEnded()) {
            try {
                limitNetwork();
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
    private void limitNetwork() throws SQLException {
        session.limitNetwork(entering.patience().plus(FenceSettings.NETWORK_ALLOWANCE));
    }

    /** Tells the listener how it ended. */
    void tell(WriteOutcome outcome) {
        WriteOutcome told = aftermath.isUnfenced() ? WriteOutcome.UNKNOWN : outcome;
        if (told == WriteOutcome.UNKNOWN) {
            claim.countUnsettled();
        }
        // Reading ends no write, unless it is unknown what was written in between.
        if (entry != Entry.READING || told == WriteOutcome.UNKNOWN) {
            WriteEnd.tell(settings, tokens, told, begunNanos);
        }
    }
}
