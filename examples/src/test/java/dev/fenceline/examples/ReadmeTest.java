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
            Pattern.compile("// snippet: \\S+\\n(.*?)\\n *// end snippet", Pattern.DOTALL);

    @Test
    void everyBlockOfTheReadmeIsASnippetAndEverySnippetIsInTheReadmeOrThePageOnSpring() throws IOException {
        List<String> programs = new ArrayList<>(snippets(Path.of("src")));
        programs.addAll(snippets(Path.of("checker-service", "src")));
        List<String> spring = snippets(Path.of("spring-boot", "src"));
        List<String> readme = blocks("README.md");
        assertThat(readme).isNotEmpty().doesNotHaveDuplicates().containsAll(programs);
        assertThat(Stream.concat(programs.stream(), spring.stream())).containsAll(readme);
        assertThat(blocks("docs/spring.md")).isNotEmpty().containsExactlyInAnyOrderElementsOf(spring);
    }

    private static List<String> blocks(String page) throws IOException {
        return found(BLOCK, Files.readString(Path.of("..", page)));
    }

    private static List<String> snippets(Path folder) throws IOException {
        List<String> snippets = new ArrayList<>();
        try (Stream<Path> sources = Files.find(folder, 20, (file, attributes) -> isSource(file))) {
            for (Path source : sources.sorted().toList()) {
                snippets.addAll(found(SNIPPET, Files.readString(source)));
            }
        }
        return snippets;
    }

    /** Not this file, whose pattern would match. */
    private static boolean isSource(Path file) {
        return file.toString().endsWith(".java") && !file.endsWith("ReadmeTest.java");
    }

    private static List<String> found(Pattern pattern, String text) {
        return pattern.matcher(text)
                .results()
                .map((MatchResult result) -> result.group(1).stripIndent().strip())
                .toList();
    }
}
