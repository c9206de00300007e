package dev.fenceline.cli;

import picocli.CommandLine.Option;

/** Keeps commands that cannot be taken back from being run by a slip. */
final class Confirmation {

    private final Terminal terminal;

    @Option(names = "--yes", order = 70, description = "Do it without asking; needed where nobody can be asked.")
    private boolean yes;

    Confirmation(Terminal terminal) {
        this.terminal = terminal;
    }

    /**
     * Asks, unless --yes was given.
     *
     * @param consequence what will happen, as a sentence
     */
    void require(String consequence) {
        require(consequence, () -> {});
    }

    /**
     * Asks, unless --yes was given.
     *
     * @param consequence what will happen, as a sentence
     * @param warn says more, once it is certain that somebody means it or can be asked
     */
    void require(String consequence, Runnable warn) {
        if (yes) {
            warn.run();
            return;
        }
        if (!terminal.answers()) {
            throw Failure.usage(consequence
                    + " Nobody can be asked here whether that is meant: say so with --yes. Nothing was changed.");
        }
        warn.run();
        String answer = terminal.ask(Texts.printable(consequence) + " Type yes to go on: ");
        if (!answer.strip().equalsIgnoreCase("yes")) {
            throw Failure.refused("Not confirmed, so nothing was changed.");
        }
    }
}
