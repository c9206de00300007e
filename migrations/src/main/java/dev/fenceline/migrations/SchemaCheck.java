package dev.fenceline.migrations;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Compares the fence schema with what this release installs, in a transaction that is rolled back: functions are copied for it. */
final class SchemaCheck {

    static final String GUARD = "table fenceline.guard";

    private static final String REPAIR =
            "Find out who changed it, and restore it from the migrations of this release, as the owner of the schema.";
    private static final Pattern VERSION = Pattern.compile("SELECT (\\d{1,9})");

    // As pg_get_triggerdef writes what V1 and V2 create, the same from PostgreSQL 14 to 18.
    private static final Map<String, String> KEEPERS = new TreeMap<>(Map.of(
            "keep_mark",
            "CREATE TRIGGER keep_mark AFTER UPDATE OF lock, token, holder ON fenceline.guard FOR EACH ROW WHEN (((new.token < old.token) OR"
                    + " ((new.token = old.token) AND (new.holder <> old.holder)) OR (new.lock <> old.lock)))"
                    + " EXECUTE FUNCTION fenceline.keep_mark_v1()",
            "keep_row",
            "CREATE TRIGGER keep_row BEFORE DELETE ON fenceline.guard FOR EACH STATEMENT EXECUTE FUNCTION fenceline.keep_mark_v1()",
            "keep_table",
            "CREATE TRIGGER keep_table BEFORE TRUNCATE ON fenceline.guard FOR EACH STATEMENT EXECUTE FUNCTION"
                    + " fenceline.keep_mark_v1()"));

    private final Connection connection;
    private final Wording wording;
    private final List<Difference> differences = new ArrayList<>();

    SchemaCheck(Connection connection, Wording wording) {
        this.connection = connection;
        this.wording = wording;
    }

    /** The version that the schema says it has; empty where there is none. */
    static Optional<Integer> version(Map<String, SchemaText.Function> functions) {
        return Optional.ofNullable(functions.get("version_v1")).map(function -> {
            Matcher matcher = VERSION.matcher(function.body().strip());
            return matcher.matches() ? Integer.parseInt(matcher.group(1)) : 0;
        });
    }

