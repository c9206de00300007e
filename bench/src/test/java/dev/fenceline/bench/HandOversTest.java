package dev.fenceline.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.api.Test;

class HandOversTest {

    @Test
    void aHandOverRunsFromTheReleaseToTheNextHolderThatWaited() {
        HandOvers seen = HandOvers.of(List.of(new Hold(50, 205, 300, 2), new Hold(0, 100, 200, 1)));

        assertThat(seen.nanos()).containsExactly(5);
        assertThat(seen.longestWait()).isEqualTo(155);
    }

    @Test
    void whoTakesItBackAtOnceHandsNothingOver() {
        HandOvers seen =
                HandOvers.of(List.of(new Hold(0, 100, 200, 1), new Hold(201, 202, 300, 1), new Hold(50, 310, 400, 2)));

        assertThat(seen.nanos()).containsExactly(10);
        assertThat(seen.shareToThemselves()).isEqualTo(0.5);
    }

    @Test
    void whoCameAfterTheReleaseWaitedForNobody() {
        HandOvers seen =
                HandOvers.of(List.of(new Hold(0, 100, 200, 1), new Hold(250, 260, 300, 2), new Hold(270, 304, 400, 1)));

        assertThat(seen.nanos()).containsExactly(4);
    }

    @Test
    void theBoundIsTwiceTheTurnsOfTheOthers() {
        HandOvers seen =
                HandOvers.of(List.of(new Hold(0, 10, 100, 1), new Hold(0, 110, 200, 2), new Hold(0, 210, 300, 3)));

        // Longest wait 210; two others, holds of 90, hand-overs of 10.
        assertThat(seen.shareOfBound(3)).isCloseTo(210 / 400.0, within(1e-9));
    }

    @Test
    void twoHoldersAtOnceAreNoResult() {
        List<Hold> overlapping = List.of(new Hold(0, 100, 200, 1), new Hold(50, 199, 300, 2));

        assertThatThrownBy(() -> HandOvers.of(overlapping))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("Two threads held one lock: Hold[asked=0, acquired=100, releasing=200, thread=1] and"
                        + " Hold[asked=50, acquired=199, releasing=300, thread=2].");
    }

    @Test
    void aHoldSurvivesTheWayToAnotherProcess() {
        Hold hold = new Hold(1, 2, 3, 4);

        assertThat(Hold.parse(hold.encode())).isEqualTo(hold);
        assertThatThrownBy(() -> Hold.parse("1 2"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Not a hold: '1 2'.");
    }
}
