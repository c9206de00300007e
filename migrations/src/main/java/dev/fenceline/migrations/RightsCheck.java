package dev.fenceline.migrations;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Who owns the parts of the fence schema, and what others may do there. Nothing is anybody's whom no grant of the fence names, and PUBLIC has nothing;
 * to look at tables does no harm.
 */
final class RightsCheck {

    static final List<String> GRANTS =
            List.of("grant.sql", "grant_rows.sql", "grant_protection.sql", "grant_operations.sql", "grant_bypass.sql");

    private static final Pattern GRANTED = Pattern.compile("fenceline\\.(\\w+)\\(");
    // Beyond SELECT; as the grants of row mode and of an application give them.
    private static final Set<String> WRITES =
            Set.of("guard INSERT", "guard UPDATE", "holding_v1.claimed_at UPDATE", "schema USAGE");
    private static final int NAMED = 6;

    private final Connection connection;

    RightsCheck(Connection connection) {
        this.connection = connection;
    }

    /** A right, in words: {@code EXECUTE on function enter_v1}. */
    private record Right(String role, String kind, String name, String privilege) {

        boolean isPublic() {
            return role.isEmpty();
        }

        boolean isOfAGrant(Set<String> functions) {
            return switch (kind) {
                case "schema" -> WRITES.contains("schema " + privilege);
                case "function" -> functions.contains(name);
                default -> privilege.equals("SELECT") || WRITES.contains(name + " " + privilege);
            };
        }

        @Override
        public String toString() {
            return privilege + " on " + kind + " " + (kind.equals("schema") ? name : "fenceline." + name);
        }
    }

    /** The functions that a grant of this release names. */
    static Set<String> granted(String script) {
        Set<String> names = new TreeSet<>();
        Matcher matcher = GRANTED.matcher(Sql.resource(script));
        while (matcher.find()) {
            names.add(matcher.group(1));
        }
        return names;
    }

    /** What everybody may do, in words; a doctor's matter too. */
    List<String> ofPublic() throws SQLException {
        return rights().stream().filter(Right::isPublic).map(Right::toString).toList();
    }

    List<Difference> differences() throws SQLException {
        List<Difference> differences = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(Sql.resource("verify_owners.sql"))) {
            while (row.next()) {
                differences.add(new Difference(
                        row.getString(1),
                        "owner '" + row.getString(2) + "', who has the rest of the schema",
                        "owner '" + row.getString(3) + "'",
                        "Find out who changed it, and run: ALTER … OWNER TO " + Identifiers.shown(row.getString(2))
                                + ";"));
            }
        }
        Set<String> functions =
                GRANTS.stream().flatMap(script -> granted(script).stream()).collect(Collectors.toSet());
        Map<String, List<Right>> byRole = new LinkedHashMap<>();
        rights().stream()
                .filter(right -> right.isPublic() || !right.isOfAGrant(functions))
                .sorted(Comparator.comparing(Right::role))
                .forEach(right -> byRole.computeIfAbsent(right.role(), any -> new ArrayList<>())
                        .add(right));
        byRole.forEach((role, rights) -> differences.add(new Difference(
                "schema fenceline",
                role.isEmpty()
                        ? "no right of PUBLIC"
                        : "no right of role '" + role + "' but those that a grant of the fence gives",
                shortened(rights.stream().map(Right::toString).toList()),
                "Find out who gave it, and run: REVOKE … FROM " + (role.isEmpty() ? "PUBLIC" : Identifiers.shown(role))
                        + "; as the owner of the schema.")));
        return differences;
    }

    static String shortened(List<String> rights) {
        String shown = rights.stream().limit(NAMED).collect(Collectors.joining(", "));
        return rights.size() <= NAMED ? shown : shown + " and " + (rights.size() - NAMED) + " more";
    }

    private List<Right> rights() throws SQLException {
        List<Right> rights = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(Sql.resource("verify_rights.sql"))) {
            while (row.next()) {
                rights.add(new Right(row.getString(1), row.getString(2), row.getString(3), row.getString(4)));
            }
        }
        return rights;
    }
}
