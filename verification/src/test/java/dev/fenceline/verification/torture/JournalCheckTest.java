package dev.fenceline.verification.torture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.verification.torture.Journal.Grant;
import dev.fenceline.verification.torture.Journal.Refusal;
import dev.fenceline.verification.torture.Journal.Stall;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A journal that breaks a rule is caught, for each rule. Times are in milliseconds here. */
class JournalCheckTest {

    private static final JournalCheck.Bounds BOUNDS = new JournalCheck.Bounds(
            Duration.ofMillis(300),
            Duration.ofMillis(50),
            Duration.ofMillis(10),
            Duration.ofMillis(500),
            Duration.ofMillis(200),
            new CalmCheck.Bounds(100, Duration.ofMillis(1_000), Duration.ofMillis(10_000), 100));

    /** Excuses refusals of the first second. */
    private static final List<Outage> FAULT =
            List.of(new Outage("fault", 0, ms(1_000), ms(1_000), Outage.Masters.ONE, Set.of()));

    @Test
    void aCleanJournalIsClean() {
        assertThat(check(List.of(grant("a", 1, 0, 10), grant("b", 2, 5, 20), grant("a", 3, 21, 30))))
                .isEmpty();
    }

    @Test
    void aRepeatedTokenIsCaughtAlsoOfGrantsAtTheSameTime() {
        assertThat(check(List.of(grant("a", 7, 0, 10), grant("b", 7, 5, 12))))
                .singleElement()
                .asString()
                .startsWith("repeated on 'x': token 7 (holder ")
                .contains("a)", "b)");
    }

    @Test
    void aSmallerTokenThatWasAskedForLaterIsCaught() {
        assertThat(check(List.of(grant("a", 9, 0, 10), grant("b", 8, 11, 12))))
                .singleElement()
                .asString()
                .startsWith("out of order on 'x': token 9 ")
                .contains("was in hand 1 ms before token 8 ");
    }

    @Test
    void theNewestOfAllEarlierTokensCountsNotTheLast() {
        assertThat(check(List.of(grant("a", 9, 0, 10), grant("b", 7, 1, 12), grant("c", 8, 13, 14))))
                .singleElement()
                .asString()
                .contains("token 9", "token 8");
    }

    @Test
    void grantsWhoseTimesOverlapMayHaveTheirTokensInAnyOrder() {
        assertThat(check(List.of(grant("a", 9, 0, 10), grant("b", 8, 9, 12)))).isEmpty();
    }

    @Test
    void otherLocksHaveTokensOfTheirOwn() {
        assertThat(check(List.of(grant("a", 9, 0, 10), new Grant("b", "y", 9, "h", ms(11), ms(12), ms(13), ms(14)))))
                .isEmpty();
    }

    @Test
    void aWaitBeyondItsBoundIsCaughtUnlessTheProcessDidNotRun() {
        Refusal late = new Refusal("a", "x", ms(0), ms(400), "LockNotAcquiredException");
        assertThat(check(List.of(), List.of(late), List.of(), FAULT))
                .containsExactly(
                        "a wait that ended with LockNotAcquiredException took a 400 ms, of which it did not run for 0 ms;"
                                + " the bound is 300 ms");
        assertThat(check(List.of(), List.of(late), List.of(new Stall("a", ms(-50), ms(95))), FAULT))
                .isEmpty();
        assertThat(check(List.of(), List.of(late), List.of(new Stall("b", ms(0), ms(300))), FAULT))
                .as("the stall of another process excuses nothing")
                .hasSize(1);
        assertThat(check(List.of(grant("a", 1, 0, 400)))).hasSize(1);
    }

    @Test
    void givingBackBeyondItsBoundIsCaught() {
        assertThat(check(List.of(new Grant("a", "x", 1, "h", ms(0), ms(1), ms(2), ms(100)))))
                .containsExactly("giving back took a 98 ms, of which it did not run for 0 ms; the bound is 50 ms");
    }

