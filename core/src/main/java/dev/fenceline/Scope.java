package dev.fenceline;

import java.util.Objects;
import java.util.Optional;

/** Work that runs while something is held, and what comes out when both the work and its end go wrong. */
final class Scope {

    private Scope() {}

    static <H extends Hold, T, X extends Exception> Optional<T> tryCall(Optional<H> held, Work<? super H, T, X> work)
            throws X {
        if (held.isEmpty()) {
            return Optional.empty();
        }
        T result = call(held.get(), work);
        return present(result);
    }

    /** Null could not be told from work that was skipped. */
    static <T> Optional<T> present(T result) {
        return Optional.of(
                Objects.requireNonNull(result, "The work ran and returned null; use tryRun without a result."));
    }

    static <H extends Hold, T, X extends Exception> T call(H held, Work<? super H, T, X> work) throws X {
        try (held) {
            return attempt(held, work);
        }
    }

    static <H extends Hold, X extends Exception> void run(H held, Action<? super H, X> action) throws X {
        Boolean unused = Scope.<H, Boolean, X>call(held, holding -> {
            action.with(holding);
            return true;
        });
    }

    private static <H extends Hold, T, X extends Exception> T attempt(H held, Work<? super H, T, X> work) throws X {
        try {
            return work.with(held);
        } catch (Throwable thrown) {
            // Asked before the release, after which every lease is over.
            suppressLoss(held, thrown);
            throw thrown;
        }
    }

    private static void suppressLoss(Hold held, Throwable thrown) {
        try {
            held.requireHeld();
        } catch (LeaseLostException lost) {
            boolean closedByTheWork = lost.reason() == LeaseLostException.Reason.CLOSED;
            if (!closedByTheWork && !(thrown instanceof LeaseLostException)) {
                thrown.addSuppressed(lost);
            }
        }
    }
}
