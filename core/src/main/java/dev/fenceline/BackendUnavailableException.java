package dev.fenceline;

import org.jspecify.annotations.Nullable;

/**
 * The lock server or the storage could not be used right now. Certainly nothing happened; a claim that was made stays
 * good, and trying again is fine.
 */
public final class BackendUnavailableException extends FencelineException {

    private static final long serialVersionUID = 1L;

    /**
     * Reports a failure after which it is certain that nothing happened.
     *
     * @param message what was refused, where, and what to do now
     * @param cause what the driver said
     */
    public BackendUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
