package dev.fenceline.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class QuartilesTest {

    @Test
    void theyLieBetweenNeighboursByTheirDistance() {
        assertThat(Quartiles.of(List.of(4.0, 1.0, 2.0, 3.0))).isEqualTo(new Quartiles(1.75, 2.5, 3.25));
    }

    @Test
    void oneWildSliceDoesNotMoveThem() {
        assertThat(Quartiles.of(List.of(1.0, 1.0, 1.0, 1.0, 1_000.0)).ratio()).isEqualTo("1.00 (1.00–1.00)");
    }

    @Test
    void thereAreNoneOfNothing() {
        assertThatThrownBy(() -> Quartiles.of(List.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("No quantile of no numbers: nothing was measured.");
    }

    @Test
    void contestantsAreComparedWithinARound() {
        Paired<Entrant> paired = new Paired<>();
        // The machine was ten times slower in the second round, for both.
        paired.add(Entrant.HAND, 100);
        paired.add(Entrant.FENCED, 110);
        paired.add(Entrant.HAND, 1_000);
        paired.add(Entrant.FENCED, 1_100);

        assertThat(paired.ratio(Entrant.FENCED, Entrant.HAND).ratio()).isEqualTo("1.10 (1.10–1.10)");
    }

    @Test
    void roundsThatOnlyOneRanCannotBePaired() {
        Paired<Entrant> paired = new Paired<>();
        paired.add(Entrant.HAND, 100);

        assertThatThrownBy(() -> paired.ratio(Entrant.FENCED, Entrant.HAND))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("FENCED ran 0 rounds and HAND 1; they cannot be paired.");
    }
}
