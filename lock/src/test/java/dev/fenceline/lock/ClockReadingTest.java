package dev.fenceline.lock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.Finding;
import dev.fenceline.LockOptions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Only what is certain of clocks is told; two masters whose clocks differ are not to be had on one machine. */
class ClockReadingTest {

    private static final long SECOND = 1_000_000;

    private final LockOptions options = LockOptions.defaults();

    private List<Finding> judged(ClockReading... readings) {
        return ClockReading.judge(List.of(readings), options);
    }

    private static ClockReading at(String server, long least, long most) {
        return new ClockReading(server, least, most);
    }

    @Test
    void aSlowNetworkIsNoFinding() {
        assertThat(judged(at("a", -20 * SECOND, 5), at("b", -5, 20 * SECOND), at("c", -20 * SECOND, 20 * SECOND)))
                .isEmpty();
        assertThat(judged(at("a", 10 * SECOND, 11 * SECOND), at("b", -SECOND, 10 * SECOND)))
                .as("exactly S, and perhaps none between the two")
                .isEmpty();
    }

    @Test
    void aClockBeyondSIsFarOnEitherSide() {
        assertThat(judged(at("Redis at a:1", 12 * SECOND, 13 * SECOND)))
                .singleElement()
                .hasToString("WARNING redis-clock: Redis at a:1 has a clock that is 12 s ahead of that of this machine."
                        + " Tokens follow that clock. Find out which of the two is wrong, and synchronise both. A clock that is"
                        + " set back by more than S = 10 s stops all grants until it has caught up; tokens that are more than"
                        + " 25 h ahead of PostgreSQL's clock are refused there.");
        assertThat(judged(at("a", -13 * SECOND, -12 * SECOND)))
                .singleElement()
                .extracting(Finding::found)
                .isEqualTo("has a clock that is 12 s behind that of this machine");
    }

    @Test
    void mastersThatAreCertainlyFurtherApartThanKAreTold() {
        List<Finding> findings = judged(at("a", 0, 1_000), at("b", 100_000, 101_000), at("c", 300_000, 301_000));
        assertThat(findings).singleElement().satisfies(finding -> {
            assertThat(finding.code()).isEqualTo("redis-clock-skew");
            assertThat(finding.subject()).isEqualTo("a");
            assertThat(finding.found())
                    .isEqualTo("has a clock that is 299 ms away from that of c, and K = 250 ms is what"
                            + " the locks allow for");
        });
        LockOptions wide =
                LockOptions.builder().masterClockSkew(Duration.ofMillis(299)).build();
        assertThat(ClockReading.judge(List.of(at("a", 0, 1_000), at("c", 300_000, 301_000)), wide))
                .isEmpty();
    }
}
