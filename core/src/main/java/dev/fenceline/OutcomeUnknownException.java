package dev.fenceline;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a commit was lost, so the work may have happened or not. If {@link #resolvable()}, {@link #resolve()} settles
 * it for good; else look at the data before doing the work again.
 */
public final class OutcomeUnknownException extends FencelineException {

    private static final long serialVersionUID = 1L;

    /** What a resolution found. It is final: a late transaction cannot change it. */
    public enum Resolution {
        /** The work is committed. */
        APPLIED,
        /** The work was not committed, and never will be. */
        NEVER_APPLIED
    }

    /** Settles one unknown outcome against the storage. */
    @FunctionalInterface
    public interface Resolver {

        /**
         * Finds out, and makes the finding final.
         *
         * @return what happened
         * @throws OutcomeUnknownException when it is still unknown
         */
        Resolution resolve();
    }

    private final transient @Nullable Resolver resolver;

    /**
     * Reports an unknown outcome.
     *
     * @param message what may have happened, on which resource, and what to do now
     * @param resolver settles it, or null where nothing can
     * @param cause what the driver said
     */
    public OutcomeUnknownException(String message, @Nullable Resolver resolver, @Nullable Throwable cause) {
        super(message, cause);
        this.resolver = resolver;
    }

    /**
     * Tells whether {@link #resolve()} can settle what happened. Not so after serialization.
     *
     * @return false where the storage keeps no record that could tell
     */
    public boolean resolvable() {
        return resolver != null;
    }

    /**
     * Asks the storage what happened, waiting for the transaction if it is still running.
     *
     * <p><b>Blocking:</b> as long as the timeouts of the fence allow. May be called again.
     *
     * @return what happened, for good
     * @throws OutcomeUnknownException when the storage cannot be reached, or its record is too old
     * @throws IllegalStateException when this outcome is not {@link #resolvable()}
     */
    public Resolution resolve() {
        return Optional.ofNullable(resolver)
                .orElseThrow(() -> new IllegalStateException(
                        "This outcome cannot be resolved: the storage kept no record of the operation."))
                .resolve();
    }
}
