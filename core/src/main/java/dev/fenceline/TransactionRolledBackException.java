package dev.fenceline;

import org.jspecify.annotations.Nullable;

/**
 * The transaction was rolled back because a statement in it failed, or because the commit itself was refused by a
 * constraint. Certainly nothing of it happened. Thrown where the failure would otherwise pass for success: the body swallowed
 * it, or it came at the commit.
 */
public final class TransactionRolledBackException extends FencelineException {

    private static final long serialVersionUID = 1L;

    /**
     * Reports a rollback.
     *
     * @param message what was rolled back, on which resource, why, and what to do now
     * @param cause the failure that the body swallowed, or what the commit said
     */
    public TransactionRolledBackException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
