package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.LockName;
import org.junit.jupiter.api.Test;

/** Which proposals of a client are above those that it made before. */
class ProposedTest {

    private static final long HOUR = 3_600_000_000L;
    private static final long S = 10_000_000;
    private static final long NOW = 1_000 * HOUR;

    private final Proposed proposed = new Proposed(S);

    private long next(long token, long floor, long median) {
        return proposed.next(ACCOUNT, 7, token, floor, median);
    }

    /** What the nodes' clocks show is reckoned from replies, and may be a little less than a moment ago. */
    @Test
    void aProposalIsAboveTheOneBeforeThoughTheMiddleClockIsNot() {
        assertThat(next(NOW, 0, NOW)).isEqualTo(NOW);
        assertThat(next(NOW - 800, 0, NOW - 800)).isEqualTo(NOW + 1);
        assertThat(next(NOW, 0, NOW)).isEqualTo(NOW + 2);
        assertThat(next(NOW + 500, 0, NOW + 500)).isEqualTo(NOW + 500);
        // Another bucket, which has counters of its own.
        assertThat(proposed.next(ACCOUNT, 8, NOW, 0, NOW)).isEqualTo(NOW);
    }

    /** A node takes nothing that is further ahead of its clock than S. */
    @Test
    void clocksThatWereSetBackByMoreThanSAreFollowed() {
        assertThat(next(NOW, 0, NOW)).isEqualTo(NOW);
        assertThat(next(NOW - HOUR, 0, NOW - HOUR)).isEqualTo(NOW - HOUR);
    }

    @Test
    void aTokenThatFollowsAFloorIsOfItsLockAlone() {
        assertThat(next(NOW + HOUR + 1, NOW + HOUR, NOW)).isEqualTo(NOW + HOUR + 1);
        assertThat(next(NOW, 0, NOW)).isEqualTo(NOW);
        assertThat(proposed.floor(ACCOUNT, 0, NOW)).isEqualTo(NOW + HOUR + 1);
        assertThat(proposed.floor(ACCOUNT, NOW + 2 * HOUR, NOW)).isEqualTo(NOW + 2 * HOUR);
        assertThat(proposed.floor(LockName.of("account", 43), 0, NOW)).isZero();
    }

    /** A mark that refused us is a token of another client, and so about as new as our own. */
    @Test
    void aProposalThatFollowsAMarkIsAboveTheOneBeforeToo() {
        assertThat(next(NOW, 0, NOW)).isEqualTo(NOW);
        assertThat(next(NOW - 399, NOW - 400, NOW - 800)).isEqualTo(NOW + 1);
        assertThat(proposed.floor(ACCOUNT, 0, NOW - 700)).isEqualTo(NOW + 1);
    }

    @Test
    void aTokenAheadOfTheClocksIsPassedAlsoWhereTheMiddleOneWasAboveItAMomentAgo() {
        assertThat(next(NOW + 101, NOW + 100, NOW)).isEqualTo(NOW + 101);
        assertThat(proposed.floor(ACCOUNT, 0, NOW + 200)).isLessThan(NOW + 200);
        assertThat(proposed.floor(ACCOUNT, 0, NOW + 50)).isEqualTo(NOW + 101);
    }

    @Test
    void aTokenAheadOfTheClocksIsForgottenOnceTheyHavePassedItByS() {
        proposed.note(ACCOUNT, NOW - 1, NOW);
        assertThat(proposed.floor(ACCOUNT, 0, NOW)).isZero();
        proposed.note(ACCOUNT, NOW + 5, NOW);
        assertThat(proposed.floor(ACCOUNT, 0, NOW + 5 + S)).isZero();
        assertThat(proposed.floor(ACCOUNT, 0, NOW)).isZero();
    }

    /** It was let through by a node whose clock is far ahead, and all others would refuse what follows. */
    @Test
    void aTokenMoreThanADayAheadIsNobodysFloor() {
        proposed.note(ACCOUNT, NOW + 25 * HOUR, NOW + 2 * HOUR);
        assertThat(proposed.floor(ACCOUNT, 0, NOW)).isZero();
    }
}
