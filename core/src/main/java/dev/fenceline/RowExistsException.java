package dev.fenceline;

import org.jspecify.annotations.Nullable;

/**
 * The row that was to be inserted is there already, and nobody newer has taken over. Certainly nothing happened, and the claim is
 * still good: read the row under it before you change it.
 */
public final class RowExistsException extends FencelineException {

    private static final long serialVersionUID = 1L;

    /**
     * Reports a row that exists.
     *
     * @param message what was refused, on which row, and what to do now
     * @param cause what the driver said
     */
    public RowExistsException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
