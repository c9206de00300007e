package dev.fenceline.bench;

import java.util.Locale;

/**
 * One line of the design's "Speed" and what came out.
 *
 * @param what the line, in words
 * @param bound the limit
 * @param side on which side of it to be
 * @param measured the number that is held against the limit
 * @param text the number as a reader wants it, with its spread
 */
record Target(String what, double bound, Side side, double measured, String text) {

    /** Which side of the limit is the good one. */
    enum Side {
        AT_MOST("≤"),
        AT_LEAST("≥");

        private final String sign;

        Side(String sign) {
            this.sign = sign;
        }
    }

    static Target atMost(String what, double bound, Quartiles measured) {
        return new Target(what, bound, Side.AT_MOST, measured.median(), measured.ratio());
    }

    static Target atLeast(String what, double bound, Quartiles measured) {
        return new Target(what, bound, Side.AT_LEAST, measured.median(), measured.ratio());
    }

    static Target atMost(String what, double bound, double measured, String text) {
        return new Target(what, bound, Side.AT_MOST, measured, text);
    }

    boolean met() {
        return side == Side.AT_MOST ? measured <= bound : measured >= bound;
    }

    /** One row of a table of targets. */
    String row() {
        String limit = bound == Math.rint(bound)
                ? String.format(Locale.ROOT, "%,.0f", bound)
                : String.format(Locale.ROOT, "%.2f", bound);
        return "| " + what + " | " + side.sign + " " + limit + " | " + text + " | " + (met() ? "met" : "**not met**")
                + " |";
    }
}
