package dev.fenceline.jdbc;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.FencelineEvent.ClaimEnded;
import dev.fenceline.FencelineEvent.ClaimOutcome;
import dev.fenceline.FencelineException;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.StaleTokenException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Raises the mark of a row and reads the row, in one statement that commits by itself.
 *
 * <p>Claim and read may be one step here, and only here, because the mark is in the row: RETURNING gives the version that was locked,
 * not one of an older snapshot. Where there is no row there is nothing to return, and the guard's mark rules. It is raised alone and
 * committed before the row is looked for again: whoever inserts the row later must pass that mark, and whoever inserted it earlier
 * held the guard until it was committed. In one statement the second look would have the snapshot of the first, and miss that row.
 *
 * <p>The claim is idempotent by holder, so where its reply is lost, and where a stricter default isolation makes it fail, it is
 * simply sent again.
 */
final class RowClaimStep<C, R> {

    private static final int MAX_CONNECTIONS = 3;
    private static final int MAX_CONFLICTS = 20;
    private static final String STEP = "Claim";

    private record Claimed<R>(Optional<R> row) {}

    private final RowEngine<C> engine;
    private final RowSession session;
    private final RowTarget target;
    private final RowRunner.Reading<C, R> reading;

    RowClaimStep(RowEngine<C> engine, RowSession session, RowRunner.Reading<C, R> reading) {
        this.engine = engine;
        this.session = session;
        this.target = session.target();
        this.reading = reading;
    }

    /** Returns the row under our mark; empty if there is none, and the guard's mark is ours. */
    Optional<R> run() throws StatementFailed {
        OpenTransactions.requireNone(engine.source(), Tokens.of(target.token()), "Claim");
        long begun = System.nanoTime();
        ClaimOutcome outcome = ClaimOutcome.FAILED;
        try {
            Optional<R> row = admit();
            session.acknowledged();
            outcome = ClaimOutcome.ADMITTED;
            return row;
        } catch (StaleTokenException e) {
            outcome = ClaimOutcome.STALE;
            throw e;
        } catch (RetryableConflictException e) {
            outcome = ClaimOutcome.TIMED_OUT;
            throw e;
        } finally {
            Duration took = Duration.ofNanos(System.nanoTime() - begun);
            engine.settings().listener().tell(new ClaimEnded(target.resource(), target.token(), outcome, took));
        }
    }

    private Optional<R> admit() throws StatementFailed {
        FencedLease lease = session.lease();
        if (lease != null) {
            // Nothing was sent yet: a claim after the deadline would only push a live holder aside.
            lease.requireHeld();
        }
        int connections = 0;
        while (true) {
            connections++;
            try (Session<C> open = open(connections)) {
                Optional<Claimed<R>> claimed = claim(open, connections);
                if (claimed.isPresent()) {
                    return claimed.get().row();
                }
            }
        }
    }

    private Session<C> open(int connections) {
        try {
            return engine.open(STEP, target);
        } catch (BackendUnavailableException e) {
            throw connections == 1 ? e : unanswered(e);
        }
    }

    /** Returns empty when the reply was lost and the claim is to be sent again on a fresh connection. */
    private Optional<Claimed<R>> claim(Session<C> open, int connections) throws StatementFailed {
        Connection connection = open.connection();
        Duration timeout = engine.claimTimeout(session);
        long deadline = System.nanoTime() + timeout.toNanos();
        for (int conflicts = 0; ; conflicts++) {
            try {
                return Optional.of(new Claimed<>(claimRow(open, deadline)));
            } catch (SQLException e) {
                if (!SqlFailure.isConnectionLost(e, connection)) {
                    throw engine.aside(STEP, target, e, connection);
                }
                requireAnother(connections, e);
                return Optional.empty();
            } catch (StatementFailed failed) {
                SQLException said = failed.said();
                if (SqlFailure.isConnectionLost(said, connection)) {
                    requireAnother(connections, said);
                    return Optional.empty();
                }
                boolean again =
                        SqlFailure.isRetryable(said) && !SqlFailure.isTimeout(said) && conflicts < MAX_CONFLICTS;
                if (!again) {
                    throw refusal(failed, connection, timeout);
                }
            }
        }
    }

