package dev.fenceline;

import org.jspecify.annotations.Nullable;

/**
 * A newer holder has taken over, and the resource refused us. Certainly nothing of the refused step happened.
 *
 * <p>The session is over: what it read is old. Never retry with this token; acquire the lock anew and begin again at the
 * read.
 */
public final class StaleTokenException extends FencelineException {

    private static final long serialVersionUID = 1L;

    private final String resource;
    private final transient FencingToken presented;
    private final transient FencingToken newest;

    /**
     * Reports a refusal.
     *
     * @param step what was refused, as the subject of a sentence: {@code Claim}, {@code Transaction}
     * @param resource where, for instance {@code PostgreSQL guard 'account:42'}
     * @param presented the token that was refused
     * @param newest the token that the resource has admitted instead
     * @param cause what the driver said, if it said anything
     */
    public StaleTokenException(
            String step, String resource, FencingToken presented, FencingToken newest, @Nullable Throwable cause) {
        super(message(step, resource, presented, newest), cause);
        this.resource = resource;
        this.presented = presented;
        this.newest = newest;
    }

    private static String message(String step, String resource, FencingToken presented, FencingToken newest) {
        return step + " on " + resource + " refused: " + comparison(presented, newest)
                + ". A newer holder has taken over; stop, and do not retry with this token.";
    }

    /** Two grants may have one number, and then the second is not older by anything. */
    static String comparison(FencingToken presented, FencingToken newest) {
        return presented.value() == newest.value()
                ? "token " + presented + " has the number of " + newest
                        + ", which another holder has claimed here first"
                : "token " + presented + " is older by " + Durations.text(presented.olderThan(newest)) + " than "
                        + newest + ", already accepted here";
    }

    /**
     * Returns what refused us.
     *
     * @return for instance {@code PostgreSQL guard 'account:42'}
     */
    public String resource() {
        return resource;
    }

    /**
     * Returns the token that was refused.
     *
     * @return our token
     */
    public FencingToken presented() {
        return presented;
    }

    /**
     * Returns the token that the resource has admitted instead of ours.
     *
     * @return the mark that was read
     */
    public FencingToken newest() {
        return newest;
    }
}
