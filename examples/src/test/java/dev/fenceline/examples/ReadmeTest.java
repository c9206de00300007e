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

/** The Java code of the README and of docs/spring.md is code that is compiled and run by the tests of its module, to the letter. */
class ReadmeTest {

    private static final Pattern BLOCK = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL);
    private static final Pattern SNIPPET =
            Pattern.compile("// snippet: [a-z-]+\\n(.*?)\\n *// end snippet", Pattern.DOTALL);
    private static final String SOURCES = "src/main/java/dev/fenceline/examples";

    @Test
    void everyBlockOfTheReadmeIsASnippetAndEverySnippetIsInTheReadmeOrThePageOnSpring() throws IOException {
        List<String> programs = snippets(Path.of(SOURCES));
        List<String> spring = snippets(Path.of("spring-boot", SOURCES, "springboot"));
        List<String> readme = blocks("README.md");
        List<String> page = blocks("docs/spring.md");
        assertThat(readme).isNotEmpty().doesNotHaveDuplicates().containsAll(programs);
        assertThat(Stream.concat(programs.stream(), spring.stream())).containsAll(readme);
        assertThat(page).isNotEmpty().containsExactlyInAnyOrderElementsOf(spring);
    }

    private static List<String> blocks(String page) throws IOException {
        return found(BLOCK, Files.readString(Path.of("..", page)));
    }

    private static List<String> snippets(Path folder) throws IOException {
        List<String> snippets = new ArrayList<>();
        try (Stream<Path> sources = Files.list(folder)) {
            for (Path source : sources.filter(Files::isRegularFile).sorted().toList()) {
                snippets.addAll(found(SNIPPET, Files.readString(source)));
            }
        }
        return snippets;
    }

    private static List<String> found(Pattern pattern, String text) {
        return pattern.matcher(text)
                .results()
                .map((MatchResult result) -> result.group(1).stripIndent().strip())
                .toList();
    }
}
