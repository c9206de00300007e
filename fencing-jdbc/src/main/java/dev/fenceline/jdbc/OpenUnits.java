package dev.fenceline.jdbc;

import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.UnfencedWriteException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The unit that each thread is in. One at a time, since a second lock that is taken inside is how threads wait for each other in a circle. */
final class OpenUnits {

    /** What runs in a unit. */
    interface Body<T, X extends Exception> {
        T run() throws X;
    }

    // Null where nothing is open, so that nothing is left behind on a thread that only asked. Not inherited: a thread
    // that
    // outlives the unit would write without it.
    private static final ThreadLocal<@Nullable OpenUnit<?>> OPEN = new ThreadLocal<>();

    private OpenUnits() {}

    /** The unit of this thread over that data source. */
    static Optional<OpenUnit<?>> over(Object origin) {
        OpenUnit<?> open = OPEN.get();
        return open != null && open.origin() == origin ? Optional.of(open) : Optional.empty();
    }

    /** Puts this thread into a unit until the body ends. */
    static <T, X extends Exception> T within(OpenUnit<?> unit, Body<T, X> body) throws X {
        OPEN.set(unit);
        try {
            return body.run();
        } finally {
            OPEN.remove();
        }
    }

    /**
     * The unit of this thread that one with these locks would join; empty when it is in none.
     *
     * @throws UnfencedWriteException when it is in one that does not have all of them
     */
    static Optional<OpenUnit<?>> joined(Object origin, List<LockName> locks) {
        OpenUnit<?> open = OPEN.get();
        if (open == null) {
            return Optional.empty();
        }
        List<LockName> held =
                open.tokens().all().stream().map(FencingToken::lock).toList();
        if (open.origin() == origin && held.containsAll(locks)) {
            return Optional.of(open);
        }
        throw new UnfencedWriteException(
                "Unit of " + names(locks) + " refused inside of one of " + names(held)
                        + (open.origin() == origin
                                ? ": all locks of a unit are taken and claimed together, before the first read. Nothing was"
                                        + " acquired; name all of them where the unit is opened (fencedAll)."
                                : " over another data source: a thread is in one unit at a time. Nothing was acquired; open this"
                                        + " one before that or after it."),
                null);
    }

    /** Refuses to acquire locks that this thread holds for its unit: whoever asks would wait for himself. */
    static void requireNone(List<LockName> locks, String step) {
        OpenUnit<?> open = OPEN.get();
        if (open != null) {
            open.tokens().all().stream()
                    .filter(token -> locks.contains(token.lock()))
                    .findFirst()
                    .ifPresent(token -> refuse(step, token));
        }
    }

    /** Refuses a token that would take the place of the unit's own. */
    static void requireNoOther(Object origin, Tokens tokens, String step) {
        OpenUnit<?> open = OPEN.get();
        if (open == null || open.origin() != origin) {
            return;
        }
        for (FencingToken own : open.tokens().all()) {
            tokens.all().stream()
                    .filter(token -> token.lock().equals(own.lock()) && !token.equals(own))
                    .findFirst()
                    .ifPresent(token -> refuse(step + " under token " + token, own));
        }
    }

    private static void refuse(String step, FencingToken own) {
        throw new IllegalStateException(step + " on " + Refusals.resource(own.lock())
                + " refused: this thread is inside a unit under token " + own
                + " of the same lock, and would wait for itself or end its own claim. Use the claim that the work of the unit was"
                + " given, or do this before it begins or after it has ended.");
    }

    static String names(List<LockName> locks) {
        return locks.stream().map(lock -> "'" + lock + "'").collect(Collectors.joining(", "));
    }
}
