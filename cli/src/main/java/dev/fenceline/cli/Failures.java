package dev.fenceline.cli;

import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** How failures are told: one line on standard error, and with {@code --json} the same as a document. */
final class Failures {

    private Failures() {}

    static int report(Terminal terminal, String command, Failure failure, OutputOptions output) {
        terminal.out().flush();
        for (String line : failure.lines()) {
            terminal.err().println(Report.Style.BAD.on("fenceline:", terminal) + " " + Texts.oneLine(line));
        }
        if (output.verbose) {
            failure.printStackTrace(terminal.err());
        }
        terminal.err().flush();
        if (output.json) {
            Map<String, @Nullable Object> fields =
                    Json.object("message", Texts.oneLine(String.valueOf(failure.getMessage())));
            fields.putAll(failure.fields());
            terminal.out().println(Json.document(command, failure.outcome(), fields));
            terminal.out().flush();
        }
        return failure.outcome().exitCode();
    }

    /** What picocli did not understand. */
    static int misunderstood(Terminal terminal, ParameterException e, String... arguments) {
        CommandLine command = e.getCommandLine();
        String name = command.getCommandSpec().qualifiedName(" ");
        String said =
                e instanceof UnmatchedArgumentException unmatched ? told(unmatched) : String.valueOf(e.getMessage());
        Failure failure = Failure.usage(Texts.sentence(said) + " See: " + name + " --help");
        return report(terminal, name.replaceFirst("^fenceline ?", ""), failure, OutputOptions.of(arguments));
    }

    /** Of {@code --word=value} and of {@code -pvalue}, as other programs read it, the value is left out. */
    private static String name(String argument) {
        return argument.startsWith("--")
                ? argument.split("=", 2)[0]
                : argument.substring(0, Math.min(2, argument.length()));
    }

    /** Which options are unknown. What was given with them is left out, since it may be a password behind a misspelt option. */
    private static String told(UnmatchedArgumentException e) {
        String options = e.getUnmatched().stream()
                .filter(argument -> argument.startsWith("-"))
                .map(argument -> "'" + name(argument) + "'")
                .collect(Collectors.joining(", "));
        if (options.isEmpty()) {
            return "There are " + Texts.count(e.getUnmatched().size(), "argument") + " too many.";
        }
        return "Unknown option " + options + ".";
    }
}
