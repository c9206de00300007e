package dev.fenceline.cli;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A word before a few commands. Alone it is not understood. */
abstract class Group implements Runnable {

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private CommandSpec spec;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help.")
    @SuppressWarnings("UnusedVariable") // picocli looks at the annotation
    private boolean help;

    @Override
    public final void run() {
        throw new ParameterException(
                spec.commandLine(),
                "Which of its commands? " + String.join(", ", spec.subcommands().keySet()) + ".");
    }
}
