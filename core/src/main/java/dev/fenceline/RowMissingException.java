package dev.fenceline;

import org.jspecify.annotations.Nullable;

/**
 * The row that was to be changed or deleted is not there, and nobody newer has taken over. Certainly nothing happened, and the
 * claim is still good: insert the row under it, or stop.
 */
public final class RowMissingException extends FencelineException {

    private static final long serialVersionUID = 1L;

    /**
     * Reports a missing row.
     *
     * @param message what was refused, on which row, and what to do now
     * @param cause what the driver said, if it said anything
     */
    public RowMissingException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
