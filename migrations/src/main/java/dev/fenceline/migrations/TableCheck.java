package dev.fenceline.migrations;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Looks for what somebody has put on the fence's own tables, or taken off them: a trigger or a rule of his can keep a mark from rising, a
 * policy can hide it, and without its key a lock has two.
 */
final class TableCheck {

    /** A constraint or trigger that a table has; by its definition, since a name may be another after a restore. */
    private record Part(String table, String definition) {}

    // As the server writes what V1 to V5 create, the same from PostgreSQL 14 to 18.
    private static final List<Part> PARTS = List.of(
            new Part("guard", "PRIMARY KEY (lock)"),
            new Part("guard", "CHECK (((token > 0) AND (token < '9007199254740992'::bigint)))"),
            new Part("guard", inVain("entered_in_vain", "UPDATE OF lock", "guard", "enter")),
            new Part("operation", "PRIMARY KEY (id)"),
            new Part("operation", "CHECK ((outcome = ANY (ARRAY['applied'::text, 'never'::text])))"),
            new Part("violation", "PRIMARY KEY (id)"),
            new Part("bypass", "PRIMARY KEY (id)"),
            new Part("bypass", inVain("bypassed_in_vain", "INSERT", "bypass", "bypass")),
            new Part("raising", "PRIMARY KEY (holder)"));

    private final Connection connection;

    TableCheck(Connection connection) {
        this.connection = connection;
    }

    private static String inVain(String trigger, String event, String table, String call) {
        return "CREATE CONSTRAINT TRIGGER " + trigger + " AFTER " + event + " ON fenceline." + table
                + " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fenceline.tell_in_vain_v1('" + call
                + "')";
    }

    List<Difference> differences() throws SQLException {
        List<Difference> differences = new ArrayList<>();
        Set<Part> missing = new LinkedHashSet<>(PARTS);
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(Sql.resource("verify_tables.sql"))) {
            while (row.next()) {
                Part part = new Part(row.getString(1), row.getString(3).replaceAll("\\s+", " "));
                if (!missing.remove(part)) {
                    differences.add(new Difference(
                            subject(part),
                            "none such, since this release makes none",
                            part.definition(),
                            "Find out who made it, and take it off: the schema is the fence's own."));
                } else if ("DR".contains(row.getString(4)) && !row.getString(4).isEmpty()) {
                    differences.add(new Difference(
                            subject(part),
                            "trigger " + row.getString(2) + " to fire",
                            "that it " + TriggerState.of(row.getString(4)).words(),
                            "As the owner of the schema run: ALTER TABLE fenceline." + part.table() + " ENABLE TRIGGER "
                                    + row.getString(2) + ";"));
                }
            }
        }
        missing.forEach(part -> differences.add(new Difference(
                subject(part), part.definition(), "none", "As the owner of the schema run: " + made(part))));
        return differences;
    }

    private static String subject(Part part) {
        return "table fenceline." + part.table();
    }

    private static String made(Part part) {
        return part.definition().startsWith("CREATE")
                ? part.definition() + ";"
                : "ALTER TABLE fenceline." + part.table() + " ADD " + part.definition() + ";";
    }
}
