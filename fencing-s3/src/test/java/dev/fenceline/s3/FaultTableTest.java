package dev.fenceline.s3;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.OutcomeUnknownException.Resolution;
import dev.fenceline.s3.FaultCase.Told;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a caller is told of a write is so, and stays so, whatever fails at whatever step. */
@Tag("server")
class FaultTableTest {

    /** On a machine that is very slow an answer may come after its time, and then less is known than could be. */
    private static final int TRIES = 3;

    /** Two claims and writes, and the claim that is resumed. */
    private static final int VERSIONS_WITHOUT_OURS = 5;

    /** More cases than that are no matter of a slow machine. */
    private static final int MAX_DIFFERENT = 30;

    private static FaultTable table;

    @BeforeAll
    static void everyFaultAtEveryStep() throws InterruptedException {
        table = FaultTable.run();
    }

    @AfterAll
    static void close() {
        if (table != null) {
            table.close();
        }
    }

    @Test
    void appliedIsInTheHistoryOnceNotDoneNeverUnknownAtMostOnce() {
        assertThat(table.endings()).hasSize(23 * 8 * 2).allSatisfy((one, ending) -> {
            if (one.step().operation().isReading()) {
                assertThat(ending.versions()).hasSizeLessThanOrEqualTo(VERSIONS_WITHOUT_OURS);
                assertThat(ending.times()).isZero();
            } else if (ending.told() == Told.APPLIED) {
                assertThat(ending.times()).isEqualTo(1);
            } else if (ending.told() == Told.UNKNOWN || isClaim(one)) {
                assertThat(ending.times()).isLessThanOrEqualTo(1);
            } else {
                assertThat(ending.times()).isZero();
            }
        });
    }

    /** A claim that was not acknowledged may have raised the mark: it does no harm, and is not undone. */
    private static boolean isClaim(FaultCase one) {
        return one.step().operation().isClaim();
    }

    @Test
    void onlyAWriteOrADeletionCanBeOfUnknownOutcomeAndAskingAgainSettlesIt() {
        assertThat(table.endings()).allSatisfy((one, ending) -> {
            assertThat(ending.resolved().isPresent()).isEqualTo(ending.told() == Told.UNKNOWN);
            ending.resolved().ifPresent(resolution -> {
                assertThat(isClaim(one)).isFalse();
                assertThat(ending.times()).isEqualTo(resolution == Resolution.APPLIED ? 1 : 0);
            });
        });
    }

    @Test
    void theTablesOfTheDocumentationSayWhatIsTold() throws IOException {
        List<String> documented = Files.readAllLines(Path.of("../docs/s3-faults.md")).stream()
                .filter(line -> line.startsWith("|"))
                .toList();
        List<FaultCase> different = table.different(documented);
        for (int i = 1; i < TRIES && different.size() <= MAX_DIFFERENT && !different.isEmpty(); i++) {
            different.forEach(table::again);
            different = table.different(documented);
        }
        assertThat(rows())
                .as("docs/s3-faults.md must hold these tables:\n%s", table.markdown())
                .isEqualTo(documented);
    }

    private static List<String> rows() {
        return table.markdown().lines().filter(line -> line.startsWith("|")).toList();
    }
}
