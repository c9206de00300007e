package dev.fenceline.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The Java code of the README is code that is compiled here and run by {@link ProgramsTest} and the tests beside it, to the letter. */
class ReadmeTest {

    private static final Pattern BLOCK = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL);
    private static final Pattern SNIPPET =
            Pattern.compile("// snippet: [a-z-]+\\n(.*?)\\n *// end snippet", Pattern.DOTALL);

    @Test
    void everyBlockOfTheReadmeIsASnippetAndEverySnippetIsInTheReadme() throws IOException {
        List<String> blocks = found(BLOCK, Files.readString(Path.of("..", "README.md")));
        List<String> snippets = new ArrayList<>();
        try (Stream<Path> sources =
                Files.find(Path.of("").toAbsolutePath(), 20, (file, attributes) -> isSource(file))) {
            for (Path source : sources.sorted().toList()) {
                snippets.addAll(found(SNIPPET, Files.readString(source)));
            }
        }
        assertThat(blocks).isNotEmpty().containsExactlyInAnyOrderElementsOf(snippets);
    }

    /** Of this module and of those inside of it; not this file, whose pattern would match. */
    private static boolean isSource(Path file) {
        return file.toString().endsWith(".java")
                && !file.endsWith("ReadmeTest.java")
                && !file.toString().contains("/target/");
    }

    private static List<String> found(Pattern pattern, String text) {
        return pattern.matcher(text)
                .results()
                .map((MatchResult result) -> result.group(1).stripIndent().strip())
                .toList();
    }
}
