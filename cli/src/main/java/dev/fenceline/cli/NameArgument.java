package dev.fenceline.cli;

import dev.fenceline.LockName;
import picocli.CommandLine.Parameters;

/** One lock. */
final class NameArgument {

    @Parameters(
            paramLabel = "LOCK",
            description = "The lock's name: its class and the parts of its key, such as account:42.")
    private String text = "";

    LockName name() {
        return LockName.parse(text);
    }
}
