package dev.fenceline.cli;

import java.io.Console;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Where a command reads and writes, and what it knows of who is there. */
interface Terminal {

    PrintWriter out();

    PrintWriter err();

    /** A variable of the environment; empty ones count as absent. */
    Optional<String> variable(String name);

    /** Whether somebody is there to answer a question. */
    boolean answers();

    /** Whether standard error ends at a screen, where a line can be written over. */
    boolean errIsScreen();

    /** Asks, on the screen, and waits for a line; the end of input is an empty one. */
    String ask(String question);

    /** Asks for something that must not be shown. */
    String askSecretly(String question);

    /** Where the program looks for files that were not named. */
    default Path directory() {
        return Path.of("");
    }

    /** Colour is for screens, and not for those who set NO_COLOR (no-color.org) or whose screen is none. */
    default boolean colour() {
        return answers()
                && variable("NO_COLOR").isEmpty()
                && !variable("TERM").orElse("").equals("dumb");
    }

    /** The one of this process. */
    static Terminal ofProcess() {
        return new OfProcess(System.console());
    }

    /** Standard streams; a console is there when input and output are both a screen. */
    final class OfProcess implements Terminal {

        private final Optional<Console> console;
        private final PrintWriter out;
        private final PrintWriter err;

        private OfProcess(@Nullable Console console) {
            this.console = Optional.ofNullable(console);
            Charset charset = this.console.map(Console::charset).orElse(StandardCharsets.UTF_8);
            this.out = new PrintWriter(new OutputStreamWriter(System.out, charset), false);
            this.err = new PrintWriter(new OutputStreamWriter(System.err, charset), true);
        }

        @Override
        public PrintWriter out() {
            return out;
        }

        @Override
        public PrintWriter err() {
            return err;
        }

        @Override
        public Optional<String> variable(String name) {
            return Optional.ofNullable(System.getenv(name)).filter(value -> !value.isEmpty());
        }

        @Override
        public boolean answers() {
            return console.isPresent();
        }

        @Override
        public boolean errIsScreen() {
            if (console.isEmpty()) {
                return false;
            }
            // Java says nothing of standard error alone. Where the system tells, a log file gets no lines written over.
            Path stderr = Path.of("/proc/self/fd/2");
            try {
                return !Files.isSymbolicLink(stderr)
                        || Files.readSymbolicLink(stderr).startsWith("/dev");
            } catch (IOException e) {
                return true;
            }
        }

        @Override
        public String ask(String question) {
            String line = console.map(c -> c.readLine("%s", question)).orElse("");
            return line == null ? "" : line;
        }

        @Override
        public String askSecretly(String question) {
            char[] line = console.map(c -> c.readPassword("%s", question)).orElse(null);
            return line == null ? "" : new String(line);
        }
    }
}
