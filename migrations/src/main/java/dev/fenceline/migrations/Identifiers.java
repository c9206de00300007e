package dev.fenceline.migrations;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Names and texts on their way into SQL and out of it. */
final class Identifiers {

    /** PostgreSQL cuts longer names off, so that two of them could be one. */
    private static final int MAX_BYTES = 63;

    private static final Pattern PART = Pattern.compile(
            "\\s*(?:\"((?:[^\"]|\"\")+)\"|([A-Za-z_\\x80-\\x{10FFFF}][A-Za-z0-9_$\\x80-\\x{10FFFF}]*))\\s*");
    private static final Pattern PLAIN = Pattern.compile("[a-z_][a-z0-9_]*");

    /** What quote_ident of PostgreSQL 18 quotes although it looks plain: every keyword but the unreserved ones. Earlier releases know fewer. */
    private static final Set<String> KEYWORDS = Set.of(
            ("all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean both case "
                            + "cast char character check coalesce collate collation column concurrently constraint create cross current_catalog "
                            + "current_date current_role current_schema current_time current_timestamp current_user dec decimal default "
                            + "deferrable desc distinct do else end except exists extract false fetch float for foreign freeze from full grant "
                            + "greatest group grouping having ilike in initially inner inout int integer intersect interval into is isnull join "
                            + "json json_array json_arrayagg json_exists json_object json_objectagg json_query json_scalar json_serialize "
                            + "json_table json_value lateral leading least left like limit localtime localtimestamp merge_action national "
                            + "natural nchar none normalize not notnull null nullif numeric offset on only or order out outer overlaps overlay "
                            + "placing position precision primary real references returning right row select session_user setof similar "
                            + "smallint some substring symmetric system_user table tablesample then time timestamp to trailing treat trim true "
                            + "union unique user using values varchar variadic verbose when where window with xmlattributes xmlconcat "
                            + "xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable")
                    .split(" "));

    private Identifiers() {}

    /**
     * Takes apart what SQL takes apart: {@code app.order} and {@code "Odd.Name"}.
     *
     * @param text names with dots between them
     * @param what is named, for the message
     * @return the names as the catalogue spells them
     */
    static List<String> parse(String text, String what) {
        List<String> parts = new ArrayList<>();
        Matcher part = PART.matcher(text);
        int at = 0;
        while (part.region(at, text.length()).lookingAt()) {
            // Only the letters of ASCII: that is what a server does whose encoding is UTF8.
            parts.add(checked(
                    part.group(1) != null ? part.group(1).replace("\"\"", "\"") : lowerCase(part.group(2)), what));
            at = part.end();
            if (at == text.length()) {
                return parts;
            }
            if (text.charAt(at) != '.') {
                break;
            }
            at++;
        }
        throw new IllegalArgumentException(what + " '" + oneLine(text) + "' cannot be read at character " + (at + 1)
                + ". Write it as in SQL: names with other characters than letters, digits and _, or with capitals, in double quotes,"
                + " such as \"Odd.Name\".");
    }

    static String checked(String name, String what) {
        int bytes = name.getBytes(StandardCharsets.UTF_8).length;
        if (name.isEmpty() || name.indexOf('\0') >= 0 || bytes > MAX_BYTES) {
            throw new IllegalArgumentException(what + " '" + oneLine(name) + "' has " + bytes
                    + " bytes or holds a NUL; a name in PostgreSQL has 1 to " + MAX_BYTES + " bytes.");
        }
        return name;
    }

    private static String lowerCase(String text) {
        StringBuilder folded = new StringBuilder(text.length());
        text.chars().forEach(c -> folded.append((char) (c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c)));
        return folded.toString();
    }

    /** For people, and to be read by {@link #parse}: in quotes where the server's own messages and records have it so, as quote_ident does. */
    static String shown(String name) {
        return PLAIN.matcher(name).matches() && !KEYWORDS.contains(name) ? name : inQuotes(name);
    }

    /** For statements. Tools take a dollar before a brace for a placeholder of theirs, also within quotes, so it is escaped. */
    static String quoted(String name) {
        return name.contains("${")
                ? "U&" + inQuotes(name.replace("\\", "\\\\").replace("${", "\\0024{"))
                : inQuotes(name);
    }

    /** As the input of regclass, which knows no escapes. */
    static String inQuotes(String name) {
        return '"' + name.replace("\"", "\"\"") + '"';
    }

    /** A text in a statement; an expression in parentheses where it must be. */
    static String literal(String text) {
        if (text.contains("${")) {
            return Stream.of(text.split("(?<=\\$)(?=\\{)", -1))
                    .map(Identifiers::stringConstant)
                    .collect(Collectors.joining(" || ", "(", ")"));
        }
        return stringConstant(text);
    }

    /** One constant, whatever standard_conforming_strings is; it must hold no placeholder. */
    static String stringConstant(String text) {
        String doubled = text.replace("'", "''");
        return doubled.contains("\\") ? "E'" + doubled.replace("\\", "\\\\") + '\'' : '\'' + doubled + '\'';
    }

    /** For a message: whatever a name holds, it ends no line. */
    static String oneLine(String text) {
        return text.replaceAll("[\\p{Cc}\\u2028\\u2029]", "?");
    }

    /** For a comment in SQL: nor is it a placeholder. */
    static String comment(String text) {
        return oneLine(text).replace("${", "$ {");
    }
}
