package dev.fenceline.lock;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What a node's clock shows now, from what it showed in a reply. */
class NodeClockTest {

    private static final long SECOND = 1_000_000_000L;

    private final NodeClock clock = new NodeClock();

    @Test
    void nothingIsKnownOfANodeThatNeverAnswered() {
        assertThat(clock.micros(0)).isEmpty();
    }

    @Test
    void itGoesOnWithOurMonotonicClock() {
        clock.saw(5_000_000, SECOND);
        assertThat(clock.micros(SECOND + 7_000)).hasValue(5_000_007);
    }

    @Test
    void theQuickestReplyOfTheLastSecondCounts() {
        clock.saw(5_000_000, SECOND);
        // This one was on its way for half a second.
        clock.saw(5_000_001, SECOND + SECOND / 2);
        assertThat(clock.micros(SECOND + SECOND / 2)).hasValue(5_500_000);
    }

    @Test
    void aClockThatWasSetBackIsBelievedAfterASecond() {
        clock.saw(5_000_000, SECOND);
        clock.saw(1_000_000, 2 * SECOND + 1);
        assertThat(clock.micros(2 * SECOND + 1)).hasValue(1_000_000);
    }
}
