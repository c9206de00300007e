package dev.fenceline.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResultsTest {

    private static final List<String> SCENARIOS = List.of("first", "second");
    private static final Duration SLICE = Duration.ofMillis(20);
    private static final Settings SETTINGS = new Settings(
            Set.of(), EnumSet.noneOf(Entrant.class), 2, SLICE, SLICE, 1, 1, 17, Path.of("target"), Optional.empty());

    @Test
    void aScenarioSaysWhatCameOutOfItsLimitsAndOnWhichMachine(@TempDir Path folder) throws IOException {
        Results results = new Results(folder);
        Quartiles measured = new Quartiles(0.8, 0.9, 1.1);
        results.add(new Section("first", "a table", List.of(Target.atMost("a", 1, measured))), SETTINGS);

        assertThat(results.blocks(SCENARIOS)).containsOnlyKeys("first");
        assertThat(results.blocks(SCENARIOS).get("first"))
                .startsWith("a table\n\n| target | limit |")
                .contains("\n| a | ≤ 1 | 0.90 (0.80–1.10) | met |\n\n2 rounds ")
                .contains("seed 17; ", " processors: ", "; Java " + Runtime.version())
                .endsWith(".\n");

        results.add(new Section("second", "another", List.of()), SETTINGS);
        assertThat(results.blocks(SCENARIOS).get("second")).startsWith("another\n\n2 rounds ");
    }
}
