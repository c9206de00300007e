package dev.fenceline.verification;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The sources of tests and contracts by the simple name of their class; one name may have several. */
final class TestSources {

    private final Map<String, List<String>> byName;

    private TestSources(Map<String, List<String>> byName) {
        this.byName = byName;
    }

    static TestSources below(Path root) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return new TestSources(files.filter(file -> file.toString().matches(".*/src/.*(Test|Contract)\\.java"))
                    .collect(Collectors.groupingBy(
                            file -> file.getFileName().toString().replace(".java", ""),
                            Collectors.mapping(TestSources::text, Collectors.toList()))));
        }
    }

    static TestSources of(String name, String... sources) {
        return new TestSources(Map.of(name, List.of(sources)));
    }

    /** A method counts if JUnit runs it: between it and an annotation of a test there is no blank line and no other method. */
    boolean hasTest(String name, String method) {
        Pattern test = Pattern.compile(
                "(?m)^ *@(?:Test|ParameterizedTest|RepeatedTest)\\b.*\\n(?:(?!.*\\bvoid \\w+\\().+\\n)*? *(?:(?:public|protected|final) )*"
                        + "(?:<[^>]+> )?void " + method + "\\(");
        Pattern factory = Pattern.compile(
                "(?m)^ *@TestFactory\\b.*\\n *(?:(?:public|protected|final) )*Stream<\\w+> " + method + "\\(");
        return byName.getOrDefault(name, List.of()).stream()
                .anyMatch(source ->
                        test.matcher(source).find() || factory.matcher(source).find());
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
