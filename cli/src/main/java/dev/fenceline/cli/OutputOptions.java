package dev.fenceline.cli;

import picocli.CommandLine.Option;

/** How a command speaks. */
final class OutputOptions {

    @Option(
            names = "--json",
            order = 90,
            description = "Print one JSON document to standard output, of failures too; its fields are in docs/cli.md.")
    boolean json;

    @Option(names = "--verbose", order = 91, description = "Print the stack trace of a failure.")
    boolean verbose;

    @Option(
            names = {"-h", "--help"},
            order = 92,
            usageHelp = true,
            description = "Show this help.")
    @SuppressWarnings("UnusedVariable") // picocli looks at the annotation
    private boolean help;
}
