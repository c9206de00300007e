package dev.fenceline.cli;

import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What is alike for both servers: an address by option or by the environment, and a password that is no argument. */
abstract class ServerOptions {

    final Terminal terminal;
    private final String option;
    private final String variable;
    private final String instead;

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private CommandSpec spec;

    private @Nullable String address;

    /**
     * Chooses the words.
     *
     * @param instead what to do rather than passing a password as an argument, as sentences
     */
    ServerOptions(Terminal terminal, String option, String variable, String instead) {
        this.terminal = terminal;
        this.option = option;
        this.variable = variable;
        this.instead = instead;
    }

    /** Takes the option, once it is known to hold no password. */
    final void address(@Nullable String text) {
        address = text;
    }

    /** The option, else the variable, which may hold a password. */
    final Optional<String> address() {
        return Optional.ofNullable(address).or(() -> terminal.variable(variable));
    }

    /** Where the address was given, for messages that do not repeat it. */
    final String where() {
        return "The address of " + (address == null ? variable : option);
    }

    final boolean given() {
        return address().isPresent();
    }

    final String instead() {
        return instead;
    }

    /** A password from the file that was named, else from the first variable that is set. */
    final Optional<String> password(String fileOption, @Nullable String file, String... variables) {
        return Passwords.from(
                terminal,
                fileOption,
                Optional.ofNullable(file).map(name -> Passwords.path(fileOption, name)),
                variables);
    }

    final void refusePassword(@Nullable String given) {
        if (given != null) {
            throw refused("A password as an argument");
        }
    }

    final ParameterException refused(String what) {
        return Passwords.refused(spec, what, instead);
    }

    /** Of any other exception picocli repeats the argument. */
    final ParameterException misunderstood(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
