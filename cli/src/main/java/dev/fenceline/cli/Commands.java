package dev.fenceline.cli;

import picocli.CommandLine;

/** All commands, in the order in which a newcomer needs them. */
final class Commands {

    private Commands() {}

    static void addTo(CommandLine root, Terminal terminal) {
        root.addSubcommand("install", new Install(terminal, "Installed"));
        root.addSubcommand("upgrade", new Install(terminal, "Upgraded"));
        root.addSubcommand("grant", new Grant(terminal));
        root.addSubcommand("completion", new Completion(terminal));
    }
}
