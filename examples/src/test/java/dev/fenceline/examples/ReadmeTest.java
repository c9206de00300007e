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

/** The Java code of the README is code that is compiled here and run by {@link ProgramsTest}, to the letter. */
class ReadmeTest {

    private static final Pattern BLOCK = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL);
    private static final Pattern SNIPPET =
            Pattern.compile("// snippet: [a-z-]+\\n(.*?)\\n *// end snippet", Pattern.DOTALL);

    @Test
    void everyBlockOfTheReadmeIsASnippetAndEverySnippetIsInTheReadme() throws IOException {
        List<String> blocks = found(BLOCK, Files.readString(Path.of("..", "README.md")));
        List<String> snippets = new ArrayList<>();
        try (Stream<Path> sources = Files.list(Path.of("src/main/java/dev/fenceline/examples"))) {
            for (Path source : sources.filter(Files::isRegularFile).sorted().toList()) {
                snippets.addAll(found(SNIPPET, Files.readString(source)));
            }
        }
        assertThat(blocks).isNotEmpty().containsExactlyInAnyOrderElementsOf(snippets);
    }

    private static List<String> found(Pattern pattern, String text) {
        return pattern.matcher(text)
                .results()
                .map((MatchResult result) -> result.group(1).stripIndent().strip())
                .toList();
    }
}