    @Test
    void anExceptionThatNobodyExpectsIsCaught() {
        Refusal odd = new Refusal("a", "x", ms(0), ms(1), "NullPointerException");
        assertThat(check(List.of(), List.of(odd), List.of(), FAULT))
                .containsExactly("a wait of a for 'x' ended with NullPointerException");
    }

    @Test
    void aLockOrAProcessThatDoesNotComeBackAfterAFaultIsCaught() {
        Outage outage = new Outage("pause", ms(100), ms(200), ms(200), Outage.Masters.ONE, Set.of());
        List<Grant> grants = List.of(grant("a", 1, 0, 10), grant("b", 2, 0, 11), grant("a", 3, 190, 300));
        assertThat(check(grants, List.of(), List.of(), List.of(outage)))
                .containsExactly("b got no lock within 500 ms after the end of pause");
        assertThat(check(grants.subList(0, 2), List.of(), List.of(), List.of(outage)))
                .contains("'x' was not granted within 500 ms after the end of pause");
    }

    @Test
    void processesThatAPartitionSparesMustGoOnMeanwhile() {
        Outage outage = new Outage("partition", ms(100), ms(2_000), ms(2_000), Outage.Masters.ONE, Set.of("b"));
        List<Grant> grants = List.of(grant("a", 1, 0, 10), grant("a", 2, 2_000, 2_001), grant("b", 3, 2_001, 2_002));
        assertThat(check(grants, List.of(), List.of(), List.of(outage)))
                .containsExactly("'x' was granted to none of [b] within 500 ms after the begin of partition");
    }

    @Test
    void aLockThatTwoHaveInHandIsCaught() {
        assertThat(check(List.of(held("a", 1, 10, 20), held("b", 2, 19, 30))))
                .singleElement()
                .asString()
                .startsWith("held twice on 'x': token 2 ")
                .contains("was in hand 1 ms before token 1 ");
        assertThat(check(List.of(held("a", 1, 10, 100), held("b", 2, 20, 30), held("c", 3, 40, 50))))
                .as("a short hold in a long one hides no third")
                .hasSize(2);
        assertThat(check(List.of(held("a", 1, 10, 20), held("b", 2, 20, 30))))
                .as("granted when the release has begun")
                .isEmpty();
    }

    @Test
    void aLockThatTwoHaveInHandIsExcusedUntilALeaseAfterAFaultAndNoLonger() {
        Outage outage = new Outage("loss", ms(15), ms(16), ms(20), Outage.Masters.ONE, Set.of());
        List<Grant> during = List.of(held("a", 1, 10, 200), held("b", 2, 18, 210));
        assertThat(check(during, List.of(), List.of(), List.of(outage)))
                .noneMatch(violation -> violation.startsWith("held twice"));
        List<Grant> longer = List.of(held("a", 1, 10, 230), held("b", 2, 18, 240));
        assertThat(check(longer, List.of(), List.of(), List.of(outage)))
                .anyMatch(violation -> violation.startsWith("held twice on 'x': token 2 "));
        List<Grant> before = List.of(held("a", 1, 10, 200), held("b", 2, 14, 205));
        assertThat(check(before, List.of(), List.of(), List.of(outage)))
                .anyMatch(violation -> violation.startsWith("held twice on 'x': token 2 "));
    }

    @Test
    void aHolderThatDidNotRunForALeaseHasNoneToDefend() {
        List<Grant> grants = List.of(held("a", 1, 10, 400), held("b", 2, 300, 310));
        assertThat(check(grants, List.of(), List.of(new Stall("a", ms(20), ms(320))), List.of()))
                .isEmpty();
        assertThat(check(grants, List.of(), List.of(new Stall("b", ms(20), ms(320))), List.of()))
                .as("the other's stall is no excuse")
                .hasSize(1);
        assertThat(check(grants, List.of(), List.of(new Stall("a", ms(310), ms(400))), List.of()))
                .as("nor is one that came later")
                .hasSize(1);
    }

