package dev.fenceline.jdbc;

import dev.fenceline.FencingToken;
import java.util.HashSet;
import java.util.Set;

/**
 * The fenced transactions that are open on this thread. A second one of the same claim would wait for the first, which waits for
 * it to return; no database sees that deadlock.
 */
final class OpenTransactions {

    /** Data sources are told apart by identity: how one compares itself is its own affair. */
    private record Key(Object origin, FencingToken token) {

        @Override
        public boolean equals(Object other) {
            return other instanceof Key key && key.origin == origin && key.token.equals(token);
        }

        @Override
        public int hashCode() {
            return token.hashCode();
        }
    }

    private static final ThreadLocal<Set<Key>> OPEN = ThreadLocal.withInitial(HashSet::new);

    private OpenTransactions() {}

    /**
     * Adds one.
     *
     * @throws IllegalStateException when there is one already of any of these tokens: a mistake of the program, and nothing to do
     *     with data
     */
    static void begin(ConnectionSource<?> source, Tokens tokens) {
        Set<Key> open = OPEN.get();
        for (FencingToken token : tokens.all()) {
            if (open.contains(new Key(source.origin(), token))) {
                throw new IllegalStateException(
                        "Transaction on " + Refusals.resource(token.lock()) + " under token " + token
                                + " refused: this thread is inside another transaction of the same claim, and would wait for itself."
                                + " Use the connection of that one, or begin after it has ended.");
            }
        }
        tokens.all().forEach(token -> open.add(new Key(source.origin(), token)));
    }

    static void end(ConnectionSource<?> source, Tokens tokens) {
        Set<Key> open = OPEN.get();
        tokens.all().forEach(token -> open.remove(new Key(source.origin(), token)));
        if (open.isEmpty()) {
            OPEN.remove();
        }
    }
}
