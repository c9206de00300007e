package dev.fenceline.examples.pausedwriter;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TimelinePageTest {

    private static final Instant START = Instant.parse("2026-11-29T15:00:00Z");
    private static final long TOKEN_A = 1_764_430_562_123_456L;
    private static final long TOKEN_B = 1_764_430_564_234_567L;

    @Test
    void thePageIsWellFormedAndShowsEachRun() throws Exception {
        ParsedPage page = ParsedPage.of(page("refused"));
        assertThat(page.texts("h2")).containsExactly("no check", ">= only", "Fenceline");
        assertThat(page.texts("h3")).hasSize(6);
    }

    @Test
    void textFromElsewhereIsEscaped() throws Exception {
        String hostile = "</title><script>alert(\"1 & 2\")</script>\u0000'";
        String html = page(hostile);
        assertThat(html).doesNotContain("<script").contains("&lt;script&gt;alert(&quot;1 &amp; 2&quot;)");
        assertThat(ParsedPage.of(html).texts("script")).isEmpty();
    }

    @Test
    void thePageLoadsNothing() {
        assertThat(page("refused")).doesNotContain("http:", "https:", "src=", "@import", "href=");
    }

    @Test
    void aPauseIsHatchedAndItsSignsAreDrawn() throws Exception {
        ParsedPage page = ParsedPage.of(page("refused"));
        // Each sign once in the legend; the rest is in the overview and the chart of the pause of each run.
        assertThat(page.count("rect", "pause")).isEqualTo(1 + 3 * 2);
        assertThat(page.count("path", "refused")).isEqualTo(1 + 3 * 2);
        assertThat(page.count("path", "claim")).isEqualTo(1 + 3 * 2);
        assertThat(page.count("circle", "lost")).isEqualTo(1 + 3 * 2);
    }

    @Test
    void noTwoLabelsOverlap() throws Exception {
        assertThat(ParsedPage.of(page("refused")).assertNoTwoLabelsOverlap()).isGreaterThan(100);
    }

    private static String page(String refusal) {
        List<RunTrace> runs = new ArrayList<>();
        for (Mode mode : Mode.values()) {
            RunResult result = new RunResult(mode, 4_000, 2, 1, 1, 1, List.of());
            runs.add(new RunTrace(result, events(mode, refusal), claims(mode), history()));
        }
        return new TimelinePage(runs, "writer A pid 1 & writer B pid 2").html();
    }

    private static List<Event> events(Mode mode, String refusal) {
        Scene scene = Scene.FIRST_PAUSE;
        return List.of(
                new Event(at(0), "A", mode, scene, Event.Kind.GRANTED, TOKEN_A, ""),
                new Event(at(3), "A", mode, scene, Event.Kind.READ, TOKEN_A, "12,345.67 €"),
                new Event(at(4), "conductor", mode, scene, Event.Kind.STOPPED, TOKEN_A, "pid 1"),
                new Event(at(2_003), "conductor", mode, scene, Event.Kind.LEASE_ENDED, TOKEN_A, ""),
                new Event(at(2_005), "B", mode, scene, Event.Kind.GRANTED, TOKEN_B, ""),
                new Event(at(2_007), "B", mode, scene, Event.Kind.READ, TOKEN_B, "12,345.67 €"),
                new Event(at(2_008), "conductor", mode, scene, Event.Kind.CONTINUED, TOKEN_A, ""),
                new Event(at(2_009), "A", mode, scene, Event.Kind.REFUSED, TOKEN_A, refusal),
                new Event(at(2_012), "B", mode, scene, Event.Kind.RELEASED, TOKEN_B, ""));
    }

    private static List<AdmittedClaim> claims(Mode mode) {
        return List.of(
                new AdmittedClaim(at(2), "account:" + mode.schema(), TOKEN_A, "A"),
                new AdmittedClaim(at(2_006), "account:" + mode.schema(), TOKEN_B, "B"));
    }

    private static List<AcceptedWrite> history() {
        return List.of(
                new AcceptedWrite(at(2_010), "10", Scene.FIRST_PAUSE, "A", TOKEN_A, 4, 4, 1_234_567, -4_000),
                new AcceptedWrite(at(2_011), "10", Scene.FIRST_PAUSE, "B", TOKEN_B, 4, 5, 1_534_567, 300_000));
    }

    private static Instant at(long millis) {
        return START.plusMillis(millis);
    }
}
