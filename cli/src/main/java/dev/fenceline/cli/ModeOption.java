package dev.fenceline.cli;

import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The mode for all tables of a command. */
final class ModeOption {

    @Option(
            names = "--mode",
            paramLabel = "MODE",
            order = 15,
            converter = Mode.Reader.class,
            description =
                    "observe or enforce, for all of these tables; otherwise as the file says, and observe where nothing does.")
    private @Nullable Mode mode;

    /** Empty where it is left to the file. */
    Optional<Mode> mode() {
        return Optional.ofNullable(mode);
    }
}
