package dev.fenceline;

import org.jspecify.annotations.Nullable;

/**
 * Of several steps that stand each by itself, some are not done. What is done stays, of the rest nothing happened, and both are
 * named. Remove what stood in the way and run the same again: it passes over what is done, and finishes.
 */
public abstract non-sealed class UnfinishedException extends FencelineException {

    private static final long serialVersionUID = 1L;

    /**
     * Reports how far it came.
     *
     * @param message what is done, what is not and why, and what to do now
     * @param cause what the driver said, of the first step that failed
     */
    protected UnfinishedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
