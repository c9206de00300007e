package dev.fenceline;

import org.jspecify.annotations.Nullable;

/**
 * A newer holder has taken over, or an operator has shut out every earlier one ({@link #byOperator()}), and the resource refused us.
 * Certainly nothing of the refused step happened.
 *
 * <p>The session is over: what it read is old. Never retry with this token; acquire the lock anew and begin again at the
 * read.
 */
public final class StaleTokenException extends FencelineException {

    private static final long serialVersionUID = 1L;

    // As fenceline.begin_raising_v1 makes the holder of a mark that it raises: a UUID of version 8 that ends in the
    // letters
    // "raised". A grant's holder is random, or of version 4; the chance that it looks so is below 2^-52, and then a
    // message is
    // wrong and nothing else.
    private static final long VERSION = 0xF000L;
    private static final long VERSION_OF_RAISED = 0x8000L;
    private static final long END = 0xFFFF_FFFF_FFFFL;
    private static final long END_OF_RAISED = 0x7261_6973_6564L;

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
                + (isRaised(newest)
                        ? ". That shut out every earlier holder; stop, and do not retry with this token. Acquire the lock anew,"
                                + " a second time if the first new token is still below that mark: the one after it is above."
                        : ". A newer holder has taken over; stop, and do not retry with this token.");
    }

    private static boolean isRaised(FencingToken mark) {
        return (mark.holder().getMostSignificantBits() & VERSION) == VERSION_OF_RAISED
                && (mark.holder().getLeastSignificantBits() & END) == END_OF_RAISED;
    }

    /** Two grants may have one number, and then the second is not older by anything. */
    static String comparison(FencingToken presented, FencingToken newest) {
        if (isRaised(newest) && presented.value() < newest.value()) {
            return "token " + presented + " is older by " + Durations.text(presented.olderThan(newest)) + " than "
                    + newest + ", to which an operator has raised the mark";
        }
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

    /**
     * Tells whether no other holder is behind the refusal, but an operator who raised the mark: of this lock, or of all after a restore.
     * It makes no difference to what is to be done.
     *
     * @return false when a newer holder has claimed
     */
    public boolean byOperator() {
        return isRaised(newest);
    }
}
