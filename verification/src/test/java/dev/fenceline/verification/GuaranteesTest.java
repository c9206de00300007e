package dev.fenceline.verification;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Each claim of docs/guarantees.md names tests that exist. */
class GuaranteesTest {

    private static final Path ROOT = Path.of("..");
    private static final Pattern NAMED = Pattern.compile("`([A-Z][A-Za-z]+(?:Test|Contract))#([a-z][A-Za-z0-9]+)`");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| (?!claim \\||---).*\\|$");

    @Test
    void everyTestThatAClaimNamesExists() throws IOException {
        Map<String, String> sources = sources();
        String page = Files.readString(ROOT.resolve("docs/guarantees.md"));
        List<String> missing = new ArrayList<>();
        Matcher named = NAMED.matcher(page);
        while (named.find()) {
            String source = sources.getOrDefault(named.group(1), "");
            if (!source.contains("void " + named.group(2) + "(")) {
                missing.add(named.group(1) + "#" + named.group(2));
            }
        }
        assertThat(missing)
                .as("named in docs/guarantees.md and not in the sources")
                .isEmpty();
    }

    @Test
    void everyClaimNamesATest() throws IOException {
        String page = Files.readString(ROOT.resolve("docs/guarantees.md"));
        List<String> rows = ROW.matcher(page).results().map(MatchResult::group).toList();
        assertThat(rows)
                .hasSizeGreaterThan(20)
                .allSatisfy(row -> assertThat(NAMED.matcher(row).find()).as(row).isTrue());
    }

    private static Map<String, String> sources() throws IOException {
        try (Stream<Path> files = Files.walk(ROOT)) {
            return files.filter(file -> file.toString().matches(".*/src/.*(Test|Contract)\\.java"))
                    .collect(Collectors.toMap(
                            file -> file.getFileName().toString().replace(".java", ""), GuaranteesTest::text));
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
