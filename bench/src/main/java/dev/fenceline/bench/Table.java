package dev.fenceline.bench;

import java.util.Locale;
import java.util.StringJoiner;

/** A Markdown table, row by row. */
final class Table {

    private final StringBuilder text = new StringBuilder();

    Table(String... headings) {
        row(headings);
        StringJoiner rule = new StringJoiner("|", "|", "|\n");
        for (int i = 0; i < headings.length; i++) {
            rule.add(i == 0 ? "---" : "---:");
        }
        text.append(rule);
    }

    Table row(String... cells) {
        text.append("| ").append(String.join(" | ", cells)).append(" |\n");
        return this;
    }

    /** Nanoseconds as microseconds. */
    static String micros(double nanos) {
        return String.format(Locale.ROOT, "%,.0f µs", nanos / 1_000);
    }

    static String millis(double nanos) {
        return String.format(Locale.ROOT, "%,.1f ms", nanos / 1_000_000);
    }

    static String whole(double number) {
        return String.format(Locale.ROOT, "%,.0f", number);
    }

    static String decimal(double number) {
        return String.format(Locale.ROOT, "%,.2f", number);
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
