package dev.fenceline.jdbc;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineEvent.BlockerEvicted;
import dev.fenceline.FencelineEvent.ClaimEnded;
import dev.fenceline.FencelineEvent.ClaimOutcome;
import dev.fenceline.FencelineEvent.StaleRefused;
import dev.fenceline.FencelineException;
import dev.fenceline.FencingToken;
import dev.fenceline.Hold;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.TokenRejectedException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Raises the marks to the tokens of a session, all or none, in a transaction of its own that is committed before anything is read.
 *
 * <p>The claim is idempotent by holder, so where its reply is lost, and where a stricter default isolation makes it fail, it is
 * simply sent again.
 */
final class ClaimStep<C> {

    private static final int MAX_CONNECTIONS = 3;
    private static final int MAX_CONFLICTS = 20;
    private static final int MAX_EVICTIONS = 20;
    private static final Duration FUTURE_BOUND = Duration.ofHours(25);

    private final ConnectionSource<C> source;
    private final FenceSettings settings;
    private final Tokens tokens;
    private final String resource;
    private final @Nullable Hold lease;
    private boolean evicted;

    ClaimStep(ConnectionSource<C> source, FenceSettings settings, Tokens tokens, @Nullable Hold lease) {
        this.source = source;
        this.settings = settings;
        this.tokens = tokens;
        this.resource = tokens.resource();
        this.lease = lease;
    }

    /** Returns iff the marks are ours: when they were claimed, by the server's clock. */
    OffsetDateTime run() {
        long begun = System.nanoTime();
        ClaimOutcome outcome = ClaimOutcome.FAILED;
        try {
            OffsetDateTime at = admit();
            outcome = ClaimOutcome.ADMITTED;
            return at;
        } catch (StaleTokenException e) {
            outcome = ClaimOutcome.STALE;
            throw e;
        } catch (RetryableConflictException e) {
            outcome = ClaimOutcome.TIMED_OUT;
            throw e;
        } finally {
            Duration took = Duration.ofNanos(System.nanoTime() - begun);
            for (FencingToken token : tokens.all()) {
                settings.listener().tell(new ClaimEnded(Refusals.resource(token.lock()), token, outcome, took));
            }
        }
    }

    private OffsetDateTime admit() {
        if (lease != null) {
            // Nothing was sent yet: a claim after the deadline would only push a live holder aside.
            lease.requireHeld();
        }
        int connections = 0;
        while (true) {
            connections++;
            try (Session<C> session = open(connections)) {
                Optional<GuardSql.Claimed> claimed = send(session, connections);
                if (claimed.isPresent()) {
                    return claimed.get().at();
                }
            }
        }
    }

    private Session<C> open(int connections) {
        try {
            return source.open(new TransactionGuard(resource));
        } catch (SQLException e) {
            throw connections == 1 ? Refusals.notOpened("Claim", resource, e) : unanswered(e);
        }
    }

    /** Returns empty when the reply was lost and the claim is to be sent again on a fresh connection. */
    private Optional<GuardSql.Claimed> send(Session<C> session, int connections) {
        Connection connection = session.connection();
        for (int conflicts = 0; ; conflicts++) {
            Duration timeout = timeout();
            try {
                session.limitNetwork(timeout.plus(FenceSettings.NETWORK_ALLOWANCE));
                connection.setAutoCommit(true);
                GuardSql.Claimed claimed = GuardSql.claim(connection, tokens, timeout);
                UnsafeSettings.tellOnce(settings.listener(), connection, claimed.fsync());
                return Optional.of(claimed);
            } catch (SQLException e) {
                if (SqlFailure.isConnectionLost(e, connection)) {
                    if (connections < MAX_CONNECTIONS && mayBeSentAgain()) {
                        return Optional.empty();
                    }
                    throw unanswered(e);
                }
                boolean again = SqlFailure.isRetryable(e) && !SqlFailure.isTimeout(e) && conflicts < MAX_CONFLICTS;
                if (!again && !endsBlockers(session, e, timeout)) {
                    throw refused(e, connection, timeout);
                }
            }
        }
    }

    private boolean mayBeSentAgain() {
        return lease == null || lease.isHeld();
    }