    private Optional<R> claimRow(Session<C> open, long deadline) throws StatementFailed, SQLException {
        Connection connection = open.connection();
        for (int looks = 0; looks < MAX_CONFLICTS; looks++) {
            Optional<R> row = raiseRow(open, deadline);
            if (row.isEmpty()) {
                raiseGuard(connection, deadline);
                row = raiseRow(open, deadline);
            }
            if (row.isPresent()) {
                return row;
            }
            RowMark mark = RowMark.read(connection, engine.plain(connection), List.of(target))
                    .get(0);
            Optional<FencelineException> stale = RowVerdict.stale(STEP, session, mark, null);
            if (stale.isPresent()) {
                throw stale.get();
            }
            if (!mark.exists() && mark.of(target.token()) == Mark.Standing.MINE) {
                return Optional.empty();
            }
        }
        throw RowRefusals.conflict(
                STEP, target, "the row came and went " + MAX_CONFLICTS + " times while it was claimed", null);
    }

    private Optional<R> raiseRow(Session<C> open, long deadline) throws StatementFailed, SQLException {
        return reading.read(
                open.context(), engine.prepare(open, until(deadline)).claim(target));
    }

    /** The statements of a claim share its timeout, though the server limits each wait by itself. */
    private static Duration until(long deadline) {
        return Duration.ofNanos(Math.max(1, deadline - System.nanoTime()));
    }

    private void raiseGuard(Connection connection, long deadline) throws StatementFailed {
        try (PreparedStatement raise = JdbcRunner.prepare(
                connection, engine.plain(connection, until(deadline)).raiseGuard(target))) {
            raise.execute();
        } catch (SQLException e) {
            throw new StatementFailed(e, e);
        }
    }

    private void requireAnother(int connections, SQLException lost) {
        FencedLease lease = session.lease();
        if (connections >= MAX_CONNECTIONS || (lease != null && !lease.isHeld())) {
            throw unanswered(lost);
        }
    }

    private FencelineException refusal(StatementFailed failed, Connection connection, Duration timeout)
            throws StatementFailed {
        SQLException said = failed.said();
        if (SqlFailure.isRetryable(said) || SqlFailure.isTimeout(said)) {
            return new RetryableConflictException(
                    "Claim of token " + target.token() + " on " + target.resource() + " "
                            + conflict(said, connection, timeout)
                            + ". Nothing happened. While the lease runs, claim again with the same token.",
                    said);
        }
        Optional<FencelineException> ofServer = RowRefusals.ofServer(STEP, target, said, connection);
        if (ofServer.isPresent()) {
            return ofServer.get();
        }
        engine.explain(RowRights.toClaim(STEP), STEP, target, said, connection);
        throw failed;
    }

    private String conflict(SQLException said, Connection connection, Duration timeout) {
        if (SqlFailure.has(said, SqlFailure.LOCK_TIMEOUT)) {
            return "was blocked for longer than " + timeout.toMillis() + " ms, by "
                    + RowBlocker.of(connection, engine, List.of(session));
        }
        return SqlFailure.isTimeout(said)
                ? "was cancelled before its own timeout of " + timeout.toMillis() + " ms: " + SqlFailure.text(said)
                : "lost " + (MAX_CONFLICTS + 1) + " races in a row: " + SqlFailure.text(said);
    }

    private BackendUnavailableException unanswered(Exception cause) {
        return Refusals.lost(
                "Claim of token " + target.token(),
                target.resource(),
                "No answer came, so the mark may have been raised, which does no harm: a claim is repeated with the same"
                        + " token while its lease runs, or the lock is acquired anew.",
                cause);
    }
}
