package dev.fenceline;

import org.jspecify.annotations.Nullable;

/**
 * A write was about to leave the protection of the fence, or did. The message says whether something may have been committed
 * unfenced. This is a fault of the program, not of its timing: trying again does not help.
 */
public final class UnfencedWriteException extends FencelineException {

    private static final long serialVersionUID = 1L;

    /**
     * Reports the attempt.
     *
     * @param message what was refused, on which resource, and what to write instead
     * @param cause what the driver said
     */
    public UnfencedWriteException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
