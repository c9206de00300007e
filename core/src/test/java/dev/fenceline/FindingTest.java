package dev.fenceline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.fenceline.Finding.Severity;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FindingTest {

    private static Finding finding(String code, String subject, String found, String remedy) {
        return new Finding(code, Severity.ERROR, subject, found, remedy);
    }

    @Test
    void itReadsAsOneLineThatSaysWhatToDo() {
        assertThat(finding("redis-eviction", "Redis at a:1", "may evict keys", "Set noeviction."))
                .hasToString("ERROR redis-eviction: Redis at a:1 may evict keys. Set noeviction.");
    }

    @Test
    void theWorstSortsFirst() {
        List<Severity> shuffled = Arrays.asList(Severity.INFO, Severity.ERROR, Severity.WARNING);
        Collections.sort(shuffled);
        assertThat(shuffled).containsExactly(Severity.ERROR, Severity.WARNING, Severity.INFO);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Redis", "redis_eviction", "redis-", "-redis", "redis eviction", "redis--x", "1redis"})
    void aCodeThatNoProgramShouldMatchOnIsRefused(String code) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> finding(code, "a", "b", "c"))
                .withMessageStartingWith("The code '" + code + "' of a finding cannot be used");
    }

    @Test
    void aFindingWithoutAPartIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> finding("code", " ", "b", "c"))
                .withMessage("The finding 'code' has no subject.");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> finding("code", "a", "", "c"))
                .withMessage("The finding 'code' has no found.");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> finding("code", "a", "b", "\n"))
                .withMessage("The finding 'code' has no remedy.");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> finding("code", "a", "is it.", "c"))
                .withMessageContaining("it is the rest of the sentence that the subject begins: 'is it.'");
    }
}
