package dev.fenceline.testkit;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Ends what this JVM started even if this JVM is killed: one shell per JVM reads from a pipe that only we hold, and the end
 * of that pipe is the one sign of our death that SIGKILL cannot suppress. Shutdown hooks do the orderly cases.
 */
final class Reaper {

    private static final Reaper INSTANCE = new Reaper();

    private @Nullable BufferedWriter shell;

    private Reaper() {}

    static void watch(long pid, String signal, Path directory) {
        INSTANCE.tell("watch " + pid + " " + signal + " " + directory);
    }

    static void forget(long pid) {
        INSTANCE.tell("forget " + pid);
    }

    /** Removes a directory of no process when this JVM has ended. */
    static void remove(Path directory) {
        INSTANCE.tell("remove - - " + directory);
    }

    private synchronized void tell(String line) {
        if (ProcessTable.windows()) {
            return;
        }
        try {
            BufferedWriter writer = shell;
            if (writer == null) {
                writer = start();
                shell = writer;
            }
            writer.write(line);
            writer.write('\n');
            writer.flush();
        } catch (IOException e) {
            throw new UncheckedIOException("The shell that ends servers after a crash of the tests is gone.", e);
        }
    }

    private static BufferedWriter start() throws IOException {
        Process process = new ProcessBuilder("sh", "-c", script())
                .redirectOutput(Redirect.DISCARD)
                .redirectError(Redirect.DISCARD)
                .start();
        return new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
    }

    private static String script() throws IOException {
        try (InputStream script = Objects.requireNonNull(Reaper.class.getResourceAsStream("reaper.sh"))) {
            return new String(script.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
