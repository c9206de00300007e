package dev.fenceline;

import java.time.Duration;
import java.util.Locale;

/** Writes durations as a person says them, for messages: {@code 250 ms}, {@code 12.4 s}, {@code 10 min}, {@code 25 h}. */
final class Durations {

    private Durations() {}

    static String text(Duration duration) {
        if (duration.isNegative()) {
            return "-" + text(duration.negated());
        }
        if (duration.compareTo(Duration.ofMillis(1)) < 0) {
            return duration.toNanos() / 1_000 + " µs";
        }
        if (duration.compareTo(Duration.ofSeconds(1)) < 0) {
            return duration.toMillis() + " ms";
        }
        if (duration.compareTo(Duration.ofMinutes(2)) < 0) {
            return decimal(duration.toMillis() / 1_000.0, "s");
        }
        if (duration.compareTo(Duration.ofHours(2)) < 0) {
            return decimal(duration.toSeconds() / 60.0, "min");
        }
        if (duration.compareTo(Duration.ofDays(3)) < 0) {
            return decimal(duration.toSeconds() / 3_600.0, "h");
        }
        return decimal(duration.toSeconds() / 86_400.0, "days");
    }

    private static String decimal(double value, String unit) {
        String text = String.format(Locale.ROOT, "%.1f", value);
        return (text.endsWith(".0") ? text.substring(0, text.length() - 2) : text) + " " + unit;
    }
}
