package dev.fenceline.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PageTest {

    @Test
    void blocksAreRewrittenAndWhatPeopleWroteStays() {
        String page = """
                Before.
                <!-- bench:shared -->
                old $1
                <!-- /bench -->
                Between.
                <!-- bench:crowd -->
                kept
                <!-- /bench -->
                """;

        assertThat(Page.filled(page, Map.of("shared", "| costs $2 |\n"))).isEqualTo("""
                        Before.
                        <!-- bench:shared -->
                        | costs $2 |
                        <!-- /bench -->
                        Between.
                        <!-- bench:crowd -->
                        kept
                        <!-- /bench -->
                        """);
    }

    /** A scenario without one would be run for nothing. */
    @Test
    void everyScenarioHasItsBlock() throws IOException {
        String page = Files.readString(Path.of("../docs/performance.md"));
        assertThat(Benchmarks.ids())
                .isNotEmpty()
                .allSatisfy(id -> assertThat(Page.filled(page, Map.of(id, "fresh")))
                        .as(id)
                        .contains("<!-- bench:" + id + " -->\nfresh\n<!-- /bench -->"));
    }

    @Test
    void aTargetSaysOnWhichSideOfItsLimitItIs() {
        Quartiles measured = new Quartiles(1.01, 1.04, 1.09);

        assertThat(Target.atMost("cycle", 1.05, measured).row())
                .isEqualTo("| cycle | ≤ 1.05 | 1.04 (1.01–1.09) | met |");
        assertThat(Target.atLeast("cycles", 1.05, measured).row())
                .isEqualTo("| cycles | ≥ 1.05 | 1.04 (1.01–1.09) | **not met** |");
    }
}
