package dev.fenceline.cli;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.migrations.FenceMigrations;
import dev.fenceline.migrations.Wording;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Brings the schema up to this release. */
@Command(
        description =
                "Creates the schema fenceline, or brings it up to this release. It touches nothing else, and keeps a history of its"
                        + " own; running it again is harmless.")
final class Install extends Subcommand {

    @Mixin
    private final PostgresOptions postgres;

    private final String done;

    Install(Terminal terminal, String done) {
        super(terminal);
        this.postgres = new PostgresOptions(terminal);
        this.done = done;
    }

    @Override
    Report run() throws SQLException {
        DataSource source = postgres.connect();
        Progress.during(
                terminal, "Waiting for locks, or for another process that installs", progress -> install(source));
        int version = version(source);
        return Report.ok()
                .line(Report.Style.GOOD, done + ": the schema fenceline has version " + version + ".")
                .line(
                        "Next: fenceline grant app --to ROLE, once for the role of each application, and again after an upgrade.")
                .field("schemaVersion", version);
    }

    private static DataSource install(DataSource source) {
        try {
            FenceMigrations.on(source).worded(Wording.SHELL).install();
            return source;
        } catch (BackendUnavailableException e) {
            // It was there a moment ago, and some of the versions may be installed.
            throw new Failure(Outcome.UNFINISHED, String.valueOf(e.getMessage()), e);
        }
    }

    private static int version(DataSource source) throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT fenceline.version_v1()")) {
            row.next();
            return row.getInt(1);
        }
    }
}
