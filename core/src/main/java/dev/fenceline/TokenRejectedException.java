package dev.fenceline;

import java.time.Duration;

/**
 * A token that this resource cannot have been meant to see: of another lock, from the far future, or never claimed here.
 * Certainly nothing happened. A service that received the token from outside answers "bad request"; it never raises its mark.
 */
public final class TokenRejectedException extends FencelineException {

    private static final long serialVersionUID = 1L;

    /** Why a token was rejected. */
    public enum Reason {
        /** The token belongs to another lock than the resource. */
        OTHER_LOCK,
        /** Its value lies further ahead of the resource's clock than any lock server's may. */
        FAR_FUTURE,
        /** The resource has not admitted this token, and none newer either: claim first, resume later. */
        NOT_CLAIMED
    }

    private final Reason reason;
    private final transient FencingToken presented;

    private TokenRejectedException(Reason reason, FencingToken presented, String message) {
        super(message, null);
        this.reason = reason;
        this.presented = presented;
    }

    /**
     * Rejects a token of another lock.
     *
     * @param expected the resource's own name
     * @param presented the token
     * @return the exception to throw
     */
    public static TokenRejectedException otherLock(LockName expected, FencingToken presented) {
        return new TokenRejectedException(
                Reason.OTHER_LOCK,
                presented,
                "Token " + presented + " rejected for '" + expected + "': it belongs to another lock. Take the lock '"
                        + expected + "', or check who sent this token.");
    }

    /**
     * Rejects a token from the far future.
     *
     * @param resource what rejects it
     * @param presented the token
     * @param ahead how far it is ahead of the resource's clock
     * @param bound how far it may be
     * @return the exception to throw
     */
    public static TokenRejectedException farFuture(
            String resource, FencingToken presented, Duration ahead, Duration bound) {
        return new TokenRejectedException(
                Reason.FAR_FUTURE,
                presented,
                "Token " + presented + " rejected by " + resource + ": it is " + Durations.text(ahead)
                        + " ahead of the resource's clock, and at most " + Durations.text(bound)
                        + " are allowed. Compare the clocks of the lock server and the resource; if both are right,"
                        + " the token was forged.");
    }

    /**
     * Rejects a token that was not claimed.
     *
     * @param resource what rejects it
     * @param presented the token
     * @param mark what the resource holds, as text
     * @return the exception to throw
     */
    public static TokenRejectedException notClaimed(String resource, FencingToken presented, String mark) {
        return notClaimed(resource, presented, mark, "a restored or failed-over database");
    }

    /**
     * Rejects a token that was not claimed, by a resource that is no database.
     *
     * @param resource what rejects it
     * @param presented the token
     * @param mark what the resource holds, as text
     * @param lostWith what a claim may have been lost with, as the object of a sentence
     * @return the exception to throw
     */
    public static TokenRejectedException notClaimed(
            String resource, FencingToken presented, String mark, String lostWith) {
        return new TokenRejectedException(
                Reason.NOT_CLAIMED,
                presented,
                "Token " + presented + " rejected by " + resource + ", whose mark is " + mark
                        + ": this token was never claimed here, or the claim was lost with " + lostWith
                        + ". Begin again: acquire, claim, then read.");
    }

    /**
     * Returns why.
     *
     * @return the reason
     */
    public Reason reason() {
        return reason;
    }

    /**
     * Returns the rejected token.
     *
     * @return the token
     */
    public FencingToken presented() {
        return presented;
    }
}
