package dev.fenceline;

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
}
