package dev.fenceline.migrations;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The functions of the fence schema as the text of the migrations has them, the last definition of each. A database is compared with this text and not
 * with a hash of it, which would have to be kept in step by hand.
 */
final class SchemaText {

    /** In their order. A test compares this with the folder. */
    static final List<String> MIGRATIONS =
            List.of("V1__guard.sql", "V2__guard_forms.sql", "V3__rows.sql", "V4__enforced.sql", "V5__operations.sql");

    /** The version that this release installs. */
    static final int VERSION = MIGRATIONS.size();

    // The body is quoted by $…$ or by apostrophes, or is an expression; the header before it holds none of them.
    private static final Pattern FUNCTION = Pattern.compile(
            "^CREATE (?:OR REPLACE )?((?:FUNCTION|PROCEDURE) fenceline\\.(\\w+)\\((.*?)"
                    + "(?:AS (?:(\\$\\w*\\$)(.*?)\\4|'((?:[^']|'')*)')|^(RETURN [^;]*)));",
            Pattern.DOTALL | Pattern.MULTILINE);
    private static final Pattern VOLATILITY = Pattern.compile("\\b(IMMUTABLE|STABLE)\\b");
    private static final Pattern LANGUAGE = Pattern.compile("\\bLANGUAGE (\\w+)");
    private static final Pattern VIEW = Pattern.compile(
            "^CREATE (?:OR REPLACE )?VIEW fenceline\\.(\\w+)(.*?);$", Pattern.DOTALL | Pattern.MULTILINE);
    private static final Pattern SETTING = Pattern.compile("\\bSET (\\w+) = (.*)");

    private SchemaText() {}

    /**
     * A function as the server runs it.
     *
     * @param body an expression is parsed by the server and written down by it in its own way: see {@link #expressions}
     * @param settings such as {@code search_path=pg_catalog, pg_temp}
     */
    record Function(String body, String language, String security, String volatility, String settings) {}

    static Map<String, Function> functions() {
        Map<String, Function> functions = new TreeMap<>();
        definitions().forEach((name, definition) -> {
            String header = definition.group(3);
            functions.put(
                    name,
                    new Function(
                            body(definition),
                            first(LANGUAGE, header, 1, ""),
                            header.contains("SECURITY DEFINER") ? "SECURITY DEFINER" : "SECURITY INVOKER",
                            first(VOLATILITY, header, 1, "VOLATILE"),
                            setting(header)));
        });
        return functions;
    }

    /** Statements that make a copy, in the schema of the session's temporary objects, of each function whose body is an expression. */
    static Map<String, String> expressions() {
        Map<String, String> expressions = new TreeMap<>();
        definitions().forEach((name, definition) -> {
            if (definition.group(7) != null) {
                expressions.put(name, "CREATE " + definition.group(1).replaceFirst("fenceline\\.", "pg_temp."));
            }
        });
        return expressions;
    }

    /** Statements that make a copy, in the schema of the session's temporary objects, of each view. */
    static Map<String, String> views() {
        Map<String, String> views = new TreeMap<>();
        for (String migration : MIGRATIONS) {
            Matcher matcher = VIEW.matcher(Sql.resource("versioned/" + migration));
            while (matcher.find()) {
                views.put(matcher.group(1), "CREATE TEMPORARY VIEW " + matcher.group(1) + matcher.group(2));
            }
        }
        return views;
    }

    private static Map<String, MatchResult> definitions() {
        Map<String, MatchResult> definitions = new TreeMap<>();
        for (String migration : MIGRATIONS) {
            Matcher matcher = FUNCTION.matcher(Sql.resource("versioned/" + migration));
            while (matcher.find()) {
                definitions.put(matcher.group(2), matcher.toMatchResult());
            }
        }
        return definitions;
    }

    private static String body(MatchResult definition) {
        if (definition.group(7) != null) {
            return definition.group(7);
        }
        return definition.group(6) == null
                ? definition.group(5)
                : definition.group(6).replace("''", "'");
    }

    private static String setting(String header) {
        Matcher matcher = SETTING.matcher(header);
        return matcher.find() ? matcher.group(1) + "=" + matcher.group(2).strip() : "";
    }

    private static String first(Pattern pattern, String text, int group, String otherwise) {
        Matcher matcher = pattern.matcher(text);
        return matcher.find() ? matcher.group(group) : otherwise;
    }
}
