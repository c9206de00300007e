package dev.fenceline.migrations;

import dev.fenceline.Finding;
import dev.fenceline.Finding.Severity;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Looks at the fence schema, at the triggers of the fence on whatever table, and at who may do what. */
final class SchemaDoctor {

    private static final List<Grant> GRANTS = List.of(
            new Grant("grant.sql", "claim_v1", Wording.Right.APP),
            new Grant("grant_rows.sql", "check_claim_v1", Wording.Right.ROWS),
            new Grant("grant_protection.sql", "protect_v1", Wording.Right.PROTECTION),
            new Grant("grant_operations.sql", "begin_raising_v1", Wording.Right.OPERATIONS));

    /** A grant, a function that nobody has without it, and the right that it gives. */
    private record Grant(String script, String sign, Wording.Right right) {}

    private final Connection connection;
    private final Wording wording;
    private final List<Finding> findings = new ArrayList<>();

    SchemaDoctor(Connection connection, Wording wording) {
        this.connection = connection;
        this.wording = wording;
    }

    List<Finding> findings(String database) throws SQLException {
        Optional<Integer> version = SchemaCheck.version(SchemaCheck.functions(connection));
        schema(database, version);
        operations();
        triggers();
        ownTables();
        open();
        if (version.equals(Optional.of(SchemaText.VERSION))) {
            grants();
        }
        ofPublic();
        return findings;
    }

