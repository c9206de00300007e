package dev.fenceline.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a command has to say: lines for people, fields for programs. Not thread-safe. */
final class Report {

    /** How a line is shown on a screen. */
    enum Style {
        PLAIN(""),
        GOOD("32"),
        BAD("31"),
        DOUBTFUL("33"),
        HEADING("1");

        private final String code;

        Style(String code) {
            this.code = code;
        }

        String on(String text, Terminal terminal) {
            return code.isEmpty() || !terminal.colour() ? text : "\u001b[" + code + "m" + text + "\u001b[0m";
        }
    }

    private record Line(Style style, String text) {}

    private final Outcome outcome;
    private final List<Line> lines = new ArrayList<>();
    private final Map<String, @Nullable Object> fields = new LinkedHashMap<>();

    private Report(Outcome outcome) {
        this.outcome = outcome;
    }

    static Report ok() {
        return new Report(Outcome.OK);
    }

    static Report of(Outcome outcome) {
        return new Report(outcome);
    }

    Report line(String text) {
        return line(Style.PLAIN, text);
    }

    Report line(Style style, String text) {
        lines.add(new Line(style, text));
        return this;
    }

    /** A name of {@code --json}, which stays. Values are texts, numbers, booleans, null, lists and maps. */
    Report field(String name, @Nullable Object value) {
        fields.put(name, value);
        return this;
    }

    Outcome outcome() {
        return outcome;
    }

    Map<String, @Nullable Object> fields() {
        return fields;
    }

    List<String> lines(Terminal terminal) {
        return lines.stream()
                .map(line -> line.style().on(Texts.printable(line.text()), terminal))
                .toList();
    }
}
