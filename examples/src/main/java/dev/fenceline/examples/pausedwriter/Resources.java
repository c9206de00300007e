package dev.fenceline.examples.pausedwriter;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** Reads the files that lie beside the classes: the movements, the SQL, the style of the page. */
final class Resources {

    private Resources() {}

    static String text(String name) {
        try (InputStream in = Resources.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("The resource " + name + " is missing from the class path.");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A statement from a file, without its opening comments, as it is sent and shown. */
    static String sql(String name) {
        return text(name)
                .lines()
                .filter(line -> !line.startsWith("--"))
                .reduce((a, b) -> a + "\n" + b)
                .orElseThrow(() -> new IllegalStateException("The file " + name + " holds no statement."))
                .strip();
    }
}
