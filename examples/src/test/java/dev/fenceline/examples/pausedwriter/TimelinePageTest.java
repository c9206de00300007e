package dev.fenceline.examples.pausedwriter;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.StringReader;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

class TimelinePageTest {

    private static final Instant START = Instant.parse("2026-11-29T15:00:00Z");
    private static final long TOKEN_A = 1_764_430_562_123_456L;
    private static final long TOKEN_B = 1_764_430_564_234_567L;

    @Test
    void thePageIsWellFormedAndShowsEachRun() throws Exception {
        Document page = parsed(page("refused"));
        assertThat(texts(page.getElementsByTagName("h2"))).containsExactly("no check", ">= only", "Fenceline");
        assertThat(texts(page.getElementsByTagName("h3"))).hasSize(6);
    }

    @Test
    void textFromElsewhereIsEscaped() throws Exception {
        String hostile = "</title><script>alert(\"1 & 2\")</script>\u0000'";
        String html = page(hostile);
        assertThat(html).doesNotContain("<script").contains("&lt;script&gt;alert(&quot;1 &amp; 2&quot;)");
        assertThat(parsed(html).getElementsByTagName("script").getLength()).isZero();
    }

    @Test
    void thePageLoadsNothing() {
        assertThat(page("refused")).doesNotContain("http:", "https:", "src=", "@import", "href=");
    }

    @Test
    void aPauseIsHatchedAndItsSignsAreDrawn() throws Exception {
        Document page = parsed(page("refused"));
        // Each sign once in the legend; the rest is in the charts.
        assertThat(styles(page, "rect", "pause")).isEqualTo(1 + 3 * 2);
        assertThat(styles(page, "path", "refused")).isEqualTo(1 + 3 * 2);
        assertThat(styles(page, "path", "claim")).isEqualTo(1 + 3 * 2);
        assertThat(styles(page, "circle", "lost")).isEqualTo(1 + 3 * 2);
    }

    @Test
    void noTwoLabelsOverlap() throws Exception {
        NodeList charts = parsed(page("refused")).getElementsByTagName("svg");
        int compared = 0;
        for (int i = 0; i < charts.getLength(); i++) {
            List<Label> labels = labels((Element) charts.item(i));
            for (int a = 0; a < labels.size(); a++) {
                for (int b = a + 1; b < labels.size(); b++) {
                    assertThat(labels.get(a).overlaps(labels.get(b)))
                            .as("%s and %s", labels.get(a), labels.get(b))
                            .isFalse();
                    compared++;
                }
            }
        }
        assertThat(compared).isGreaterThan(100);
    }

    private record Label(String text, double x, double y) {

        /** Monospaced at 11 px: 6.6 px a character. */
        boolean overlaps(Label other) {
            return Math.abs(y - other.y) < 11
                    && x < other.x + 6.6 * other.text.length()
                    && other.x < x + 6.6 * text.length();
        }
    }

    private static List<Label> labels(Element svg) {
        List<Label> labels = new ArrayList<>();
        NodeList texts = svg.getElementsByTagName("text");
        for (int i = 0; i < texts.getLength(); i++) {
            Element text = (Element) texts.item(i);
            if (text.getTextContent().isEmpty()) {
                continue;
            }
            double x = Double.parseDouble(text.getAttribute("x"));
            double half = 3.3 * text.getTextContent().length();
            boolean middle = text.getAttribute("class").contains("middle");
            labels.add(new Label(
                    text.getTextContent(), middle ? x - half : x, Double.parseDouble(text.getAttribute("y"))));
        }
        return labels;
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

    private static long styles(Document page, String element, String style) {
        NodeList found = page.getElementsByTagName(element);
        long count = 0;
        for (int i = 0; i < found.getLength(); i++) {
            if (((Element) found.item(i)).getAttribute("class").equals(style)) {
                count++;
            }
        }
        return count;
    }

    private static List<String> texts(NodeList nodes) {
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < nodes.getLength(); i++) {
            texts.add(nodes.item(i).getTextContent());
        }
        return texts;
    }

    private static Document parsed(String html) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(html)));
    }
}
