package dev.fenceline.cli;

import dev.fenceline.FencelineException;
import dev.fenceline.migrations.FenceMigrations;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Gives a role the rights that it needs, and no more. */
@Command(
        name = "grant",
        description = "Lets a role use fences: the smallest set of rights for each use. Run it again after an upgrade.")
final class Grant extends Subcommand {

    /** What the rights are for. */
    enum Use {
        APP,
        ROWS,
        PROTECTION,
        OPERATIONS,
        BYPASS;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** Reads the word. */
        static final class Reader extends Word<Use> {
            Reader() {
                super(values());
            }
        }
    }

    @Mixin
    private final PostgresOptions postgres;

    @Option(
            names = "--to",
            paramLabel = "ROLE",
            required = true,
            description = "The role, as PostgreSQL shows its name; it is quoted for you.")
    private String role = "";

    @Parameters(
            paramLabel = "USE",
            arity = "1..*",
            converter = Use.Reader.class,
            description =
                    "app: claim and enter; rows: row mode; protection: protect tables that the role owns; operations: look at"
                            + " marks and violations and raise marks; bypass: go around the fence,"
                            + " on the record. Several may be given.")
    private List<Use> uses = new ArrayList<>();

    Grant(Terminal terminal) {
        super(terminal);
        this.postgres = new PostgresOptions(terminal);
    }

    @Override
    Report run() {
        FenceMigrations migrations = postgres.migrations();
        List<String> granted = new ArrayList<>();
        for (Use use : uses) {
            try {
                grant(migrations, use);
            } catch (FencelineException e) {
                if (granted.isEmpty()) {
                    throw e;
                }
                throw Failure.unfinished(
                        granted(granted) + " But not " + use + ": " + e.getMessage(),
                        Json.object("role", role, "uses", granted),
                        e);
            }
            granted.add(use.toString());
        }
        return Report.ok().line(granted(granted)).field("role", role).field("uses", granted);
    }

    private void grant(FenceMigrations migrations, Use use) {
        switch (use) {
            case APP -> migrations.grantTo(role);
            case ROWS -> migrations.grantRowsTo(role);
            case PROTECTION -> migrations.grantProtectionTo(role);
            case OPERATIONS -> migrations.grantOperationsTo(role);
            case BYPASS -> migrations.grantBypassTo(role);
        }
    }

    private String granted(List<String> uses) {
        return "Role '" + role + "' may now use: " + String.join(", ", uses) + ".";
    }
}
