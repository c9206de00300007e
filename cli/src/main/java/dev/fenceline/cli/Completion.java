package dev.fenceline.cli;

import picocli.AutoComplete;
import picocli.CommandLine.Command;

/** Prints what a shell needs to complete commands and options. */
@Command(
        name = "completion",
        description =
                "Prints a script for bash and zsh that completes commands and options: source <(fenceline completion)")
final class Completion extends Subcommand {

    Completion(Terminal terminal) {
        super(terminal);
    }

    @Override
    Report run() {
        String script = AutoComplete.bash("fenceline", Fenceline.commandLine(terminal));
        return Report.ok().line(script).field("script", script);
    }
}
