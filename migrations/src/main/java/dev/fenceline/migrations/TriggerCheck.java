package dev.fenceline.migrations;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Compares the triggers of a table with those that protecting it anew would make. What these are is not computed here: a temporary table with the same
 * key is protected by the same function, and the server writes down both. Names and defaults of the server's text so never matter.
 */
final class TriggerCheck {

    private static final String COPY = "fenceline_expected";
    private static final String AGAIN = "Protect it again: plan and apply this declaration.";
    private static final String LOOSENS =
            "Declare enforce if that is meant: to apply this declaration goes back to observing, which refuses nobody.";

    private final Connection connection;
    private final Map<TableName, Map<String, Trigger>> found;
    private final Set<TableName> visited = new HashSet<>();

    private TriggerCheck(Connection connection, Map<TableName, Map<String, Trigger>> found) {
        this.connection = connection;
        this.found = found;
    }

    /** Of a table or a partition; {@code inherited} where it is a partition's and its root is protected. */
    private record Trigger(TriggerState state, boolean judges, String definition, boolean inherited) {}

    /** A table as it is: {@code text} is its name as protecting it would read it. */
    private record Shape(String text, List<TableName> partitions, TriggerState state, List<String> keyColumns) {}

    static TriggerCheck of(Connection connection) throws SQLException {
        Map<TableName, Map<String, Trigger>> found = new TreeMap<>(Verifier.BY_NAME);
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(Sql.resource("verify_triggers.sql"))) {
            while (row.next()) {
                found.computeIfAbsent(new TableName(row.getString(1), row.getString(2)), any -> new TreeMap<>())
                        .put(
                                row.getString(3),
                                new Trigger(
                                        TriggerState.of(row.getString(4)),
                                        row.getBoolean(5),
                                        row.getString(6),
                                        row.getBoolean(7)));
            }
        }
        return new TriggerCheck(connection, found);
    }

    static Difference unprotected(Protect declared) {
        return new Difference(
                declared.table().toString(), Verifier.described(declared), "no protection", "Plan and apply it.");
    }

    /** Tables with triggers of the fence that {@link #differences} was not asked for, nor for what they are partitions of. */
    Map<TableName, List<String>> unvisited() {
        Map<TableName, List<String>> rest = new TreeMap<>(Verifier.BY_NAME);
        found.forEach((table, triggers) -> {
            List<String> names = triggers.entrySet().stream()
                    .filter(entry ->
                            entry.getValue().judges() && !entry.getValue().inherited())
                    .map(Map.Entry::getKey)
                    .toList();
            if (!visited.contains(table) && !names.isEmpty()) {
                rest.put(table, names);
            }
        });
        return rest;
    }

    /** Whoever is told to apply that would open a table which is closed. */
    private static boolean loosens(Protect declared, Protect actual) {
        return declared.mode() == Protect.Mode.OBSERVE && actual.mode() == Protect.Mode.ENFORCE;
    }

    /** Compares with what is declared, and the rest with what the triggers themselves say, so that one mistake is told once. */
    List<Difference> differences(Protect declared, List<Protect> said) throws SQLException {
        List<Difference> differences = new ArrayList<>();
        String subject = declared.table().toString();
        Optional<Fault> notTheirs = declared.table().notTheirs();
        if (notTheirs.isPresent()) {
            visited.add(declared.table());
            return List.of(new Difference(
                    subject,
                    Verifier.described(declared),
                    "a table that cannot be protected: " + notTheirs.get().problem(),
                    "Take it out of the declaration. " + notTheirs.get().remedy()));
        }
        Protect actual = said.size() == 1 ? said.get(0) : declared;
        Optional<Shape> exists = shape(actual);
        if (exists.isEmpty()) {
            return List.of(new Difference(
                    subject,
                    Verifier.described(declared),
                    "no such table",
                    "Create it, or take it out of the declaration."));
        }
        Shape shape = exists.get();
        List<TableName> members = new ArrayList<>(List.of(declared.table()));
        members.addAll(shape.partitions());
        visited.addAll(members);
        if (found.getOrDefault(declared.table(), Map.of()).values().stream().noneMatch(Trigger::judges)) {
            return List.of(unprotected(declared));
        }
        if (said.size() == 1 && !said.get(0).equals(declared)) {
            differences.add(new Difference(
                    subject,
                    Verifier.described(declared),
                    Verifier.described(actual),
                    loosens(declared, actual) ? LOOSENS : AGAIN));
        } else if (said.size() > 1) {
            differences.add(new Difference(
                    subject,
                    Verifier.described(declared),
                    "triggers that disagree: "
                            + said.stream().map(Verifier::described).toList(),
                    AGAIN));
        }
        if (shape.keyColumns().size() < actual.key().size()) {
            differences.add(new Difference(
                    subject,
                    "the key columns " + actual.key(),
                    "of these only " + shape.keyColumns(),
                    "A column was renamed or dropped; its rows are still refused or let through by what it was. Declare the columns"
                            + " that the table has now, and protect it again."));
            return differences;
        }
        Map<String, String> expected = expected(actual, shape);
        for (TableName member : members) {
            compare(
                    member,
                    expected,
                    shape.state(),
                    member.equals(declared.table())
                            ? AGAIN
                            : "It is a partition of " + declared.table()
                                    + ": protect that again, by planning and applying its" + " declaration.",
                    differences);
        }
        return differences;
    }

    private void compare(
            TableName member,
            Map<String, String> expected,
            TriggerState state,
            String again,
            List<Difference> differences) {
        String subject = member.toString();
        Map<String, Trigger> triggers = found.getOrDefault(member, Map.of());
        expected.forEach((name, definition) -> {
            Trigger trigger = triggers.get(name);
            if (trigger == null) {
                differences.add(new Difference(subject, "trigger " + name, "none", again));
            } else if (!trigger.judges()) {
                differences.add(new Difference(
                        subject,
                        "trigger " + name + " of the fence",
                        "another of that name: " + trigger.definition(),
                        "Rename or drop it, then protect the table again."));
            } else if (!trigger.definition().equals(definition)) {
                differences.add(new Difference(subject, definition, trigger.definition(), again));
            } else if (trigger.state() != state) {
                differences.add(new Difference(
                        subject,
                        "that trigger " + name + " " + state.words(),
                        "that it " + trigger.state().words(),
                        again));
            }
        });
        triggers.forEach((name, trigger) -> {
            if (!expected.containsKey(name)) {
                differences.add(new Difference(
                        subject, "no trigger " + name, trigger.definition(), "Drop it: nothing of the fence made it."));
            }
        });
    }

    private Optional<Shape> shape(Protect actual) throws SQLException {
        try (PreparedStatement look = connection.prepareStatement(Sql.resource("verify_table.sql"))) {
            look.setArray(1, connection.createArrayOf("text", actual.key().toArray()));
            look.setString(2, actual.table().schema());
            look.setString(3, actual.table().name());
            try (ResultSet row = look.executeQuery()) {
                if (!row.next()) {
                    return Optional.empty();
                }
                List<String> schemas = Sql.texts(row, 2);
                List<String> names = Sql.texts(row, 3);
                List<TableName> partitions = new ArrayList<>();
                for (int i = 0; i < names.size(); i++) {
                    partitions.add(new TableName(schemas.get(i), names.get(i)));
                }
                // The worker that applies a subscription writes as a replica, and enters nothing.
                return Optional.of(new Shape(
                        row.getString(1),
                        partitions,
                        row.getBoolean(4) ? TriggerState.ORIGIN : TriggerState.ALWAYS,
                        Sql.texts(row, 5)));
            }
        }
    }

    /** The definitions that protecting the table would give its triggers, by name. */
    private Map<String, String> expected(Protect protect, Shape shape) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("CREATE TEMPORARY TABLE " + COPY + " (" + String.join(", ", shape.keyColumns()) + ")");
        }
        try (PreparedStatement make =
                connection.prepareStatement("SELECT fenceline.protect_v1('pg_temp." + COPY + "', ?, ?, ?)")) {
            make.setString(1, protect.lockClass());
            make.setArray(2, connection.createArrayOf("text", protect.key().toArray()));
            make.setString(3, protect.mode().text());
            make.executeQuery().close();
        }
        Map<String, String> definitions = new LinkedHashMap<>();
        try (Statement statement = connection.createStatement()) {
            try (ResultSet row = statement.executeQuery(
                    "SELECT t.tgname::text, regexp_replace(pg_get_triggerdef(t.oid), ' ON \\w+\\." + COPY
                            + " FOR EACH', ' FOR EACH')" + " FROM pg_trigger t WHERE t.tgrelid = 'pg_temp." + COPY
                            + "'::regclass ORDER BY t.tgname")) {
                while (row.next()) {
                    // To observe, a trigger notes the name of its table.
                    definitions.put(row.getString(1), row.getString(2).replace(noted(COPY), noted(shape.text())));
                }
            }
            statement.execute("DROP TABLE pg_temp." + COPY);
        }
        return definitions;
    }

    private static String noted(String table) {
        return "'%|" + table.replace("%", "%25").replace("'", "''") + "%|'";
    }
}
