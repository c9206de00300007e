package dev.fenceline;

import org.jspecify.annotations.Nullable;

/**
 * The root of everything that Fenceline throws, bad arguments ({@link IllegalArgumentException}) aside.
 *
 * <p>A subtype exists where a caller would act differently. Of each it is known whether the work happened: only
 * {@link OutcomeUnknownException} leaves it open.
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
                UnfencedWriteException {

    private static final long serialVersionUID = 1L;

    FencelineException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
