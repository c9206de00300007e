package dev.fenceline.jdbc;

import dev.fenceline.FencingToken;
import java.util.Optional;

/**
 * What the database has admitted for one lock.
 *
 * @param newest empty when the lock was never claimed there
 */
record Mark(Optional<FencingToken> newest) {

    /** How a token stands to a mark. */
    enum Standing {
        /** It is the mark: nobody has taken over. */
        MINE,
        /** Another holder has claimed, later or under the same number. */
        OVERTAKEN,
        /** The mark is older than the token, or there is none. */
        NOT_CLAIMED
    }

    Standing of(FencingToken token) {
        if (newest.isEmpty() || newest.get().value() < token.value()) {
            return Standing.NOT_CLAIMED;
        }
        return newest.get().equals(token) ? Standing.MINE : Standing.OVERTAKEN;
    }

    /** For messages. */
    @Override
    public String toString() {
        return newest.map(FencingToken::toString).orElse("not set");
    }
}
