package dev.fenceline.cli;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineException;
import org.jspecify.annotations.Nullable;

/** Ends a command with one clear line. */
final class Failure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final Outcome outcome;

    Failure(Outcome outcome, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.outcome = outcome;
    }

    static Failure usage(String message) {
        return new Failure(Outcome.USAGE, message, null);
    }

    static Failure refused(String message) {
        return new Failure(Outcome.REFUSED, message, null);
    }

    Outcome outcome() {
        return outcome;
    }

    /** What anything thrown means for whoever called the command. */
    static Failure of(Throwable thrown) {
        if (thrown instanceof Failure failure) {
            return failure;
        }
        if (thrown instanceof BackendUnavailableException) {
            return new Failure(Outcome.UNREACHABLE, said(thrown), thrown);
        }
        if (thrown instanceof FencelineException) {
            return new Failure(Outcome.REFUSED, said(thrown), thrown);
        }
        if (thrown instanceof IllegalArgumentException) {
            return new Failure(Outcome.USAGE, said(thrown), thrown);
        }
        return new Failure(
                Outcome.FAULT,
                "This is a fault of fenceline: " + thrown.getClass().getName() + ": " + said(thrown)
                        + " Run it again with --verbose and report what it prints.",
                thrown);
    }

    private static String said(Throwable thrown) {
        return thrown.getMessage() == null ? thrown.toString() : thrown.getMessage();
    }
}