    static Map<String, SchemaText.Function> functions(Connection connection) throws SQLException {
        Map<String, SchemaText.Function> functions = new TreeMap<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(Sql.resource("verify_functions.sql"))) {
            while (row.next()) {
                String name = row.getString(1);
                // The fence has one of each name; ours is the older.
                functions.put(
                        functions.containsKey(name) ? name + " with other arguments" : name,
                        new SchemaText.Function(
                                row.getString(2),
                                row.getString(3),
                                row.getString(4),
                                row.getString(5),
                                row.getString(6)));
            }
        }
        return functions;
    }

    List<Difference> differences() throws SQLException {
        Map<String, SchemaText.Function> found = functions(connection);
        Optional<Integer> version = version(found);
        if (!version.equals(Optional.of(SchemaText.VERSION))) {
            String remedy = version.isPresent() && version.get() > SchemaText.VERSION
                    ? "Verify with the release that installed it."
                    : "Run " + wording.install() + ".";
            return List.of(new Difference(
                    "schema fenceline",
                    "version " + SchemaText.VERSION,
                    version.map(number -> "version " + number).orElse("none"),
                    remedy));
        }
        compareFunctions(found);
        compareViews();
        compareGuard();
        differences.addAll(new TableCheck(connection).differences());
        differences.addAll(new RightsCheck(connection).differences());
        return differences;
    }

    private void compareFunctions(Map<String, SchemaText.Function> found) throws SQLException {
        Map<String, SchemaText.Function> expected = SchemaText.functions();
        for (Map.Entry<String, String> copy : SchemaText.expressions().entrySet()) {
            String body = written(copy.getKey(), copy.getValue());
            expected.computeIfPresent(
                    copy.getKey(),
                    (name, function) -> new SchemaText.Function(
                            body,
                            function.language(),
                            function.security(),
                            function.volatility(),
                            function.settings()));
        }
        expected.forEach((name, function) -> {
            SchemaText.Function there = found.get(name);
            String subject = "function fenceline." + name;
            if (there == null) {
                differences.add(new Difference(subject, "it as this release installs it", "none", REPAIR));
            } else if (!there.body().equals(function.body())) {
                differences.add(new Difference(
                        subject,
                        "the body that this release installs",
                        "another, which " + where(function.body(), there.body()),
                        REPAIR));
            } else if (!there.equals(function)) {
                differences.add(new Difference(subject, described(function), described(there), REPAIR));
            }
        });
        found.keySet().stream()
                .filter(name -> !expected.containsKey(name))
                .forEach(name -> differences.add(new Difference(
                        "function fenceline." + name,
                        "none of this name",
                        "one",
                        "Drop it: the schema is the fence's own.")));
    }

    private record View(String options, String definition) {

        @Override
        public String toString() {
            return (options.isEmpty() ? "" : "WITH (" + options + ") ")
                    + definition.replaceAll("\\s+", " ").strip();
        }
    }

    private void compareViews() throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String copy : SchemaText.views().values()) {
                statement.execute(copy);
            }
        }
        Map<String, View> expected = views("pg_catalog.pg_my_temp_schema()");
        Map<String, View> found = views("'fenceline'::pg_catalog.regnamespace");
        expected.forEach((name, view) -> {
            View there = found.get(name);
            if (there == null || !there.equals(view)) {
                differences.add(new Difference(
                        "view fenceline." + name, view.toString(), there == null ? "none" : there.toString(), REPAIR));
            }
        });
        try (Statement statement = connection.createStatement()) {
            for (String name : expected.keySet()) {
                statement.execute("DROP VIEW pg_temp." + name);
            }
        }
    }

    private Map<String, View> views(String schema) throws SQLException {
        Map<String, View> views = new TreeMap<>();
        try (Statement statement = connection.createStatement();
                ResultSet row =
                        statement.executeQuery(Sql.resource("verify_views.sql").replace("?", schema))) {
            while (row.next()) {
                views.put(row.getString(1), new View(row.getString(2), row.getString(3)));
            }
        }
        return views;
    }

    /** How the server writes down the body of a copy. */
    private String written(String name, String create) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(create);
            try (ResultSet row = statement.executeQuery(
                    "SELECT pg_catalog.pg_get_function_sqlbody('pg_temp." + name + "'::pg_catalog.regproc)")) {
                row.next();
                return row.getString(1);
            }
        }
    }

    private void compareGuard() throws SQLException {
        Map<String, String> missing = new TreeMap<>(KEEPERS);
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(Sql.resource("verify_guard.sql"))) {
            boolean first = true;
            while (row.next()) {
                String name = row.getString(1);
                if (first && !"p".equals(row.getString(4))) {
                    differences.add(new Difference(
                            GUARD,
                            "a permanent table",
                            "an unlogged one, which a crash empties",
                            "ALTER TABLE fenceline.guard SET LOGGED, and run " + wording.afterRestore() + "."));
                }
                first = false;
                String expected = name == null ? null : missing.remove(name);
                if (expected != null) {
                    compareKeeper(name, expected, row.getString(2), row.getString(3));
                }
            }
        }
        missing.forEach((name, definition) -> differences.add(new Difference(
                GUARD,
                "trigger " + name,
                "none",
                "As the owner of the schema run: " + definition + "; " + enable(name))));
    }

    private void compareKeeper(String name, String expected, String enabled, String definition) {
        if (!definition.equals(expected)) {
            differences.add(new Difference(GUARD, expected, definition, REPAIR));
        } else if (!enabled.equals("A")) {
            differences.add(new Difference(
                    GUARD,
                    "trigger " + name + " to fire always",
                    "that it " + TriggerState.of(enabled).words(),
                    "As the owner of the schema run: " + enable(name)));
        }
    }

    private static String enable(String trigger) {
        return "ALTER TABLE fenceline.guard ENABLE ALWAYS TRIGGER " + trigger + ";";
    }

    private static String described(SchemaText.Function function) {
        return "LANGUAGE " + function.language() + " " + function.security() + " " + function.volatility() + " SET "
                + (function.settings().isEmpty() ? "nothing" : function.settings());
    }

    /** Names the first line that differs. */
    private static String where(String expected, String found) {
        List<String> left = expected.lines().toList();
        List<String> right = found.lines().toList();
        for (int i = 0; i < Math.min(left.size(), right.size()); i++) {
            if (!left.get(i).equals(right.get(i))) {
                return "has in line " + (i + 1) + " '" + right.get(i).strip() + "' instead of '"
                        + left.get(i).strip() + "'";
            }
        }
        return "has " + right.size() + " lines instead of " + left.size();
    }
}
