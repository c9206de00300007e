package dev.fenceline.lock;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one node of Redlock says to a request for a lock, as redlock-acquire.lua puts it. Times are microseconds of its clock.
 *
 * @param time its clock
 * @param counter the highest token of the bucket that it granted, or can have granted before it was reborn
 * @param mark a token far ahead of its clock that it granted for this lock, or 0
 * @param value who holds it, of {@code HELD}
 * @param rest how long it grants nothing yet, of {@code REBORN}
 */
record NodeReply(
        Word word,
        long time,
        long counter,
        long mark,
        @Nullable LockValue value,
        long rest) {

    /** What it comes to. */
    enum Word {
        GRANTED,
        /** By somebody else. */
        HELD,
        /** The token is not above the counter and the mark. */
        BEHIND,
        /** The token is further ahead of its clock than S. */
        AHEAD,
        /** It restarted or lost its data, and waits. */
        REBORN
    }

    /** Where the incarnation stands, if INFO was asked. */
    static final int INCARNATION = 4;

    static NodeReply of(List<String> words) {
        Word word = switch (words.get(0)) {
            case "granted" -> Word.GRANTED;
            case "held" -> Word.HELD;
            case "behind" -> Word.BEHIND;
            case "ahead" -> Word.AHEAD;
            case "reborn" -> Word.REBORN;
            default -> throw new IllegalArgumentException("unknown word '" + words.get(0) + "'");
        };
        return new NodeReply(
                word,
                Long.parseLong(words.get(1)),
                Long.parseLong(words.get(2)),
                Long.parseLong(words.get(3)),
                word == Word.HELD ? LockValue.parse(words.get(5)) : null,
                word == Word.REBORN ? Long.parseLong(words.get(5)) : 0);
    }

    /** Whether the node would grant the lock under the right token. */
    boolean free() {
        return word == Word.GRANTED || word == Word.BEHIND || word == Word.AHEAD;
    }

    /** What the next token has to be above here. */
    long last() {
        return Math.max(counter, mark);
    }
}
