package dev.fenceline.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResultsTest {

    private static final List<String> SCENARIOS = List.of("first", "second");

    @Test
    void theTargetsOfAllAreWrittenOnceAllHaveBeenRun(@TempDir Path folder) throws IOException {
        Results results = new Results(folder);
        found(folder, "first", "| a | ≤ 1 | 0.9 | met |");

        assertThat(results.blocks(SCENARIOS)).containsKey("first").doesNotContainKeys("second", "targets");

        found(folder, "second", "| b | ≤ 1 | 1.1 | **not met** |");
        assertThat(results.blocks(SCENARIOS).get("targets")).contains("| a |", "| b |");
    }

    private static void found(Path folder, String scenario, String target) throws IOException {
        Files.writeString(folder.resolve(scenario + ".md"), "a table");
        Files.writeString(folder.resolve(scenario + ".targets"), target);
    }
}
