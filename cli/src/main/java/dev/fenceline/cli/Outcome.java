package dev.fenceline.cli;

import java.util.Locale;

/** How a command ended. Scripts see the number, readers of {@code --json} the word too; neither changes its meaning. */
enum Outcome {
    /** Done, or so already; nothing was found. */
    OK(0),
    /** Looked, and found what somebody has to see to. */
    FINDINGS(1),
    /** Refused, and nothing was changed. */
    REFUSED(1),
    /** Not understood, or an address, a file or an answer is missing that is needed; nothing was changed. */
    USAGE(2),
    /** A server could not be reached, and nothing was changed. */
    UNREACHABLE(3),
    /** Done in part: the same command again does the rest. */
    UNFINISHED(4),
    /** A fault of this program. */
    FAULT(5),
    /** Interrupted, as a shell has it: 128 and the number of the signal. What was done before stays. */
    INTERRUPTED(130);

    private final int exitCode;

    Outcome(int exitCode) {
        this.exitCode = exitCode;
    }

    int exitCode() {
        return exitCode;
    }

    /** As {@code --json} writes it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