    /**
     * Ends who has kept us out for the whole timeout, once; on this connection, since a pool may have no other. Returns whether the
     * claim is to be sent once more.
     */
    private boolean endsBlockers(Session<C> session, SQLException timedOut, Duration waited) {
        boolean asked = SqlFailure.has(timedOut, SqlFailure.LOCK_TIMEOUT)
                && settings.has(FenceSettings.Choice.EVICT_BLOCKERS)
                && mayBeSentAgain();
        if (!asked || evicted) {
            return false;
        }
        try {
            for (int i = 0; i < MAX_EVICTIONS; i++) {
                Optional<Blockers.Ended> ended = Blockers.endOne(session.connection(), tokens, waited);
                if (ended.isEmpty()) {
                    return evicted;
                }
                Blockers.Ended blocker = ended.get();
                evicted = true;
                FencingToken token = tokens.of(blocker.lock());
                settings.listener()
                        .tell(new BlockerEvicted(
                                Refusals.resource(token.lock()), token, blocker.pid(), blocker.applicationName()));
                if (!blocker.isGone()) {
                    return true;
                }
            }
        } catch (SQLException e) {
            timedOut.addSuppressed(e);
        }
        return evicted;
    }

    private FencelineException refused(SQLException e, Connection connection, Duration timeout) {
        if (SqlFailure.isTimeout(e) || SqlFailure.isRetryable(e)) {
            return new RetryableConflictException(
                    "Claim of " + tokens + " on " + resource + " " + conflict(e, connection, timeout)
                            + ". Nothing happened. While the lease runs, claim again with the same token.",
                    e);
        }
        // Which lock it is, by its number; then what is to be said of it.
        List<String> detail =
                SqlFailure.detail(e).map(text -> List.of(text.split(" "))).orElse(List.of());
        if (SqlFailure.has(e, SqlFailure.NOT_THE_MARK) && detail.size() == 3) {
            FencingToken token = token(detail);
            return stale(new FencingToken(token.lock(), Long.parseLong(detail.get(1)), UUID.fromString(detail.get(2))));
        }
        if (SqlFailure.has(e, SqlFailure.FAR_FUTURE) && detail.size() == 2) {
            FencingToken token = token(detail);
            Duration ahead = Duration.of(Long.parseLong(detail.get(1)), ChronoUnit.MICROS);
            return TokenRejectedException.farFuture(Refusals.resource(token.lock()), token, ahead, FUTURE_BOUND);
        }
        return Refusals.refused("Claim", resource, e, connection);
    }

    private FencingToken token(List<String> detail) {
        return tokens.all().get(Integer.parseInt(detail.get(0)) - 1);
    }

    private StaleTokenException stale(FencingToken newest) {
        FencingToken token = tokens.of(newest.lock());
        String guard = Refusals.resource(token.lock());
        settings.listener().tell(new StaleRefused(guard, token, newest));
        return new StaleTokenException("Claim", guard, token, newest, null);
    }

    private String conflict(SQLException e, Connection connection, Duration timeout) {
        if (SqlFailure.has(e, SqlFailure.LOCK_TIMEOUT)) {
            return "was blocked for longer than " + timeout.toMillis() + " ms, by " + Blockers.names(connection, tokens)
                    + notEnded();
        }
        return SqlFailure.isTimeout(e)
                ? "was cancelled before its own timeout of " + timeout.toMillis() + " ms: " + SqlFailure.text(e)
                : "lost " + (MAX_CONFLICTS + 1) + " races in a row: " + SqlFailure.text(e);
    }

    private String notEnded() {
        if (!settings.has(FenceSettings.Choice.EVICT_BLOCKERS) || evicted) {
            return "";
        }
        return ". evictBlockers has ended no session. It ends those that keep the mark under an older token, began their"
                + " transaction before this wait, and belong to a role that ours may end";
    }

    private Duration timeout() {
        return settings.claimTimeout().orElseGet(() -> Patience.of(lease));
    }

    private BackendUnavailableException unanswered(SQLException cause) {
        return Refusals.lost(
                "Claim of " + tokens,
                resource,
                "No answer came, so the mark may have been raised, which does no harm: a claim is repeated with the same"
                        + " token while its lease runs, or the lock is acquired anew.",
                cause);
    }
}
