package dev.fenceline.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.bench.Contestant.Turn;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A contestant that does not lock would win every comparison. */
@Tag("server")
class ContestantsTest {

    private static final Duration SLICE = Duration.ofMillis(100);

    private static Field field;

    @BeforeAll
    static void start() throws Exception {
        field = new Field(EnumSet.allOf(Entrant.class));
    }

    @AfterAll
    static void stop() throws Exception {
        field.close();
    }

    @ParameterizedTest
    @EnumSource(names = {"FENCED", "EFFICIENCY", "REDISSON", "REDISSON_FENCED", "REDISSON_FAIR", "SPRING", "CURATOR"})
    void whoWaitsLetsOneThreadInAtATime(Entrant entrant) throws Exception {
        try (Crew crew = new Crew(3)) {
            // Fails where two holds overlap.
            HandOvers seen = HandOvers.of(
                    Contention.run(crew, 0, field.contestant(entrant).lock("exclusive"), SLICE));

            assertThat(seen.count()).isGreaterThanOrEqualTo(3);
        }
    }

    @Test
    void anEntrantThatLocksNothingIsFoundOut() throws Exception {
        try (Crew crew = new Crew(3)) {
            List<Hold> holds =
                    Contention.run(crew, 0, field.contestant(Entrant.PING).lock("none"), SLICE);

            assertThatThrownBy(() -> HandOvers.of(holds))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith("Two threads held one lock: Hold[");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"HAND", "SHEDLOCK"})
    void whoCannotWaitRefusesTheSecond(Entrant entrant) throws Exception {
        Contestant.Mutex lock = field.contestant(entrant).lock("refused");
        Turn held = lock.enter();

        assertThatThrownBy(lock::enter)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("lock 'refused' is held");
        held.leave();
        lock.enter().leave();
    }

    @Test
    void contestantsAreChosenByTheirKeys() {
        assertThat(Entrant.parse("hand, fenced")).containsExactly(Entrant.HAND, Entrant.FENCED);
        assertThat(Entrant.parse("")).containsExactly(Entrant.values());
        assertThatThrownBy(() -> Entrant.parse("hand,zookeeper"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("No contestant 'zookeeper'; there are ping, hand, fenced,");
    }
}
