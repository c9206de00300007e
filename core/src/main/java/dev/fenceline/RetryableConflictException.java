package dev.fenceline;

import org.jspecify.annotations.Nullable;

/**
 * The transaction lost a race or waited too long for a database lock, and was rolled back. Certainly nothing happened, and
 * the claim is still good: run a new transaction under the same claim, from its first read on.
 */
public final class RetryableConflictException extends FencelineException {

    private static final long serialVersionUID = 1L;

    /**
     * Reports a conflict.
     *
     * @param message what was refused, on which resource, by whom it was blocked if known, and what to do now
     * @param cause what the driver said
     */
    public RetryableConflictException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
