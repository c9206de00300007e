package dev.fenceline.s3;

import dev.fenceline.BackendMisconfiguredException;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Finds out what became of a write whose answer does not say it, and makes the finding final.
 *
 * <p>Each write names itself in its bytes, and the object lists the last ones that were replaced. So a look at the object tells. Ours is
 * current or listed: it happened. What it was to replace is listed and ours is not: something else replaced that, its ETag will never
 * be seen again, and ours can never land. What it was to replace still stands: ours may be on its way, held up in some queue, and land
 * after the verdict. Then the object is rewritten as it is, under a new id, on the same condition; of the two only one can succeed,
 * and the next look tells which.
 *
 * <p>That rewriting is for the holder of the mark alone, and what stands there is its own: it was the base of its write.
 *
 * @param <P> what the documents hold
 */
final class Settlement<P> {

    private static final int ROUNDS = 3;
    private static final String LOOK = "a look at the object failed: ";
    private static final String FOREIGN =
            "something else wrote this key, past the fence, and what stands there does not tell: ";
    private static final String BUMP =
            "the object could not be rewritten, to make sure that it does not happen later: ";

    private final Documents<P> documents;
    private final String key;
    private final UUID base;
    private final UUID written;
    private final Set<UUID> bumps = new HashSet<>();
    private final boolean inDoubt;
    private Optional<RuntimeException> last;
    private String why = "there was no time left to look";
    private Verdict.Outlook outlook = Verdict.Outlook.OPEN;
    private int rounds;

    /**
     * Begins with an answer that is not {@link Answer.Done}.
     *
     * @param base what the write was to replace
     * @param written the write
     */
    Settlement(Documents<P> documents, String key, Header base, Header written, Answer answer) {
        this.documents = documents;
        this.key = key;
        this.base = base.writeId();
        this.written = written.writeId();
        this.last = answer.failure();
        this.inDoubt = answer.isInDoubt();
    }

    /** Looks, and rewrites where it has to, three times at most. May be called again. */
    Verdict<P> run(Effort effort) {
        rounds = 0;
        for (int round = 1; round <= ROUNDS && !effort.isOver(); round++) {
            if (round > 1) {
                effort.pause(round - 2);
            }
            rounds = round;
            Optional<Verdict<P>> verdict = attempt(effort);
            if (verdict.isPresent()) {
                return verdict.get();
            }
            if (last.filter(Failures::isClosed).isPresent()) {
                outlook = Verdict.Outlook.CLOSED;
                break;
            }
        }
        return new Verdict.Unknown<>(why, last, outlook);
    }

    /** How often the last run has looked. */
    int rounds() {
        return rounds;
    }

    private void failed(String step, RuntimeException failure) {
        why = step + Failures.text(failure);
        last = Optional.of(failure);
        outlook = step.equals(FOREIGN) ? Verdict.Outlook.CLOSED : Verdict.Outlook.OPEN;
    }

    private Optional<Verdict<P>> attempt(Effort effort) {
        Optional<Version<P>> seen;
        try {
            seen = documents.look(key, effort).version();
        } catch (Unanswered e) {
            failed(LOOK, e.failure());
            return Optional.empty();
        } catch (BackendMisconfiguredException e) {
            RuntimeException said = unlessItSettles(e);
            failed(said instanceof IllegalArgumentException ? FOREIGN : LOOK, said);
            return Optional.empty();
        }
        if (seen.isEmpty()) {
            return Optional.of(missing());
        }
        Header now = seen.get().document().header();
        if (now.writeId().equals(written)) {
            return Optional.of(new Verdict.Applied<>(seen));
        }
        if (now.includes(written)) {
            return Optional.of(new Verdict.Applied<>(Optional.empty()));
        }
        if (now.replaced().contains(base)) {
            return Optional.of(new Verdict.Never<>(seen.get(), whose(now)));
        }
        if (now.writeId().equals(base)) {
            return bump(seen.get(), effort);
        }
        return Optional.of(new Verdict.Unknown<>(
                "the object was written more than " + Header.REMEMBERED
                        + " times since, or an older version of it was restored, and does not tell",
                last,
                Verdict.Outlook.CLOSED));
    }

    /** A store that forbids to look or to rewrite says nothing of the write before. */
    private RuntimeException unlessItSettles(BackendMisconfiguredException forbidden) {
        if (!inDoubt) {
            throw forbidden;
        }
        return forbidden.getCause() instanceof RuntimeException cause ? cause : forbidden;
    }

    private Verdict.Bump whose(Header now) {
        return bumps.contains(now.writeId()) ? Verdict.Bump.OURS : Verdict.Bump.NONE;
    }

    /** Without the object there is nothing that the write could match, now or later. */
    private Verdict<P> missing() {
        return inDoubt
                ? new Verdict.Unknown<>("the object was removed since", last, Verdict.Outlook.CLOSED)
                : new Verdict.Gone<>(last);
    }

    private Optional<Verdict<P>> bump(Version<P> base, Effort effort) {
        Document<P> again = base.document().bumped();
        bumps.add(again.header().writeId());
        try {
            Answer answer = documents.put(key, again, Condition.unchanged(base.etag()), effort);
            if (answer instanceof Answer.Done done) {
                return Optional.of(new Verdict.Never<>(new Version<>(again, done.etag()), Verdict.Bump.OURS));
            }
            answer.failure().ifPresent(failure -> failed(BUMP, failure));
        } catch (BackendMisconfiguredException e) {
            failed(BUMP, unlessItSettles(e));
        }
        return Optional.empty();
    }
}