    @Test
    void theExemptionForTwoMastersEndsWhenClientsHaveAskedAgain() {
        long asked = Outage.ASKED_AGAIN.toMillis();
        Outage split = new Outage("failover", ms(100), ms(200), ms(9_000), Outage.Masters.TWO, Set.of());
        List<Grant> early = List.of(grant("a", 9, 210, 220), grant("b", 8, 190 + asked, 195 + asked));
        assertThat(check(early, List.of(), List.of(), List.of(split)))
                .noneMatch(violation -> violation.startsWith("out of order"));
        List<Grant> late = List.of(grant("a", 9, 210, 220), grant("b", 8, 210 + asked, 215 + asked));
        assertThat(check(late, List.of(), List.of(), List.of(split)))
                .anyMatch(violation -> violation.startsWith("out of order on 'x': token 9 "));
        List<Grant> held = List.of(held("a", 1, 410 + asked, 420 + asked), held("b", 2, 411 + asked, 412 + asked));
        assertThat(check(held, List.of(), List.of(), List.of(split)))
                .anyMatch(violation -> violation.startsWith("held twice on 'x': token 2 "));
    }

    @Test
    void whileTwoServersTakeWritesOnlyHoldersMustDiffer() {
        Outage split = new Outage("failover", ms(100), ms(110), ms(200), Outage.Masters.TWO, Set.of());
        List<Grant> during = List.of(grant("a", 9, 90, 105), grant("b", 8, 120, 130), grant("a", 8, 140, 150));
        assertThat(check(during, List.of(), List.of(), List.of(split))).isEmpty();
        Grant twin = new Grant("b", "x", 8, during.get(1).holder(), ms(150), ms(160), ms(160), ms(160));
        assertThat(check(List.of(during.get(1), twin), List.of(), List.of(), List.of(split)))
                .anyMatch(violation -> violation.startsWith("repeated on 'x': token 8"));
        assertThat(check(
                        List.of(during.get(0), during.get(1), grant("a", 7, 201, 210)),
                        List.of(),
                        List.of(),
                        List.of(split)))
                .as("afterwards order holds again, towards what was issued meanwhile too")
                .anyMatch(violation -> violation.startsWith("out of order on 'x': token 9"));
    }

    @Test
    void whatIsWrittenIsRead(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("client-1");
        UUID holder = UUID.randomUUID();
        try (Journal.Writer writer = new Journal.Writer(file)) {
            writer.grant(new FencingToken(LockName.of("x", 1), 5, holder), 1, 2, 3, 4);
            writer.refusal("y", 5, 6, "LockNotAcquiredException");
            writer.stall(7, 8);
        }
        Journal journal = Journal.read(List.of(file));
        assertThat(journal.grants()).containsExactly(new Grant("client-1", "x:1", 5, holder.toString(), 1, 2, 3, 4));
        assertThat(journal.refusals()).containsExactly(new Refusal("client-1", "y", 5, 6, "LockNotAcquiredException"));
        assertThat(journal.stalls()).containsExactly(new Stall("client-1", 7, 8));
        Files.writeString(file, "something else");
        assertThatThrownBy(() -> Journal.read(List.of(file)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Not a line of a journal: something else");
    }

    private static List<String> check(List<Grant> grants) {
        return check(grants, List.of(), List.of(), List.of());
    }

    private static List<String> check(
            List<Grant> grants, List<Refusal> refusals, List<Stall> stalls, List<Outage> outages) {
        return JournalCheck.violations(new Journal(grants, refusals, stalls), outages, BOUNDS);
    }

    private static Grant grant(String process, long value, long began, long granted) {
        return new Grant(
                process, "x", value, UUID.randomUUID().toString(), ms(began), ms(granted), ms(granted), ms(granted));
    }

    private static Grant held(String process, long value, long granted, long released) {
        return new Grant(
                process,
                "x",
                value,
                UUID.randomUUID().toString(),
                ms(granted - 1),
                ms(granted),
                ms(released),
                ms(released));
    }

    private static long ms(long millis) {
        return Duration.ofMillis(millis).toNanos();
    }
}
