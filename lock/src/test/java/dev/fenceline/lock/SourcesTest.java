package dev.fenceline.lock;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Virtual threads that meet a monitor hold their carrier while they wait; before Java 24 all of them do. */
class SourcesTest {

    private static final Pattern MONITOR = Pattern.compile("\\bsynchronized\\b|\\.wait\\(|\\bnotify(All)?\\(");

    @ParameterizedTest
    @ValueSource(strings = {"src/main/java", "../core/src/main/java"})
    void nothingInTheLockOrInCoreUsesAMonitor(String folder) throws IOException {
        try (Stream<Path> files = Files.walk(Path.of(folder))) {
            List<Path> sources =
                    files.filter(file -> file.toString().endsWith(".java")).toList();
            assertThat(sources)
                    .hasSizeGreaterThan(20)
                    .allSatisfy(source ->
                            assertThat(text(source)).as(source.toString()).doesNotContainPattern(MONITOR));
        }
    }

    @Test
    void thePatternSeesAMonitor() {
        assertThat(List.of("synchronized void close() {", "synchronized (lock) {", "lock.wait(1)", "notifyAll();"))
                .allSatisfy(line -> assertThat(line).containsPattern(MONITOR));
    }

    private static String text(Path source) {
        try {
            return Files.readString(source);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
