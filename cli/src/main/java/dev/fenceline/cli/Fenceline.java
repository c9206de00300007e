package dev.fenceline.cli;

import java.util.Optional;
import java.util.logging.LogManager;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Option;

/**
 * Brings the fence into a database and looks after it, from a shell: {@code java -jar fenceline-cli-all.jar --help}.
 *
 * <p><b>Guarantees:</b> an exit code says how a command ended: 0 done, 1 refused or something was found, 2 not understood or something
 * needed is missing, 3 a
 * server could not be reached, 4 done in part and to be run again, 5 a fault of this program, 130 interrupted. Failures are one line on standard
 * error. Passwords come from the environment, a file or a prompt, and are in no message.
 *
 * <p><b>Thread-safety:</b> none is needed; one command for each call.
 */
@Command(
        name = "fenceline",
        description =
                "Brings fences into a PostgreSQL database, and looks after them, those in S3 and the locks in Redis.",
        synopsisSubcommandLabel = "COMMAND",
        usageHelpAutoWidth = true,
        footer = {
            "",
            "Exit codes: 0 done; 1 refused, or something was found; 2 not understood, or an argument, a file or",
            "a --yes is missing; 3 a server cannot be reached; 4 done in part, run it again; 5 a fault of fenceline;",
            "130 interrupted.",
            "",
            "Connections: --url or FENCELINE_URL, --redis or FENCELINE_REDIS, --s3 or FENCELINE_S3; for Redlock --nodes or",
            "FENCELINE_REDLOCK.",
            "Passwords come, in this order, from",
            "--password-file, FENCELINE_PASSWORD, PGPASSWORD, FENCELINE_URL, ~/.pgpass or a prompt, and for Redis from",
            "--redis-password-file, FENCELINE_REDIS_PASSWORD, FENCELINE_REDIS or a prompt; never from an argument.",
            "Keys of S3 come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or where the AWS SDK finds them."
        })
public final class Fenceline {

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help.")
    @SuppressWarnings("UnusedVariable") // picocli looks at the annotation
    private boolean help;

    @Option(names = "--version", versionHelp = true, description = "Print the version.")
    @SuppressWarnings("UnusedVariable") // picocli looks at the annotation
    private boolean version;

    private Fenceline() {}

    /**
     * Runs one command and ends the process with its exit code.
     *
     * @param arguments the command and its options
     */
    public static void main(String... arguments) {
        // What libraries log is no part of a command's output, and may hold what they were given.
        LogManager.getLogManager().reset();
        // From Java 22 to 24 there is a console, if nobody says otherwise, also where input and output are no screen.
        System.setProperty("jdk.console", "java.base");
        System.exit(run(Terminal.ofProcess(), arguments));
    }

    /** Runs one command in this process. */
    static int run(Terminal terminal, String... arguments) {
        try {
            return commandLine(terminal).execute(arguments);
        } catch (RuntimeException | Error e) {
            // Commands report what they throw; this is left to be a command that picocli cannot even set up, or a
            // broken jar.
            return Failures.report(terminal, "", Failure.of(e), OutputOptions.of(arguments));
        }
    }

    static CommandLine commandLine(Terminal terminal) {
        CommandLine root = new CommandLine(new Fenceline());
        root.getCommandSpec().versionProvider(new Version());
        Commands.addTo(root, terminal);
        root.setOut(terminal.out());
        root.setErr(terminal.err());
        root.setColorScheme(CommandLine.Help.defaultColorScheme(terminal.colour() ? Ansi.ON : Ansi.OFF));
        root.setParameterExceptionHandler((e, args) -> Failures.misunderstood(terminal, e, args));
        return root;
    }

    /** The manifest knows it; classes that were not packaged have none. */
    private static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {
                "fenceline "
                        + Optional.ofNullable(Fenceline.class.getPackage().getImplementationVersion())
                                .orElse("(not packaged)")
            };
        }
    }
}
