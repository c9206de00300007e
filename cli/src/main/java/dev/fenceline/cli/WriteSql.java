package dev.fenceline.cli;

import dev.fenceline.migrations.MigrationFiles;
import dev.fenceline.migrations.Plan;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Gives the work to the user's own migrations. */
@Command(
        name = "sql",
        description =
                "Prints the SQL that apply would run, or writes it and its undo into the folder of your own migrations, as"
                        + " V48__name.sql and U48__name.sql. Plain SQL: Flyway, Liquibase and psql run it.")
final class WriteSql extends TellPlan {

    @Option(
            names = "--out",
            paramLabel = "FOLDER",
            order = 30,
            description = "The folder of your migrations, such as db/migration.")
    private @Nullable Path folder;

    @Option(
            names = "--version",
            paramLabel = "VERSION",
            order = 31,
            description = "The version that they get there, such as 48.")
    private @Nullable String version;

    @Option(
            names = "--name",
            paramLabel = "NAME",
            order = 32,
            defaultValue = "fenceline",
            description = "What their names say (${DEFAULT-VALUE}).")
    private String name = "fenceline";

    @Option(
            names = "--undo",
            paramLabel = "FOLDER",
            order = 33,
            description =
                    "Where the undo goes, rather than beside: Flyway's free edition takes it for a migration whose name is"
                            + " wrong, also in a folder below its own.")
    private @Nullable Path undos;

    WriteSql(Terminal terminal) {
        super(terminal);
    }

    @Override
    void check() {
        if ((folder == null) != (version == null)) {
            throw Failure.usage(
                    "--out and --version belong together: the folder of your migrations, and the version of this one.");
        }
        if (undos != null && folder == null) {
            throw Failure.usage("--undo goes with --out; without that, rollback-sql prints the undo.");
        }
    }

    @Override
    Report tell(Plan plan) {
        if (folder == null || version == null) {
            return Report.ok()
                    .line(plan.sql().stripTrailing())
                    .field("sql", plan.sql())
                    .field("warnings", plan.warnings());
        }
        if (Steps.nothingToDo(plan)) {
            throw Failure.refused(
                    "Migration " + version
                            + " was not written: there is nothing to do here, all is so already. Make it from a database where it is not.");
        }
        MigrationFiles files;
        try {
            files = plan.write(folder, undos == null ? folder : undos, version, name);
        } catch (IllegalStateException e) {
            // The folder, or what is in it.
            throw new Failure(Outcome.REFUSED, String.valueOf(e.getMessage()), e);
        }
        Report report = Report.ok()
                .line(Report.Style.GOOD, "Written: " + files.migration() + " and " + files.undo() + ".")
                .line("Nothing runs the undo by itself. When it is wanted: psql -v ON_ERROR_STOP=1 -f " + files.undo())
                .field("migration", files.migration().toString())
                .field("undo", files.undo().toString())
                .field("warnings", plan.warnings());
        warn(plan);
        return report;
    }
}
