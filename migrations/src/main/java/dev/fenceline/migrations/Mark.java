package dev.fenceline.migrations;

import dev.fenceline.FencingToken;
import java.time.Instant;
import java.util.Objects;

/**
 * The newest token that a database has admitted for a lock, and who claimed it. Of the guard: in row mode, while a row exists,
 * the mark that rules is in the row.
 *
 * <p><b>Thread-safety:</b> immutable.
 *
 * @param token what every claim has to be newer than, and every write equal to
 * @param claimedAt when it was claimed or raised, by the clock of the database
 * @param claimedBy the application_name of the session that did so; may be empty
 * @param raised whether an operator raised it, so that it belongs to nobody
 */
public record Mark(FencingToken token, Instant claimedAt, String claimedBy, boolean raised) {

    /** Checks that nothing is null. */
    public Mark {
        Objects.requireNonNull(token, "token");
        Objects.requireNonNull(claimedAt, "claimedAt");
        Objects.requireNonNull(claimedBy, "claimedBy");
    }

    /** Returns one line for people. */
    @Override
    public String toString() {
        return token + (raised ? ", raised at " : ", claimed at ") + claimedAt + " by '" + claimedBy + "'";
    }
}
