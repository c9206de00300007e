package dev.fenceline.s3;

import java.util.Optional;

/** What a store said to a conditional write. */
sealed interface Answer {

    /**
     * It is written.
     *
     * @param etag exactly as received
     */
    record Done(String etag) implements Answer {}

    /**
     * Another write of this key was under way (409). This one was not done, and may be sent again as it is.
     *
     * @param cause what the client said
     */
    record Conflict(RuntimeException cause) implements Answer {}

    /**
     * The condition does not hold (412, or 404 where there is no such key), and no earlier attempt of the client can be the reason. But
     * something between the client and the store may have sent it twice.
     *
     * @param cause what the client said
     */
    record Refused(RuntimeException cause) implements Answer {}

    /**
     * It may be written, it may not, and it may still be written later.
     *
     * @param cause what the client said
     */
    record Unclear(RuntimeException cause) implements Answer {}

    /** Tells whether this leaves open that the write was done. It was not if another one was under way, or there is nothing. */
    default boolean isInDoubt() {
        return this instanceof Unclear || (this instanceof Refused refused && Failures.status(refused.cause()) != 404);
    }

    /** What to tell as the cause; none if it is done. */
    default Optional<RuntimeException> failure() {
        if (this instanceof Conflict conflict) {
            return Optional.of(conflict.cause());
        }
        if (this instanceof Refused refused) {
            return Optional.of(refused.cause());
        }
        return this instanceof Unclear unclear ? Optional.of(unclear.cause()) : Optional.empty();
    }
}
