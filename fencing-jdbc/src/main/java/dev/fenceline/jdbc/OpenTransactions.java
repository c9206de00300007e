package dev.fenceline.jdbc;

import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import java.sql.Connection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The fenced transactions that are open on this thread, by fence and lock. Whoever claims or enters the same lock on a second connection
 * waits for the first one, which waits for him to return; no database sees that deadlock, and it would end by a timeout only.
 */
final class OpenTransactions {

    /** Data sources are told apart by identity: how one compares itself is its own affair. */
    private record Key(Object origin, LockName lock) {

        @Override
        public boolean equals(Object other) {
            return other instanceof Key key && key.origin == origin && key.lock.equals(lock);
        }

        @Override
        public int hashCode() {
            return lock.hashCode();
        }
    }

    /** Empty is the guard of what gives its connection to nobody. */
    private record Open(FencingToken token, Optional<TransactionGuard> guard) {}

    /** Takes back what was begun. */
    interface Ending {
        void end();
    }

    // Null where nothing is open, so that nothing is left behind on a thread that only asked.
    private static final ThreadLocal<@Nullable Map<Key, Open>> OPEN = new ThreadLocal<>();

    private OpenTransactions() {}

    /**
     * Adds one.
     *
     * @return takes it away again, on any thread
     * @throws IllegalStateException when there is one already of any of these locks: a mistake of the program, and nothing to do
     *     with data
     */
    static Ending begin(ConnectionSource<?> source, Tokens tokens, Optional<TransactionGuard> guard) {
        requireNone(source, tokens, "Transaction");
        Map<Key, Open> open = OPEN.get();
        if (open == null) {
            // A transaction may be ended by another thread than began it.
            open = new ConcurrentHashMap<>();
            OPEN.set(open);
        }
        for (FencingToken token : tokens.all()) {
            open.put(new Key(source.origin(), token.lock()), new Open(token, guard));
        }
        Map<Key, Open> begunIn = open;
        return () -> end(begunIn, source, tokens);
    }

    private static void end(Map<Key, Open> open, ConnectionSource<?> source, Tokens tokens) {
        tokens.all().forEach(token -> open.remove(new Key(source.origin(), token.lock())));
        if (open.isEmpty() && OPEN.get() == open) {
            OPEN.remove();
        }
    }

    /** Refuses a step under these tokens that would wait for a transaction of this thread. */
    static void requireNone(ConnectionSource<?> source, Tokens tokens, String step) {
        OpenUnits.requireNoOther(source.origin(), tokens, step);
        for (FencingToken token : tokens.all()) {
            refuse(source, token.lock(), step + " under token " + token, open -> true);
        }
    }

    /** Likewise for locks that are not acquired yet. */
    static void requireNone(ConnectionSource<?> source, List<LockName> locks, String step) {
        OpenUnits.requireNone(locks, step);
        locks.forEach(lock -> refuse(source, lock, step, open -> true));
    }

    /** Likewise for a step on a connection, which may be that of the open transaction itself. */
    static void requireNoneBeside(Connection connection, ConnectionSource<?> source, Tokens tokens, String step) {
        for (FencingToken token : tokens.all()) {
            refuse(
                    source,
                    token.lock(),
                    step,
                    open -> open.guard()
                            .filter(guard -> GuardedConnection.isGuardedBy(connection, guard))
                            .isEmpty());
        }
    }

    private static void refuse(ConnectionSource<?> source, LockName lock, String step, Predicate<Open> waitsFor) {
        Map<Key, Open> all = OPEN.get();
        Open open = all == null ? null : all.get(new Key(source.origin(), lock));
        if (open != null && waitsFor.test(open)) {
            throw new IllegalStateException(step + " on " + Refusals.resource(lock)
                    + " refused: this thread is inside a transaction under token " + open.token()
                    + " of the same lock, and would wait for itself. Use the connection or handle that the work of that one was"
                    + " given, or do this before it begins or after it has ended.");
        }
    }
}
