package dev.fenceline.examples.pausedwriter;

import java.util.Locale;

/** Writes cents as euros: {@code 1,234.50 €}. */
final class Money {

    private Money() {}

    static String euros(long cents) {
        long whole = Math.abs(cents / 100);
        long rest = Math.abs(cents % 100);
        return String.format(Locale.ROOT, "%s%,d.%02d €", cents < 0 ? "-" : "", whole, rest);
    }

    /** With a plus where money comes in. */
    static String change(long cents) {
        return (cents > 0 ? "+" : "") + euros(cents);
    }
}