    private void schema(String database, Optional<Integer> version) throws SQLException {
        if (version.isEmpty()) {
            find(
                    "postgres-schema-missing",
                    Severity.ERROR,
                    Doctor.subject(database),
                    "has no fence schema",
                    "Run " + wording.install() + ".");
        } else if (version.get() < SchemaText.VERSION) {
            find(
                    "postgres-schema-old",
                    Severity.ERROR,
                    Doctor.subject(database),
                    "has version " + version.get() + " of the fence schema, and this release calls version "
                            + SchemaText.VERSION,
                    "Run " + wording.install() + " of this release; earlier ones go on working with it.");
        } else if (version.get() > SchemaText.VERSION) {
            find(
                    "postgres-schema-new",
                    Severity.WARNING,
                    Doctor.subject(database),
                    "has version " + version.get() + " of the fence schema, and this release knows version "
                            + SchemaText.VERSION,
                    "It goes on working. Look with the release that installed it.");
        }
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(Sql.resource("verify_guard.sql"))) {
            Set<String> missing = new TreeSet<>(Set.of("keep_mark", "keep_row", "keep_table"));
            String persistence = "p";
            while (row.next()) {
                persistence = row.getString(4);
                missing.remove(Optional.ofNullable(row.getString(1)).orElse(""));
            }
            if (!persistence.equals("p")) {
                find(
                        "postgres-guard-unlogged",
                        Severity.ERROR,
                        SchemaCheck.GUARD,
                        "is unlogged, so that a crash of the server removes all marks",
                        "Run ALTER TABLE fenceline.guard SET LOGGED, then " + wording.afterRestore() + ".");
            }
            if (version.isPresent() && !missing.isEmpty()) {
                find(
                        "postgres-trigger-missing",
                        Severity.ERROR,
                        SchemaCheck.GUARD,
                        "lacks the triggers " + missing + ", so that marks can fall or vanish",
                        "See what " + wording.verify() + " says of them, and restore them.");
            }
        }
    }

    /** What became of transactions whose answer was lost is asked there; a record that a crash removed reads as never. */
    private void operations() throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(Sql.resource("doctor_operations.sql"))) {
            if (row.next() && !row.getString(1).equals("p")) {
                find(
                        "postgres-operations-unlogged",
                        Severity.ERROR,
                        "table fenceline.operation",
                        "is unlogged, so that after a crash of the server work that was committed is said never to have happened",
                        "Run ALTER TABLE fenceline.operation SET LOGGED.");
            }
        }
    }

    private void triggers() throws SQLException {
        Set<String> stopping = new TreeSet<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(Sql.resource("doctor_triggers.sql"))) {
            while (row.next()) {
                TriggerState state = TriggerState.of(row.getString(3));
                boolean subscribed = row.getBoolean(4);
                if (subscribed && state == TriggerState.ALWAYS) {
                    stopping.add(row.getString(1));
                } else if (state != TriggerState.ALWAYS && !(subscribed && state == TriggerState.ORIGIN)) {
                    find(
                            "postgres-trigger-state",
                            state == TriggerState.ORIGIN ? Severity.WARNING : Severity.ERROR,
                            "table " + row.getString(1),
                            "has a trigger " + row.getString(2) + " that " + state.words(),
                            "Run: ALTER TABLE " + row.getString(1) + " ENABLE ALWAYS TRIGGER " + row.getString(2)
                                    + ";");
                }
            }
        }
        stopping.forEach(table -> find(
                "postgres-subscriber",
                Severity.ERROR,
                "table " + table,
                "is filled by a subscription and has triggers that fire always",
                "They refuse or record the worker that applies the changes, which enters nothing, and replication stops. Run "
                        + wording.onSubscriber(table) + "."));
    }

    /** A guard that is protected refuses the claims that would open it, and so all work under the fence. */
    private void ownTables() throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(Sql.resource("doctor_own_tables.sql"))) {
            while (row.next()) {
                String table = row.getString(1);
                find(
                        "postgres-own-table",
                        Severity.ERROR,
                        "table " + table,
                        "is protected as if it were yours, by " + row.getString(2),
                        "The fence itself may be refused there, claims among it. As the owner take them off: "
                                + wording.unprotect(TableName.parse(table)) + ".");
            }
        }
    }

    private void open() throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(Sql.resource("doctor_open.sql"))) {
            while (row.next()) {
                boolean partition = row.getBoolean(3);
                find(
                        partition ? "postgres-partition-open" : "postgres-child-open",
                        partition ? Severity.WARNING : Severity.ERROR,
                        "table " + row.getString(2),
                        partition
                                ? "is a partition of the protected " + row.getString(1)
                                        + " and can be truncated by itself"
                                : "inherits from the protected " + row.getString(1) + " and is not protected itself",
                        partition
                                ? "Protect " + row.getString(1) + " again."
                                : "Rows of a child do not fire its parent's triggers. Protect it too.");
            }
        }
    }

    /** What everybody may call, or do with a table: a dump that is restored without rights forgets that nobody may. */
    private void ofPublic() throws SQLException {
        List<String> rights = new RightsCheck(connection).ofPublic();
        if (!rights.isEmpty()) {
            find(
                    "postgres-public",
                    Severity.ERROR,
                    "schema fenceline",
                    "gives PUBLIC " + RightsCheck.shortened(rights),
                    "Every role of this server has it, so that a right which was granted to few is anybody's. Revoke it FROM PUBLIC as the owner"
                            + " of the schema; any grant of the fence, run again, does so for its functions.");
        }
    }

    private void grants() throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(Sql.resource("doctor_grants.sql"))) {
            while (row.next()) {
                String role = row.getString(1);
                Set<String> has = Set.copyOf(Sql.texts(row, 2));
                GRANTS.forEach(grant -> {
                    Set<String> missing = RightsCheck.granted(grant.script());
                    missing.removeAll(has);
                    if (has.contains(grant.sign()) && !missing.isEmpty()) {
                        find(
                                "postgres-grant",
                                Severity.ERROR,
                                "role '" + role + "'",
                                "may call " + grant.sign() + " and lacks EXECUTE on " + String.join(", ", missing)
                                        + " of schema fenceline",
                                "It was granted by an earlier release, or in part. Run "
                                        + wording.grant(grant.right(), role) + " again.");
                    }
                });
            }
        }
    }

    private void find(String code, Severity severity, String subject, String found, String remedy) {
        findings.add(new Finding(code, severity, subject, found, remedy));
    }
}
