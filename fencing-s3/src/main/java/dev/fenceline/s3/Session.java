package dev.fenceline.s3;

import dev.fenceline.FencelineEvent.ReadBack;
import dev.fenceline.FencelineEvent.StaleRefused;
import dev.fenceline.FencelineEvent.WriteEnded;
import dev.fenceline.FencelineEvent.WriteOutcome;
import dev.fenceline.FencelineException;
import dev.fenceline.FencingToken;
import dev.fenceline.Hold;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.OutcomeUnknownException.Resolution;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.UnfencedWriteException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A claimed object as one session knows it. Each write is on the condition that the object still is what this session saw last, by
 * its claim, its last look or its own last write; so nothing that it has not seen is ever replaced.
 *
 * @param <P> what the documents hold
 */
final class Session<P> {

    /** How often a change is computed anew because another session of the same claim was faster. */
    private static final int MAX_CHANGES = 20;

    private final Documents<P> documents;
    private final FenceSettings settings;
    private final String key;
    private final String resource;
    private final FencingToken token;
    private final @Nullable Hold lease;
    private final ReentrantLock oneAtATime = new ReentrantLock();
    private Version<P> current;
    private Sight sight = Sight.CLEAR;
    private volatile @Nullable FencingToken overtakenBy;
    private volatile boolean ended;

    /** Whether what this session saw last may be written over. */
    private enum Sight {
        /** It may, as far as this session knows. */
        CLEAR,
        /** Another session has written since. */
        OVERTAKEN,
        /** A write of this session may have happened or not. */
        UNKNOWN
    }

    Session(
            Documents<P> documents,
            FenceSettings settings,
            String key,
            FencingToken token,
            @Nullable Hold lease,
            Version<P> claimed) {
        this.documents = documents;
        this.settings = settings;
        this.key = key;
        this.resource = documents.store().resource(key);
        this.token = token;
        this.lease = lease;
        this.current = claimed;
    }

    FencingToken token() {
        return token;
    }

    String key() {
        return key;
    }

    String resource() {
        return resource;
    }

    /** Does what nobody else of this session may do at the same time. */
    <T> T alone(Supplier<T> step) {
        oneAtATime.lock();
        try {
            return step.get();
        } finally {
            oneAtATime.unlock();
        }
    }

    /**
     * Looks at the object. What is written next may be based on that, but only if the caller was given it: what fails on its way out was
     * not seen.
     */
    <T> T read(Function<Version<P>, T> content) {
        return alone(() -> {
            Version<P> seen = look("Read");
            T given = content.apply(seen);
            isCurrent(seen);
            return given;
        });
    }

    /** Replaces what this session saw last. */
    void write(String step, UnaryOperator<Document<P>> change) {
        alone(() -> {
            requireOpen(step);
            if (sight != Sight.CLEAR) {
                look(step);
                throw sight == Sight.UNKNOWN
                        ? Refusals.afterUnknown(step, resource, token)
                        : Refusals.overtakenByOwnClaim(step, resource, token, null);
            }
            Version<P> base = current;
            return timed(() -> replace(step, base, change.apply(base.document())));
        });
    }

    /** Replaces what stands there, and computes anew when another session of this claim has replaced it meanwhile. */
    void update(String step, UnaryOperator<Document<P>> change) {
        alone(() -> {
            for (int i = 1; ; i++) {
                requireOpen(step);
                Version<P> base = sight == Sight.CLEAR ? current : look(step);
                Document<P> next = change.apply(base.document());
                try {
                    return timed(() -> replace(step, base, next));
                } catch (RetryableConflictException e) {
                    if (i == MAX_CHANGES) {
                        throw e;
                    }
                }
            }
        });
    }

    /**
     * Replaces what the change was computed from, and not what this session saw last: whoever computes may use this session again, and
     * then the two differ.
     */
    private boolean replace(String step, Version<P> base, Document<P> next) {
        ConditionalWrite.Outcome<P> outcome =
                new ConditionalWrite<>(documents, key, settings.requestTimeout(), lease).run(base, next);
        RuntimeException failure = outcome.failure().orElse(null);
        Verdict<P> verdict = outcome.verdict();
        outcome.settlement().ifPresent(settlement -> tell(settlement, verdict));
        sight = verdict instanceof Verdict.Unknown<P> ? Sight.UNKNOWN : Sight.OVERTAKEN;
        if (verdict instanceof Verdict.Applied<P> applied) {
            applied.version().ifPresent(this::isCurrent);
            return true;
        }
        if (verdict instanceof Verdict.Never<P> never) {
            requireOurs(step, never.now(), failure);
            if (never.bumped() == Verdict.Bump.NONE) {
                throw Refusals.overtakenByOwnClaim(step, resource, token, failure);
            }
            isCurrent(never.now());
            throw Refusals.notDone(step, resource, token, failure);
        }
        if (verdict instanceof Verdict.Unknown<P> unknown) {
            throw unknown(step, unknown, outcome.settlement().orElseThrow());
        }
        throw Refusals.notClaimed(resource, token, Optional.empty());
    }

