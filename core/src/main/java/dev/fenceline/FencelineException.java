package dev.fenceline;

import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The root of everything that Fenceline throws, bad arguments ({@link IllegalArgumentException}) aside.
 *
 * <p>A subtype exists where a caller would act differently. Of each it is known whether the work happened: only
 * {@link OutcomeUnknownException} leaves it open, and {@link UnfinishedException} says what happened and what did not.
 */
public abstract sealed class FencelineException extends RuntimeException
        permits BackendMisconfiguredException,
                BackendUnavailableException,
                LeaseLostException,
                LockNotAcquiredException,
                OutcomeUnknownException,
                RetryableConflictException,
                RowExistsException,
                RowMissingException,
                StaleTokenException,
                TokenRejectedException,
                TransactionRolledBackException,
                UnfinishedException,
                UnfencedWriteException {

    private static final long serialVersionUID = 1L;

    FencelineException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /**
     * Finds ours under the exception of a framework, which wraps what the database or a transaction threw in its own: among it, its
     * causes, and what is suppressed onto any of them. The nearest if there are several.
     *
     * @param thrown what was caught
     * @return ours, if there is one
     */
    public static Optional<FencelineException> in(Throwable thrown) {
        // A cause may lead back to where it came from.
        Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        Deque<Throwable> next = new ArrayDeque<>(List.of(thrown));
        while (!next.isEmpty()) {
            Throwable nearest = next.remove();
            if (nearest instanceof FencelineException ours) {
                return Optional.of(ours);
            }
            if (seen.add(nearest)) {
                if (nearest.getCause() != null) {
                    next.add(nearest.getCause());
                }
                next.addAll(List.of(nearest.getSuppressed()));
            }
        }
        return Optional.empty();
    }
}
