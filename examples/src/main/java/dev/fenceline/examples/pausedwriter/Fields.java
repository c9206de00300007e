package dev.fenceline.examples.pausedwriter;

import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Several texts in one line, for event files and for what conductor and writers tell each other. */
final class Fields {

    private static final Pattern ESCAPED = Pattern.compile("\\\\([tnr\\\\])");

    private Fields() {}

    static String join(Object... fields) {
        return Arrays.stream(fields).map(field -> escape(field.toString())).collect(Collectors.joining("\t"));
    }

    static List<String> split(String line) {
        return Arrays.stream(line.split("\t", -1)).map(Fields::unescape).toList();
    }

    private static String escape(String field) {
        return field.replace("\\", "\\\\")
                .replace("\t", "\\t")
                .replace("\n", "\\n")
                .replace("\r", "\\r");
    }

    private static String unescape(String field) {
        return ESCAPED.matcher(field).replaceAll(escaped -> switch (escaped.group(1)) {
            case "t" -> "\t";
            case "n" -> "\n";
            case "r" -> "\r";
            default -> "\\\\";
        });
    }
}
