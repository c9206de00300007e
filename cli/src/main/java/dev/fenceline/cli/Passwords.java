package dev.fenceline.cli;

import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Where passwords come from: what is typed as an argument can be read by everybody on the machine, and stays in histories. */
final class Passwords {

    private Passwords() {}

    /** From a file that was named, else from the first variable that is set. */
    static Optional<String> from(Terminal terminal, String option, @Nullable Path file, String... variables) {
        if (file != null) {
            return Optional.of(read(option, file));
        }
        for (String variable : variables) {
            Optional<String> value = terminal.variable(variable);
            if (value.isPresent()) {
                return value;
            }
        }
        return Optional.empty();
    }

    private static String read(String option, Path file) {
        String text;
        try {
            text = Files.readString(file);
        } catch (NoSuchFileException e) {
            throw Failure.usage("The file of " + option + ", " + file + ", does not exist.");
        } catch (AccessDeniedException e) {
            throw Failure.usage("The file of " + option + ", " + file + ", may not be read by this user.");
        } catch (MalformedInputException e) {
            throw Failure.usage("The file of " + option + ", " + file + ", is no text in UTF-8.");
        } catch (IOException e) {
            throw Failure.usage("The file of " + option + ", " + file
                    + ", cannot be read: it is no ordinary file, or its disk fails.");
        }
        String password = text.lines().findFirst().orElse("");
        if (password.isEmpty()) {
            throw Failure.usage("The file of " + option + ", " + file + ", has no password in its first line.");
        }
        return password;
    }

    /** The one answer to every way of passing one as an argument. It does not repeat what was typed. */
    static ParameterException refused(CommandSpec spec, String where, String instead) {
        return new ParameterException(
                spec.commandLine(),
                where
                        + " is refused: arguments can be read by everybody on this machine while the command runs, and stay in the"
                        + " history of the shell. " + instead);
    }
}
