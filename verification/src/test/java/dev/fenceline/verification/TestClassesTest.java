package dev.fenceline.verification;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TestClassesTest {

    @TempDir
    private Path module;

    @BeforeEach
    void sources() throws IOException {
        write("FastTest", "class FastTest {}");
        write("SlowTest", "@Tag(\"server\")\nclass SlowTest {}");
        write("BaseTest", "abstract class BaseTest {}");
        write("Helper", "class Helper {}");
    }

    @Test
    void aClassWithoutAReportIsEitherLeftOutByATagOrSilent() {
        TestClasses.Missing missing = missing(List.of(), "", "containers,server", "${test}");
        assertThat(missing.leftOut()).isEqualTo(Map.of("server", List.of("SlowTest")));
        assertThat(missing.silent()).containsExactly("a.FastTest");
    }

    @Test
    void aTagMayHaveWhateverCharactersJUnitTakes() throws IOException {
        write("OtherStoreTest", "@Tag(\"second-store_2.x\")\nclass OtherStoreTest {}");
        assertThat(missing(List.of("a.FastTest", "a.SlowTest"), "", "second-store_2.x", "${test}"))
                .isEqualTo(new TestClasses.Missing(Map.of("second-store_2.x", List.of("OtherStoreTest")), List.of()));
    }

    @Test
    void whatRanIsNotMissing() {
        TestClasses.Missing missing = missing(List.of("a.FastTest", "a.SlowTest"), "", "containers", "${test}");
        assertThat(missing.leftOut()).isEmpty();
        assertThat(missing.silent()).isEmpty();
    }

    @Test
    void whoAsksForATagMissesNothingElse() {
        assertThat(missing(List.of(), "server", "", "${test}").silent()).containsExactly("a.SlowTest");
        assertThat(missing(List.of(), "", "", "FastTest").silent()).isEmpty();
    }

    @Test
    void aReportOfAFurtherRunCountsForItsClass() {
        assertThat(TestClasses.Report.of(Path.of("target", "TEST-a.SlowTest.xml")))
                .contains(new TestClasses.Report("a.SlowTest", ""));
        assertThat(TestClasses.Report.of(Path.of("target", "TEST-a.SlowTest-postgres-14.xml")))
                .contains(new TestClasses.Report("a.SlowTest", "postgres-14"));
        assertThat(TestClasses.Report.of(Path.of("target", "a.SlowTest-output.txt")))
                .isEmpty();
    }

    private TestClasses.Missing missing(List<String> reported, String groups, String excluded, String test) {
        return TestClasses.of(module).without(reported, TestClasses.Selection.of(groups, excluded, test));
    }

    private void write(String name, String text) throws IOException {
        Path folder = Files.createDirectories(module.resolve("src/test/java/a"));
        Files.writeString(folder.resolve(name + ".java"), text);
    }
}
