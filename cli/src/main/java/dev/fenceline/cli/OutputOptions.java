package dev.fenceline.cli;

import java.util.Arrays;
import java.util.List;
import picocli.CommandLine.Option;

/** How a command speaks. */
final class OutputOptions {

    @Option(
            names = "--json",
            order = 90,
            description =
                    "Print one JSON document to standard output, of failures too; beside command, outcome and exitCode either a message, or what a person reads here as fields.")
    boolean json;

    @Option(
            names = "--verbose",
            order = 91,
            description = "Name also what is so already, and print the stack trace of a failure.")
    boolean verbose;

    /** As they were written, where nobody has read them. */
    static OutputOptions of(String... arguments) {
        List<String> given = Arrays.asList(arguments);
        OutputOptions output = new OutputOptions();
        output.json = given.contains("--json");
        output.verbose = given.contains("--verbose");
        return output;
    }

    @Option(
            names = {"-h", "--help"},
            order = 92,
            usageHelp = true,
            description = "Show this help.")
    @SuppressWarnings("UnusedVariable") // picocli looks at the annotation
    private boolean help;
}
