package dev.fenceline.verification.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.verification.torture.Journal.Grant;
import dev.fenceline.verification.torture.Journal.Refusal;
import dev.fenceline.verification.torture.Journal.Stall;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What no fault explains is caught, for each rule of calm times. Times are in milliseconds here. */
class CalmCheckTest {

    private static final JournalCheck.Bounds BOUNDS = new JournalCheck.Bounds(
            Duration.ofMillis(3_000),
            Duration.ofMillis(100),
            Duration.ofMillis(10),
            Duration.ofMillis(500),
            Duration.ofMillis(200),
            new CalmCheck.Bounds(5, Duration.ofMillis(400), Duration.ofMillis(1_000), 6));

    private static final Outage OUTAGE =
            new Outage("kill", ms(2_000), ms(2_100), ms(2_200), Outage.Masters.ONE, Set.of());

    @Test
    void aRefusalWithNoFaultNearIsCaughtUnlessSomebodyDidNotRun() {
        Refusal refusal = new Refusal("a", "x", ms(100), ms(200), "BackendUnavailableException");
        assertThat(check(List.of(), List.of(refusal), List.of(), List.of(OUTAGE)))
                .containsExactly("a wait of a for 'x' ended with BackendUnavailableException after 100 ms,"
                        + " though no fault was near and all processes ran but for 0 ms");
        assertThat(check(List.of(), List.of(refusal), List.of(new Stall("b", ms(110), ms(170))), List.of()))
                .as("a standstill of the machine, or of the holder")
                .isEmpty();
        assertThat(check(List.of(), List.of(refusal), List.of(new Stall("b", ms(300), ms(900))), List.of()))
                .hasSize(1);
    }

    @Test
    void aRefusalThatTouchesAFaultOrTheRecoveryIsExcused() {
        for (long[] times : new long[][] {{1_900, 2_000}, {2_050, 2_060}, {2_700, 2_900}, {1_000, 4_000}}) {
            Refusal refusal = new Refusal("a", "x", ms(times[0]), ms(times[1]), "LockNotAcquiredException");
            assertThat(check(List.of(), List.of(refusal), List.of(), List.of(OUTAGE)))
                    .isEmpty();
        }
        Refusal late = new Refusal("a", "x", ms(2_701), ms(2_800), "LockNotAcquiredException");
        assertThat(check(List.of(), List.of(late), List.of(), List.of(OUTAGE))).hasSize(1);
    }

    @Test
    void aLongWaitForALockThatNobodyHasIsCaughtUnlessSomebodyDidNotRun() {
        List<Grant> late = List.of(grant("a", "x", 100, 600));
        assertThat(check(late, List.of(), List.of(), List.of()))
                .singleElement()
                .asString()
                .startsWith("a wait for 'x' with no fault near took 500 ms until token 600 ")
                .endsWith("and 0 turns of others, all processes running for 500 ms; the bound is 400 ms");
        assertThat(check(
                        late,
                        List.of(),
                        List.of(new Stall("b", ms(200), ms(260)), new Stall("c", ms(250), ms(310))),
                        List.of()))
                .as("a time in which two stood still together counts once")
                .isEmpty();
        assertThat(check(
                        late,
                        List.of(),
                        List.of(new Stall("b", ms(200), ms(260)), new Stall("c", ms(200), ms(260))),
                        List.of()))
                .hasSize(1);
    }

    @Test
    void aWaiterWhomOthersOvertakeTimeAndAgainIsCaughtHoweverFastTheyAre() {
        List<Grant> grants = new ArrayList<>(List.of(grant("a", "x", 100, 110)));
        for (int i = 0; i < 5; i++) {
            grants.add(grant("b", "x", 101 + i, 102 + i));
        }
        assertThat(check(grants, List.of(), List.of(), List.of())).isEmpty();
        grants.add(grant("b", "x", 108, 109));
        assertThat(check(grants, List.of(), List.of(), List.of()))
                .singleElement()
                .asString()
                .startsWith("overtaken on 'x': others got it 6 times while token 110 ");
        assertThat(check(
                        grants,
                        List.of(),
                        List.of(),
                        List.of(new Outage("kill", 0, ms(50), ms(50), Outage.Masters.ONE, Set.of()))))
                .as("near a fault waiters are known to no queue")
                .noneMatch(violation -> violation.startsWith("overtaken"));
    }

    @Test
    void aProcessOrALockThatStandsStillInACalmStretchIsCaught() {
        List<Grant> grants = new ArrayList<>();
        for (int t = 0; t <= 6_000; t += 100) {
            grants.add(grant("a", "x", t, t + 1));
            grants.add(grant("b", "y", t, t + 1));
        }
        assertThat(check(grants, List.of(), List.of(), List.of(OUTAGE))).isEmpty();
        List<Grant> stuck = new ArrayList<>(grants);
        stuck.removeIf(grant -> grant.process().equals("b") && grant.began() >= ms(2_700));
        assertThat(check(stuck, List.of(), List.of(), List.of(OUTAGE)))
                .containsExactly(
                        "b got 0 of the 33 grants in a calm stretch of 3300 ms; a fair share is one of 6 at least",
                        "'y' had none of the 33 grants in a calm stretch of 3300 ms");
        List<Grant> starved = new ArrayList<>(grants);
        starved.removeIf(grant -> grant.process().equals("b") && grant.began() % ms(700) != 0);
        assertThat(check(starved, List.of(), List.of(), List.of(OUTAGE)))
                .allMatch(violation -> violation.startsWith("b got "))
                .hasSize(2);
        assertThat(check(stuck, List.of(), List.of(new Stall("b", ms(2_700), ms(6_000))), List.of(OUTAGE)))
                .as("a stretch in which somebody did not run is no stretch")
                .isEmpty();
    }

    private static List<String> check(
            List<Grant> grants, List<Refusal> refusals, List<Stall> stalls, List<Outage> outages) {
        return CalmCheck.violations(new Journal(grants, refusals, stalls), outages, BOUNDS);
    }

    private static Grant grant(String process, String lock, long began, long granted) {
        return new Grant(
                process, lock, granted, UUID.randomUUID().toString(), ms(began), ms(granted), ms(granted), ms(granted));
    }

    private static long ms(long millis) {
        return Duration.ofMillis(millis).toNanos();
    }
}
