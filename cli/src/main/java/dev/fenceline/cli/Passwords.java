package dev.fenceline.cli;

import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Where passwords come from: what is typed as an argument can be read by everybody on the machine, and stays in histories. */
final class Passwords {

    private Passwords() {}

    /** From a file that was named, else from the first variable that is set. */
    static Optional<String> from(Terminal terminal, String option, Optional<Path> file, String... variables) {
        if (file.isPresent()) {
            return Optional.of(read(option, file.get()));
        }
        for (String variable : variables) {
            Optional<String> value = terminal.variable(variable);
            if (value.isPresent()) {
                return value;
            }
        }
        return Optional.empty();
    }

    /** The file of an option. What is no name of a file may be the password itself, and is not repeated. */
    static Path path(String option, String name) {
        try {
            return Path.of(name);
        } catch (InvalidPathException e) {
            throw Failure.usage(missing(option));
        }
    }

    private static String missing(String option) {
        return "The file of " + option
                + " does not exist. It takes the name of a file with the password in its first line.";
    }

    private static String read(String option, Path file) {
        String text;
        try {
            text = Files.readString(file);
        } catch (NoSuchFileException e) {
            throw Failure.usage(missing(option));
        } catch (AccessDeniedException e) {
            throw Failure.usage("The file of " + option + " may not be read by this user.");
        } catch (MalformedInputException e) {
            throw Failure.usage("The file of " + option + " is no text in UTF-8.");
        } catch (IOException e) {
            // Also of a name that is too long, or goes through a file as if it were a folder.
            throw Failure.usage(
                    "The file of " + option + " cannot be read: it is no ordinary file, or its disk fails.");
        }
        String password = text.lines().findFirst().orElse("");
        if (password.isEmpty()) {
            throw Failure.usage("The file of " + option + " has no password in its first line.");
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
