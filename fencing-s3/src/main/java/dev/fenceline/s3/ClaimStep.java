package dev.fenceline.s3;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineEvent.ClaimEnded;
import dev.fenceline.FencelineEvent.ClaimOutcome;
import dev.fenceline.FencelineEvent.StaleRefused;
import dev.fenceline.FencingToken;
import dev.fenceline.Hold;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.TokenRejectedException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Raises the mark of an object to the token of a session: rewrites it as it is, under the new mark. That changes its ETag, and so kills every
 * write that was on its way to the version before.
 *
 * <p>A claim whose answer is lost is looked for and sent again; it is idempotent by holder. It never rewrites what is not its own to
 * kill a straggler, as a settlement does: the straggler could only be its own claim, and that may land.
 *
 * @param <P> what the documents hold
 */
final class ClaimStep<P> {

    private static final int MAX_RACES = 20;
    private static final int MAX_FAILURES = 3;
    private static final Duration FUTURE_BOUND = Duration.ofHours(25);

    private final Documents<P> documents;
    private final FenceSettings settings;
    private final String key;
    private final String resource;
    private final FencingToken token;
    private final @Nullable Hold lease;

    ClaimStep(Documents<P> documents, FenceSettings settings, String key, FencingToken token, @Nullable Hold lease) {
        this.documents = documents;
        this.settings = settings;
        this.key = key;
        this.resource = documents.store().resource(key);
        this.token = token;
        this.lease = lease;
    }

    /** Returns iff the mark is ours: the object as it stands. */
    Version<P> run() {
        long begun = System.nanoTime();
        ClaimOutcome outcome = ClaimOutcome.FAILED;
        try (Effort effort = Effort.of(Patience.of(lease), settings.requestTimeout())) {
            Version<P> version = admit(effort);
            outcome = ClaimOutcome.ADMITTED;
            return version;
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

    private Version<P> admit(Effort effort) {
        requireLease(null);
        int races = 0;
        int failures = 0;
        @Nullable RuntimeException failure = null;
        while (true) {
            try {
                Documents.Seen<P> seen = documents.look(key, effort);
                requireNotFromTheFuture(seen.date());
                if (seen.version().map(this::isOurs).orElse(false)) {
                    return seen.version().orElseThrow();
                }
                Document<P> claimed = seen.version()
                        .map(version -> version.document().claimedBy(token))
                        .orElseGet(this::first);
                requireLease(failure);
                Answer answer = documents.put(key, claimed, condition(seen), effort);
                if (answer instanceof Answer.Done done) {
                    return new Version<>(claimed, done.etag());
                }
                if (!(answer instanceof Answer.Unclear unclear)) {
                    races++;
                    if (races > MAX_RACES || effort.isOver()) {
                        throw Refusals.lostRaces(resource, token, races);
                    }
                    if (answer instanceof Answer.Conflict) {
                        effort.pause(0);
                    }
                    continue;
                }
                failure = unclear.cause();
            } catch (Unanswered e) {
                failure = e.failure();
            }
            failures++;
            if (failures >= MAX_FAILURES || effort.isOver() || !mayBeSentAgain()) {
                throw unanswered(failure);
            }
            effort.pause(failures);
        }
    }

    /** A claim after the deadline would only push a live holder aside. */
    private void requireLease(@Nullable RuntimeException earlier) {
        if (earlier != null) {
            if (!mayBeSentAgain()) {
                throw unanswered(earlier);
            }
        } else if (lease != null) {
            lease.requireHeld();
        }
    }

    private boolean mayBeSentAgain() {
        return lease == null || lease.isHeld();
    }

    private Document<P> first() {
        return new Document<>(
                Header.first(documents.format().kind(), token),
                documents.format().nothing(),
                documents.format().attributes());
    }

    private Condition condition(Documents.Seen<P> seen) {
        return seen.version()
                .map(version -> Condition.unchanged(version.etag()))
                .orElseGet(Condition::absent);
    }

    /** Throws if the mark refuses us. */
    private boolean isOurs(Version<P> version) {
        FencingToken mark = version.document().token();
        token.requireLock(mark.lock());
        if (mark.equals(token)) {
            return true;
        }
        if (mark.value() < token.value()) {
            return false;
        }
        settings.listener().tell(new StaleRefused(resource, token, mark));
        throw new StaleTokenException("Claim", resource, token, mark, null);
    }

    private void requireNotFromTheFuture(Optional<Instant> date) {
        Instant now = date.orElseThrow(() -> Refusals.noClock(resource));
        Duration ahead = Duration.between(now, Instant.EPOCH.plus(token.value(), ChronoUnit.MICROS));
        if (ahead.compareTo(FUTURE_BOUND) > 0) {
            throw TokenRejectedException.farFuture(resource, token, ahead, FUTURE_BOUND);
        }
    }

    private BackendUnavailableException unanswered(RuntimeException failure) {
        return Refusals.unanswered(
                "Claim of token " + token,
                resource,
                "The mark may have been raised, which does no harm: a claim is repeated with the same token while its lease"
                        + " runs, or the lock is acquired anew.",
                failure);
    }
}
