package dev.fenceline.migrations;

import dev.fenceline.BackendMisconfiguredException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** Compares a database with a declaration, within a transaction that is rolled back. */
final class Verifier {

    private static final String ONE_LINE = "Verification refused: ";
    private static final Map<String, String> MARK_COLUMNS =
            Map.of(TableState.TOKEN, "bigint NOT NULL DEFAULT 0", TableState.HOLDER, "uuid");
    // The server shows the constant as it was written.
    private static final Pattern ZERO = Pattern.compile("bigint NOT NULL DEFAULT (0|'0'::bigint|\\(0\\)::bigint)");
    static final Comparator<TableName> BY_NAME =
            Comparator.comparing(TableName::schema).thenComparing(TableName::name);

    private final Connection connection;
    private final Wording wording;
    private final List<Difference> differences = new ArrayList<>();

    Verifier(Connection connection, Wording wording) {
        this.connection = connection;
        this.wording = wording;
    }

    Verification verify(List<Protect> declared) throws SQLException {
        Map<TableName, Protect> byTable = new TreeMap<>(BY_NAME);
        for (Protect protect : declared) {
            Protect other = byTable.put(protect.table(), protect);
            if (other != null) {
                throw new IllegalArgumentException("Table " + protect.table() + " is declared twice: "
                        + described(other) + " and " + described(protect) + ". Declare it once.");
            }
        }
        boolean installed = requireRights();
        try (Statement statement = connection.createStatement()) {
            // As within fenceline.protect, so that names of tables read the same; and for the text of a definition.
            statement.execute("SET LOCAL search_path = pg_catalog, pg_temp; SET LOCAL standard_conforming_strings = on;"
                    + " SET LOCAL lock_timeout = '10s'");
        }
        differences.addAll(new SchemaCheck(connection, wording).differences());
        if (installed) {
            Map<TableName, List<Protect>> said = said();
            TriggerCheck triggers = TriggerCheck.of(connection);
            for (Protect protect : byTable.values()) {
                differences.addAll(triggers.differences(protect, said.getOrDefault(protect.table(), List.of())));
            }
            undeclared(byTable, said, triggers);
        } else {
            byTable.values().forEach(protect -> differences.add(TriggerCheck.unprotected(protect)));
        }
        keepersOfRows();
        markColumns();
        return new Verification(differences);
    }

    static String described(Protect protect) {
        return protect.mode().text() + " by lock class '" + protect.lockClass() + "' and key " + protect.key();
    }

    /** Tells whether there is a fence schema. */
    private boolean requireRights() throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(Sql.resource("verify_may.sql"))) {
            row.next();
            String role = row.getString(1);
            if (row.getBoolean(2)) {
                throw new BackendMisconfiguredException(
                        ONE_LINE
                                + "this server is a standby, where no temporary table can be made to compare with. Connect to the"
                                + " primary.",
                        null);
            }
            boolean installed = row.getBoolean(4);
            if (installed && !row.getBoolean(3)) {
                throw new BackendMisconfiguredException(
                        ONE_LINE + "role '" + role
                                + "' may not create temporary tables in this database, and one is made to compare"
                                + " triggers with. Run: GRANT TEMPORARY ON DATABASE … TO …; as the owner of the database.",
                        null);
            }
            if (installed && !row.getBoolean(5)) {
                throw new BackendMisconfiguredException(
                        ONE_LINE + "role '" + role + "' may not see what is protected. Run "
                                + wording.grant(Wording.Right.PROTECTION, role) + " as the owner of the schema.",
                        null);
            }
            return installed;
        }
    }

    /** What the triggers of each table say, in the words of a declaration. */
    private Map<TableName, List<Protect>> said() throws SQLException {
        Map<TableName, List<Protect>> said = new TreeMap<>(BY_NAME);
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(Sql.resource("verify_protected.sql"))) {
            while (row.next()) {
                TableName name = new TableName(row.getString(1), row.getString(2));
                Optional<Protect.Mode> mode = Protect.Mode.of(row.getString(3));
                List<Protect> ofTable = said.computeIfAbsent(name, any -> new ArrayList<>());
                if (mode.isPresent()) {
                    ofTable.add(new Protect(name, row.getString(4), Sql.texts(row, 5), mode.get()));
                }
            }
        }
        return said;
    }

    private void undeclared(
            Map<TableName, Protect> byTable, Map<TableName, List<Protect>> said, TriggerCheck triggers) {
        for (Map.Entry<TableName, List<String>> entry : triggers.unvisited().entrySet()) {
            TableName name = entry.getKey();
            if (!byTable.containsKey(name)) {
                String found = said.getOrDefault(name, List.of()).stream()
                        .findFirst()
                        .map(Verifier::described)
                        .orElse("triggers " + String.join(", ", entry.getValue()));
                differences.add(new Difference(
                        name.toString(),
                        "no protection, since none is declared",
                        found,
                        "Declare it, or take it off with " + wording.unprotect(name) + "."));
            }
        }
    }

    /** A restore that disables triggers for its time enables them as by default, which a replica's sessions pass. */
    private void keepersOfRows() throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(Sql.resource("doctor_triggers.sql"))) {
            while (row.next()) {
                TriggerState state = TriggerState.of(row.getString(3));
                boolean onSubscriber = row.getBoolean(4) && state == TriggerState.ORIGIN;
                if (row.getBoolean(5) && state != TriggerState.ALWAYS && !onSubscriber) {
                    differences.add(new Difference(
                            row.getString(1),
                            "that trigger " + row.getString(2) + " " + TriggerState.ALWAYS.words(),
                            "that it " + state.words(),
                            "Run: ALTER TABLE " + row.getString(1) + " ENABLE ALWAYS TRIGGER " + row.getString(2)
                                    + ";"));
                }
            }
        }
    }

    private void markColumns() throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(Sql.resource("verify_columns.sql"))) {
            while (row.next()) {
                TableName name = new TableName(row.getString(1), row.getString(2));
                String column = row.getString(3);
                String found = row.getString(4);
                String expected = MARK_COLUMNS.getOrDefault(column, "");
                boolean fits =
                        column.equals(TableState.TOKEN) ? ZERO.matcher(found).matches() : found.equals(expected);
                if (!fits) {
                    differences.add(new Difference(
                            name.toString(),
                            "column " + column + " " + expected,
                            found,
                            "A new row would begin with a mark that nobody has claimed, or with none. Alter the column back; if it is not"
                                    + " the fence's, rename it."));
                }
            }
        }
    }
}
