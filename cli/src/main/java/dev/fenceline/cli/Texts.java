package dev.fenceline.cli;

import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Texts for screens, and durations as people type them. */
final class Texts {

    private static final Pattern DURATION = Pattern.compile("([0-9]{1,9})(ms|s|m|h|d)");

    private Texts() {}

    /** Names come from databases and from other programs: what would move a cursor or ring a bell is shown as an escape. */
    static String printable(String text) {
        StringBuilder shown = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isISOControl(c) && c != '\n' && c != '\t') {
                shown.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
            } else {
                shown.append(c);
            }
        }
        return shown.toString();
    }

    /** With a full stop, which others leave out. */
    static String sentence(String text) {
        return text.matches("(?s).*[.!?:]\\s*") ? text : text + ".";
    }

    /** What scripts take from an error is its line. */
    static String oneLine(String text) {
        return printable(text.strip().replaceAll("\\s*\\R\\s*", " "));
    }

    /** Reads one that is within bounds, which are told as people type them. */
    static Duration duration(String option, String text, String least, String most) {
        Duration read = duration(option, text);
        if (read.compareTo(duration(option, least)) < 0 || read.compareTo(duration(option, most)) > 0) {
            throw Failure.usage("Invalid value for option '" + option + "': " + text + " is not from " + least + " to "
                    + most + ".");
        }
        return read;
    }

    /** Reads {@code 500ms}, {@code 2s}, {@code 5m}, {@code 24h} and {@code 30d}. */
    private static Duration duration(String option, String text) {
        Matcher matcher = DURATION.matcher(text);
        if (!matcher.matches()) {
            throw Failure.usage("Invalid value for option '" + option + "': '" + text
                    + "' is no duration such as 500ms, 2s, 5m, 24h or 30d.");
        }
        long amount = Long.parseLong(matcher.group(1));
        return switch (matcher.group(2)) {
            case "ms" -> Duration.ofMillis(amount);
            case "s" -> Duration.ofSeconds(amount);
            case "m" -> Duration.ofMinutes(amount);
            case "h" -> Duration.ofHours(amount);
            default -> Duration.ofDays(amount);
        };
    }

    static String count(long number, String noun) {
        return number + " " + noun + (number == 1 ? "" : "s");
    }
}
