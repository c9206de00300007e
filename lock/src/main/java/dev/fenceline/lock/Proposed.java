package dev.fenceline.lock;

import dev.fenceline.LockName;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * What this client has proposed to the nodes of Redlock, and the tokens ahead of the clocks that it has heard of. Its next proposals are
 * above both, though it never asks the nodes for that.
 *
 * <p><b>Above its own</b>, so that the release of one attempt, which names the highest token of that attempt and may come late, is
 * below what the next attempt of the same holder is granted. The middle clock alone would not do: it can go back by the way of a reply.
 * Only where it went back by more than S is a proposal lowered; no node would take it otherwise.
 *
 * <p><b>Above tokens ahead of the clocks</b>, which a grant under a floor leaves behind. Nodes remember them in a key of that lock, and
 * a node that lost its data does not: it says that it stands above all that its clock allowed, and these are further. A client that
 * knows of one passes it, whoever forgot it. Others may not; see {@link Redlock}.
 */
final class Proposed {

    static final long FARTHEST_MICROS = TimeUnit.HOURS.toMicros(24);

    private final AtomicLongArray last = new AtomicLongArray(KeySpace.BUCKETS);
    private final Floors ahead = new Floors();
    private final long tolerance;

    /**
     * Begins without knowing anything.
     *
     * @param toleranceMicros S: a token that is further ahead of a node's clock is refused there
     */
    Proposed(long toleranceMicros) {
        this.tolerance = toleranceMicros;
    }

    /**
     * The token to propose: this one, or the next one above all that were proposed in this bucket.
     *
     * @param floor where the token comes from it and is ahead of the clock it is of this lock alone, and others need not pass it
     */
    long next(LockName name, int bucket, long token, long floor, long median) {
        if (token - 1 <= floor && token > median) {
            long next = above(last.get(bucket), token, median);
            note(name, next, median);
            return next;
        }
        while (true) {
            long known = last.get(bucket);
            long next = above(known, token, median);
            if (next <= known || last.compareAndSet(bucket, known, next)) {
                return next;
            }
        }
    }

    private long above(long known, long token, long median) {
        return token > known || known - median >= tolerance ? token : known + 1;
    }

    /** Notes a token that was proposed or is known to a node; of interest where it is ahead of a clock. */
    void note(LockName name, long token, long clock) {
        if (token > clock) {
            ahead.raise(name, token);
        }
    }

    /** What the next token of a lock has to pass, wherever the clocks are; a floor of the caller's, or more. */
    long floor(LockName name, long floor, long median) {
        long known = ahead.floor(name);
        if (known == 0) {
            return floor;
        }
        // Not as soon as the clock has passed it: that may go back a little, and what is proposed then has to be above.
        if (known + tolerance <= median) {
            ahead.settle(name, known);
            return floor;
        }
        // Further ahead than any node lets through: one of them has a clock that is wrong.
        return known - median > FARTHEST_MICROS ? floor : Math.max(floor, known);
    }
}