    private void isCurrent(Version<P> version) {
        current = version;
        sight = Sight.CLEAR;
    }

    private OutcomeUnknownException unknown(String step, Verdict.Unknown<P> unknown, Settlement<P> settlement) {
        OutcomeUnknownException.Resolver resolver =
                unknown.outlook() == Verdict.Outlook.OPEN ? () -> resolve(step, settlement) : null;
        return Refusals.unknown(
                step, resource, unknown.why(), resolver, unknown.cause().orElse(null));
    }

    private Resolution resolve(String step, Settlement<P> settlement) {
        return alone(() -> {
            try (Effort effort = Effort.of(Patience.of(lease), settings.requestTimeout())) {
                Verdict<P> verdict = settlement.run(effort);
                tell(settlement, verdict);
                return resolution(step, settlement, verdict);
            }
        });
    }

    private void tell(Settlement<P> settlement, Verdict<P> verdict) {
        settings.listener().tell(new ReadBack(resource, token, settlement.rounds(), verdict.resolution()));
    }

    /** What stands there is known again if it is that write, or what it was to replace. Else the session may have gone on, and goes on. */
    private Resolution resolution(String step, Settlement<P> settlement, Verdict<P> verdict) {
        if (verdict instanceof Verdict.Unknown<P> unknown) {
            throw unknown(step, unknown, settlement);
        }
        if (verdict instanceof Verdict.Applied<P> applied) {
            applied.version().ifPresent(this::isCurrent);
            return Resolution.APPLIED;
        }
        if (verdict instanceof Verdict.Never<P> never && never.bumped() == Verdict.Bump.OURS) {
            isCurrent(never.now());
        }
        return Resolution.NEVER_APPLIED;
    }

    /** Looks at the object, and whether the mark is ours; what is written next does not yet rest on that. */
    Version<P> look(String step) {
        requireOpen(step);
        Version<P> seen;
        try (Effort effort = Effort.of(Patience.of(lease), settings.requestTimeout())) {
            seen = documents
                    .look(key, effort)
                    .version()
                    .orElseThrow(() -> Refusals.notClaimed(resource, token, Optional.empty()));
        } catch (Unanswered e) {
            throw Refusals.unanswered(step, resource, "Nothing happened; try again.", e.failure());
        }
        requireOurs(step, seen, null);
        return seen;
    }

    void requireOurs(String step, Version<P> seen, @Nullable RuntimeException failure) {
        FencingToken mark = seen.document().token();
        if (mark.equals(token)) {
            return;
        }
        token.requireLock(mark.lock());
        if (mark.value() < token.value()) {
            throw Refusals.notClaimed(resource, token, Optional.of(mark));
        }
        if (overtakenBy == null) {
            overtakenBy = mark;
            settings.listener().tell(new StaleRefused(resource, token, mark));
        }
        throw new StaleTokenException(step, resource, token, mark, failure);
    }

    /** A stale session is over: marks only rise, so asking again could only give the same answer. */
    void requireNotOvertaken(String step) {
        FencingToken newest = overtakenBy;
        if (newest != null) {
            throw new StaleTokenException(step, resource, token, newest, null);
        }
    }

    private void requireOpen(String step) {
        if (ended) {
            throw new UnfencedWriteException(
                    step + " on " + resource
                            + " refused: the work that this claim was made for has ended, and its lock is released. Nothing was"
                            + " sent. Do everything inside of the work, or claim with a lease of your own.",
                    null);
        }
        requireNotOvertaken(step);
    }

    /** From now on the claim is of no use. */
    void end() {
        ended = true;
    }

    private boolean timed(Supplier<Boolean> write) {
        long begun = System.nanoTime();
        WriteOutcome outcome = WriteOutcome.ROLLED_BACK;
        try {
            boolean done = write.get();
            outcome = WriteOutcome.APPLIED;
            return done;
        } catch (FencelineException e) {
            outcome = outcome(e);
            throw e;
        } finally {
            settings.listener()
                    .tell(new WriteEnded(resource, token, outcome, Duration.ofNanos(System.nanoTime() - begun)));
        }
    }

    private static WriteOutcome outcome(FencelineException e) {
        if (e instanceof StaleTokenException) {
            return WriteOutcome.STALE;
        }
        if (e instanceof OutcomeUnknownException) {
            return WriteOutcome.UNKNOWN;
        }
        return e instanceof RetryableConflictException ? WriteOutcome.RETRYABLE : WriteOutcome.ROLLED_BACK;
    }
}
