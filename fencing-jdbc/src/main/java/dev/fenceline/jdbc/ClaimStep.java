package dev.fenceline.jdbc;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.FencelineEvent.ClaimEnded;
import dev.fenceline.FencelineEvent.ClaimOutcome;
import dev.fenceline.FencelineEvent.StaleRefused;
import dev.fenceline.FencelineEvent.UnsafeSetting;
import dev.fenceline.FencelineException;
import dev.fenceline.FencingToken;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.TokenRejectedException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Raises the mark to a token, in a transaction of its own that is committed before anything is read.
 *
 * <p>The claim is idempotent by holder, so where its reply is lost, and where a stricter default isolation makes it fail, it is
 * simply sent again.
 */
final class ClaimStep<C> {

    private static final int MAX_CONNECTIONS = 3;
    private static final int MAX_CONFLICTS = 20;
    private static final Duration FUTURE_BOUND = Duration.ofHours(25);

    private final ConnectionSource<C> source;
    private final FenceSettings settings;
    private final AtomicBoolean settingsTold;
    private final FencingToken token;
    private final String resource;
    private final @Nullable FencedLease lease;

    ClaimStep(
            ConnectionSource<C> source,
            FenceSettings settings,
            AtomicBoolean settingsTold,
            FencingToken token,
            @Nullable FencedLease lease) {
        this.source = source;
        this.settings = settings;
        this.settingsTold = settingsTold;
        this.token = token;
        this.resource = Refusals.resource(token.lock());
        this.lease = lease;
    }

    /** Returns normally iff the mark is ours. */
    void run() {
        long begun = System.nanoTime();
        ClaimOutcome outcome = ClaimOutcome.FAILED;
        try {
            admit();
            outcome = ClaimOutcome.ADMITTED;
        } catch (StaleTokenException e) {
            outcome = ClaimOutcome.STALE;
            throw e;
        } catch (RetryableConflictException e) {
            outcome = ClaimOutcome.TIMED_OUT;
            throw e;
        } finally {
            settings.listener()
                    .tell(new ClaimEnded(resource, token, outcome, Duration.ofNanos(System.nanoTime() - begun)));
        }
    }

    private void admit() {
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
                    judge(claimed.get());
                    return;
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
        Duration timeout = timeout();
        for (int conflicts = 0; ; conflicts++) {
            try {
                session.limitNetwork(timeout.plus(FenceSettings.NETWORK_ALLOWANCE));
                connection.setAutoCommit(true);
                GuardSql.Claimed claimed = GuardSql.claim(connection, token, timeout);
                tellSettings(connection, claimed);
                return Optional.of(claimed);
            } catch (SQLException e) {
                if (SqlFailure.isConnectionLost(e, connection)) {
                    if (connections < MAX_CONNECTIONS && (lease == null || lease.isHeld())) {
                        return Optional.empty();
                    }
                    throw unanswered(e);
                }
                boolean again = SqlFailure.isRetryable(e) && !SqlFailure.isTimeout(e) && conflicts < MAX_CONFLICTS;
                if (!again) {
                    throw refused(e, connection, timeout);
                }
            }
        }
    }

    private FencelineException refused(SQLException e, Connection connection, Duration timeout) {
        if (SqlFailure.isTimeout(e) || SqlFailure.isRetryable(e)) {
            return new RetryableConflictException(
                    "Claim of token " + token + " on " + resource + " " + conflict(e, connection, timeout)
                            + ". Nothing happened. While the lease runs, claim again with the same token.",
                    e);
        }
        if (SqlFailure.has(e, SqlFailure.FAR_FUTURE)) {
            Duration ahead = SqlFailure.detail(e)
                    .map(micros -> Duration.of(Long.parseLong(micros), ChronoUnit.MICROS))
                    .orElse(FUTURE_BOUND);
            return TokenRejectedException.farFuture(resource, token, ahead, FUTURE_BOUND);
        }
        return Refusals.refused("Claim", resource, e, connection);
    }

    private String conflict(SQLException e, Connection connection, Duration timeout) {
        if (SqlFailure.has(e, SqlFailure.LOCK_TIMEOUT)) {
            return "was blocked for longer than " + timeout.toMillis() + " ms, by " + blocker(connection);
        }
        return SqlFailure.isTimeout(e)
                ? "was cancelled before its own timeout of " + timeout.toMillis() + " ms: " + SqlFailure.text(e)
                : "lost " + (MAX_CONFLICTS + 1) + " races in a row: " + SqlFailure.text(e);
    }

    private void judge(GuardSql.Claimed claimed) {
        if (!claimed.admitted()) {
            settings.listener().tell(new StaleRefused(resource, token, claimed.newest()));
            throw new StaleTokenException("Claim", resource, token, claimed.newest(), null);
        }
    }

    private Duration timeout() {
        return settings.claimTimeout().orElseGet(() -> Patience.of(lease));
    }

    private String blocker(Connection connection) {
        try {
            return GuardSql.blocker(connection, token.lock()).orElse("a transaction that has ended meanwhile");
        } catch (SQLException unanswered) {
            return "a transaction that could not be looked up (" + SqlFailure.text(unanswered) + ")";
        }
    }

    private BackendUnavailableException unanswered(SQLException cause) {
        return Refusals.lost(
                "Claim of token " + token,
                resource,
                "No answer came, so the mark may have been raised, which does no harm: a claim is repeated with the same"
                        + " token while its lease runs, or the lock is acquired anew.",
                cause);
    }

    private void tellSettings(Connection connection, GuardSql.Claimed claimed) throws SQLException {
        if (claimed.fsync().equals("off") && settingsTold.compareAndSet(false, true)) {
            String url = connection.getMetaData().getURL();
            int parameters = url.indexOf('?');
            settings.listener()
                    .tell(new UnsafeSetting(
                            "PostgreSQL at " + (parameters < 0 ? url : url.substring(0, parameters)),
                            "fsync = off",
                            "a crash of its machine can lose marks and corrupt data; for throw-away databases only"));
        }
    }
}
