package dev.fenceline.s3;

import dev.fenceline.OutcomeUnknownException.Resolution;
import java.util.Optional;

/**
 * What became of a write, for good.
 *
 * @param <P> what the documents hold
 */
sealed interface Verdict<P> {

    /**
     * It is in the history of the object.
     *
     * @param version the object as this write left it; empty when it was replaced since
     */
    record Applied<P>(Optional<Version<P>> version) implements Verdict<P> {}

    /**
     * It is not, and cannot come later: what it was to replace was replaced by something else.
     *
     * @param now what was seen last
     * @param bumped whether that something else is only a rewrite of the same by ourselves
     */
    record Never<P>(Version<P> now, Bump bumped) implements Verdict<P> {}

    /**
     * It cannot be told now.
     *
     * @param why a half sentence
     * @param cause what the client said last
     * @param outlook whether asking later can tell
     */
    record Unknown<P>(String why, Optional<RuntimeException> cause, Outlook outlook) implements Verdict<P> {}

    /**
     * The fence itself is gone: somebody removed the object, and nothing was written.
     *
     * @param cause what the client said
     */
    record Gone<P>(Optional<RuntimeException> cause) implements Verdict<P> {}

    /** What is told of it to those who only want to know whether it happened; empty if that is not known. */
    default Optional<Resolution> resolution() {
        if (this instanceof Unknown) {
            return Optional.empty();
        }
        return Optional.of(this instanceof Applied ? Resolution.APPLIED : Resolution.NEVER_APPLIED);
    }

    /** Whose is the write that stands in the place of ours. */
    enum Bump {
        /** Our own, of the same content. */
        OURS,
        /** Another session's. */
        NONE
    }

    /** What asking again is good for. */
    enum Outlook {
        /** It may be settled yet. */
        OPEN,
        /** Nothing remembers it any more. */
        CLOSED
    }
}
