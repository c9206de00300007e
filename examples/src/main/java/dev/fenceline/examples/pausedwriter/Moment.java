package dev.fenceline.examples.pausedwriter;

import java.time.Instant;
import java.util.List;

/**
 * One instant of a pause, drawn as one column.
 *
 * @param at when
 * @param marks what is to be seen, at most one in a lane
 */
record Moment(Instant at, List<Mark> marks) {

    Moment {
        marks = List.copyOf(marks);
    }

    /** The sign of a mark. */
    enum Sign {
        DOT,
        CLAIM,
        ACCEPTED,
        LOST,
        REFUSED,
        END,
        NONE
    }

    /**
     * One sign with its label.
     *
     * @param lane in which lane
     * @param sign which sign
     * @param lines the label, one or two lines
     * @param tooltip the whole story
     */
    record Mark(Lane lane, Sign sign, List<String> lines, String tooltip) {

        Mark {
            lines = List.copyOf(lines);
        }

        int longestLine() {
            return lines.stream().mapToInt(String::length).max().orElse(0);
        }
    }
}
