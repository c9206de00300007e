package dev.fenceline.migrations;

import dev.fenceline.Finding;
import dev.fenceline.Finding.Severity;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

/**
 * Looks at a live database for what takes away a promise of the fence: the server and its settings here, the fence schema and its triggers in
 * {@link SchemaDoctor}. Reads the catalogue and the settings alone, as any role may.
 */
final class Doctor {

    private static final int OLDEST = 140_000;
    private static final Duration SKEW = Duration.ofSeconds(5);
    private static final Duration TOO_FAR = Duration.ofHours(24);

    private final Connection connection;
    private final InstantSource clock;
    private final Wording wording;
    private final List<Finding> findings = new ArrayList<>();

    Doctor(Connection connection, InstantSource clock, Wording wording) {
        this.connection = connection;
        this.wording = wording;
        this.clock = clock;
    }

    /** What one row of the server's settings says; apart from the query so that a release can be judged that no test can start. */
    record Server(
            String database,
            int versionNumber,
            String version,
            boolean standby,
            String fsync,
            String fullPageWrites,
            String synchronousCommit,
            String synchronousCommitFrom,
            String synchronousStandbyNames,
            long replicas,
            String encoding,
            Instant clock) {}

    List<Finding> findings() throws SQLException {
        Instant before = clock.instant();
        Server server = server();
        Instant after = clock.instant();
        judge(server);
        judgeClock(server, before, after);
        settings(server.database());
        findings.addAll(new SchemaDoctor(connection, wording).findings(server.database()));
        findings.sort(Comparator.comparing(Finding::severity));
        return List.copyOf(findings);
    }

    /** What there is to say of a server with these settings. */
    static List<Finding> judged(Connection connection, Server server) {
        Doctor doctor = new Doctor(connection, InstantSource.system(), Wording.JAVA);
        doctor.judge(server);
        return doctor.findings;
    }

    private Server server() throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(Sql.resource("doctor_server.sql"))) {
            row.next();
            return new Server(
                    row.getString(1),
                    row.getInt(2),
                    row.getString(3),
                    row.getBoolean(4),
                    row.getString(5),
                    row.getString(6),
                    row.getString(7),
                    row.getString(8),
                    row.getString(9),
                    row.getLong(10),
                    row.getString(11),
                    Instant.ofEpochMilli(row.getLong(12)));
        }
    }

    private void judge(Server server) {
        String subject = subject(server.database());
        if (server.versionNumber() < OLDEST) {
            find(
                    "postgres-version",
                    Severity.ERROR,
                    subject,
                    "is served by PostgreSQL " + server.version(),
                    "The fence needs 14 or later. Upgrade the server.");
        }
        if (server.standby()) {
            find(
                    "postgres-standby",
                    Severity.ERROR,
                    subject,
                    "is served by a standby (pg_is_in_recovery() is true), whose marks lag behind",
                    "Claims and fenced transactions are refused here. Connect to the primary, for instance with"
                            + " targetServerType=primary.");
        }
        if (server.fsync().equals("off")) {
            find(
                    "postgres-fsync",
                    Severity.ERROR,
                    subject,
                    "runs with fsync = off, so a crash of its machine may forget marks that were acknowledged, or ruin the data",
                    "Set fsync = on and reload.");
        }
        if (server.fullPageWrites().equals("off")) {
            find(
                    "postgres-full-page-writes",
                    Severity.WARNING,
                    subject,
                    "runs with full_page_writes = off, so a crash of its machine may leave torn pages, marks among them",
                    "Set full_page_writes = on and reload, unless the file system writes pages whole.");
        }
        // What a role or a database sets is found there.
        if (server.synchronousCommit().equals("off")
                && !Set.of("database", "user", "database user").contains(server.synchronousCommitFrom())) {
            find(
                    "postgres-synchronous-commit",
                    Severity.ERROR,
                    subject,
                    "gives this session synchronous_commit = off (from: " + server.synchronousCommitFrom() + ")",
                    "Claims are refused with it, since a crash could forget a mark that was acknowledged. Set it on there.");
        }
        if (server.replicas() > 0 && server.synchronousStandbyNames().isBlank()) {
            find(
                    "postgres-asynchronous-replicas",
                    Severity.INFO,
                    subject,
                    "has " + server.replicas()
                            + (server.replicas() == 1 ? " replica" : " replicas")
                            + " and synchronous_standby_names is empty",
                    "A replica that is promoted may lack the newest claims and writes, together. Run "
                            + wording.afterRestore() + " after a promotion, or name a synchronous standby.");
        }
        if (!server.encoding().equals("UTF8")) {
            find(
                    "postgres-encoding",
                    Severity.WARNING,
                    subject,
                    "is encoded in " + server.encoding(),
                    "Names of locks with other letters than ASCII may differ here from those in Java, and such writes are refused. Use a"
                            + " database in UTF8.");
        }
    }

    private void judgeClock(Server server, Instant before, Instant after) {
        Duration ahead = server.clock().isAfter(after)
                ? Duration.between(after, server.clock())
                : server.clock().isBefore(before) ? Duration.between(before, server.clock()) : Duration.ZERO;
        if (ahead.abs().compareTo(SKEW) > 0) {
            boolean far = ahead.abs().compareTo(TOO_FAR) > 0;
            find(
                    "postgres-clock",
                    far ? Severity.ERROR : Severity.WARNING,
                    subject(server.database()),
                    "has a clock that is " + ahead.abs().toSeconds() + " s "
                            + (ahead.isNegative() ? "behind" : "ahead of") + " ours",
                    far
                            ? "Tokens more than 25 h ahead of the database's clock are refused, and those of its own raised marks would be"
                                    + " refused by the lock server. Set both clocks right."
                            : "Who is right cannot be told from here. Let both follow NTP: refusals of tokens from the future and raised"
                                    + " marks go by the database's clock.");
        }
    }

    private void settings(String database) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(Sql.resource("doctor_settings.sql"))) {
            while (row.next()) {
                String setting = row.getString(3);
                String value = row.getString(4);
                String whose = row.getString(1).isEmpty()
                        ? subject(row.getString(2))
                        : "role '" + row.getString(1) + "'"
                                + (row.getString(2).isEmpty() ? "" : " in " + subject(row.getString(2)));
                String sets = "sets " + setting + " = " + value + " for its sessions";
                if (setting.equals("synchronous_commit") && isOff(value)) {
                    find(
                            "postgres-synchronous-commit",
                            Severity.ERROR,
                            whose,
                            sets,
                            "Its claims are refused, since a crash could forget a mark that was acknowledged. Reset it there.");
                } else if (setting.equals("session_replication_role") && value.equals("replica")) {
                    find(
                            "postgres-replication-role",
                            Severity.WARNING,
                            whose,
                            sets,
                            "Triggers that do not fire always are skipped, foreign keys too. Protected tables of "
                                    + database + " still refuse; reset it if nobody needs it.");
                } else if (setting.equals("default_transaction_read_only") && !isOff(value)) {
                    find(
                            "postgres-read-only",
                            Severity.WARNING,
                            whose,
                            sets,
                            "Its claims are refused (25006), since they write. Reset it for roles that use the fence.");
                }
            }
        }
    }

    private static boolean isOff(String value) {
        return Set.of("off", "false", "no", "0", "f", "n").contains(value);
    }

    static String subject(String database) {
        return "database '" + database + "'";
    }

    private void find(String code, Severity severity, String subject, String found, String remedy) {
        findings.add(new Finding(code, severity, subject, found, remedy));
    }
}
