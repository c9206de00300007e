package dev.fenceline.jdbc;

import dev.fenceline.LockName;
import dev.fenceline.UnfencedWriteException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The fenced transactions whose work this thread is in, innermost first, those that only read too. A connection of the fence's data
 * source would be in none of them, and a unit would work on what they have read before its claim.
 */
final class OpenWork {

    private record Open(Object origin, Tokens tokens) {}

    // Null where nothing is open, so that nothing is left behind on a thread that only asked.
    private static final ThreadLocal<@Nullable Deque<Open>> OPEN = new ThreadLocal<>();

    private OpenWork() {}

    /** Runs a body as the work of a transaction. */
    static <T, X extends Exception> T within(Object origin, Tokens tokens, OpenUnits.Body<T, X> body) throws X {
        Deque<Open> known = OPEN.get();
        Deque<Open> open = known == null ? new ArrayDeque<>() : known;
        OPEN.set(open);
        open.push(new Open(origin, tokens));
        try {
            return body.run();
        } finally {
            open.pop();
            if (open.isEmpty()) {
                OPEN.remove();
            }
        }
    }

    private static Optional<Open> over(Object origin) {
        Deque<Open> open = OPEN.get();
        return open == null
                ? Optional.empty()
                : open.stream().filter(each -> each.origin() == origin).findFirst();
    }

    /** Tells whether this thread is inside of such work. */
    static boolean isAround(Object origin) {
        return over(origin).isPresent();
    }

    /** Refuses a connection of the data source, or its use, inside of such work. */
    static void requireNone(Object origin, String step) {
        over(origin).ifPresent(open -> {
            throw new UnfencedWriteException(
                    step + " inside of a fenced transaction on " + open.tokens().resource() + " under " + open.tokens()
                            + " refused: it would be in no fenced transaction, and would not see what that one has"
                            + " written. Nothing was sent. Use the connection that the work was given; or open a unit"
                            + " instead (fence.unit), in which the connections of fence.dataSource() are fenced.",
                    null);
        });
    }

    /** Refuses a unit inside of such work, before a lock is acquired. */
    static void requireNoneAround(Object origin, List<LockName> locks) {
        over(origin).ifPresent(open -> {
            throw new UnfencedWriteException(
                    "Unit of " + OpenUnits.names(locks) + " refused inside of a fenced transaction on "
                            + open.tokens().resource() + " under " + open.tokens()
                            + ": what that has read may be older than the claim of the unit. Nothing was acquired."
                            + " Open the unit before it or after it; or open one unit of all the locks (fencedAll)"
                            + " instead of both.",
                    null);
        });
    }
}
