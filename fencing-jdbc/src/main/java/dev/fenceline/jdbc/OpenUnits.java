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

    // Null where nothing is open, so that nothing is left behind on a thread that only asked. Not inherited: a thread that
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

    private static String names(List<LockName> locks) {
        return locks.stream().map(lock -> "'" + lock + "'").collect(Collectors.joining(", "));
    }
}
