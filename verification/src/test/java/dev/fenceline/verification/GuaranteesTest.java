package dev.fenceline.verification;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Each claim of docs/guarantees.md names tests that exist. */
class GuaranteesTest {

    private static final Path ROOT = Path.of("..");
    private static final Pattern NAMED = Pattern.compile("`([A-Z][A-Za-z0-9]+(?:Test|Contract))#([a-z][A-Za-z0-9]+)`");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| (?!claim \\||---).*\\|$");

    @Test
    void everyTestThatAClaimNamesExists() throws IOException {
        TestSources sources = TestSources.below(ROOT);
        String page = Files.readString(ROOT.resolve("docs/guarantees.md"));
        List<String> missing = new ArrayList<>();
        Matcher named = NAMED.matcher(page);
        while (named.find()) {
            if (!sources.hasTest(named.group(1), named.group(2))) {
                missing.add(named.group(1) + "#" + named.group(2));
            }
        }
        assertThat(missing)
                .as("named in docs/guarantees.md and no test in the sources")
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

    @Test
    void aMethodCountsOnlyIfJUnitRunsIt() {
        TestSources sources = TestSources.of("ATest", "", """
                class ATest {
                    @Test
                    void plain() {}

                    @ParameterizedTest
                    @CsvSource({
                        "a, b"
                    })
                    void withValues(String a, String b) {}

                    @RepeatedTest(3)
                    void repeated() {}

                    @ParameterizedTest
                    @MethodSource("kinds")
                    <K> void ofAnyType(Kind<K> kind) {}

                    @TestFactory
                    Stream<DynamicTest> generated() {
                    }

                    Stream<DynamicTest> generator() {
                    }

                    void helper() {}

                    @AfterEach
                    void cleanUp() {}

                    // @Test
                    void switchedOff() {}
                }
                """);
        assertThat(List.of("plain", "withValues", "repeated", "ofAnyType", "generated"))
                .allSatisfy(method ->
                        assertThat(sources.hasTest("ATest", method)).as(method).isTrue());
        assertThat(List.of("helper", "generator", "cleanUp", "switchedOff", "absent"))
                .allSatisfy(method ->
                        assertThat(sources.hasTest("ATest", method)).as(method).isFalse());
        assertThat(sources.hasTest("BTest", "plain")).isFalse();
    }
}
