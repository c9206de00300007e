package dev.fenceline.lock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.lock.Proposal.Figures;
import dev.fenceline.lock.Proposal.Next;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which token is proposed, by which clocks and counters. */
class ProposalTest {

    private static final long HOUR = 3_600_000_000L;
    private static final long S = 10_000_000;
    private static final long NOW = 1_000 * HOUR;

    @Test
    void aSingleClockThatIsWrongDecidesNothing() {
        assertThat(Proposal.median(NOW, NOW + HOUR, NOW + 1)).isEqualTo(NOW + 1);
        assertThat(Proposal.median(NOW - HOUR, NOW, NOW + 1)).isEqualTo(NOW);
        // Of two nobody knows which is right; the lower one is refused at most once.
        assertThat(Proposal.median(NOW + HOUR, NOW)).isEqualTo(NOW);
        assertThat(Proposal.median(NOW)).isEqualTo(NOW);
    }

    @Test
    void theFirstProposalPassesTheCounterOfAMajorityAndNotTheHighest() {
        assertThat(Proposal.first(NOW, new long[] {0, 0, 0}, 2, 0)).isEqualTo(NOW);
        assertThat(Proposal.first(NOW, new long[] {NOW + 5, NOW + HOUR, NOW + 3}, 2, 0))
                .isEqualTo(NOW + 6);
        assertThat(Proposal.first(NOW, new long[] {0, 0, 0}, 2, NOW + 50)).isEqualTo(NOW + 51);
    }

    /** The control: from the highest counter follows a token that every node whose clock is right refuses. */
    @Test
    void whatFollowsFromTheHighestCounterIsRefusedByAllOthers() {
        List<Figures> nodes =
                List.of(new Figures(NOW, NOW), new Figures(NOW, NOW), new Figures(NOW + HOUR, NOW + HOUR));
        long highest = nodes.stream().mapToLong(Figures::last).max().orElseThrow() + 1;
        assertThat(nodes.stream().filter(node -> node.last() < highest && highest <= node.time() + S))
                .hasSize(1);
        assertThat(Proposal.next(nodes, 2, NOW, S, 0)).isEqualTo(new Next.Token(NOW + 1));
    }

    @Test
    void whereTheNodesBehindAreTooFewTheNextCounterIsTried() {
        // The first is an hour behind: it takes none of the tokens of the other two.
        List<Figures> nodes = List.of(new Figures(NOW - HOUR, 0), new Figures(NOW, NOW + 1), new Figures(NOW, NOW + 9));
        assertThat(Proposal.next(nodes, 2, NOW, S, 0)).isEqualTo(new Next.Token(NOW + 10));
    }

    @Test
    void whatNoMajorityTakesYetIsWaitedFor() {
        List<Figures> nodes = List.of(new Figures(NOW, NOW + S + 100), new Figures(NOW + 40, NOW + S + 90));
        assertThat(Proposal.next(nodes, 2, NOW, S, 0)).isEqualTo(new Next.Wait(101, NOW + S + 100, NOW));
    }

    @Test
    void aMarkIsPassedHoweverFarAheadOfTheClocksItIs() {
        List<Figures> nodes = List.of(new Figures(NOW, NOW), new Figures(NOW, NOW + HOUR));
        assertThat(Proposal.next(nodes, 2, NOW, S, NOW + HOUR)).isEqualTo(new Next.Token(NOW + HOUR + 1));
    }
}
