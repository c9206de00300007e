package dev.fenceline.examples.pausedwriter;

import dev.fenceline.examples.pausedwriter.Moment.Mark;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * One pause under the glass. Between the steps that matter lie milliseconds, and in the middle seconds in which nothing
 * happens; so the wall-clock axis is stretched where things happen and shortened, with a mark, where they do not. Each
 * column is placed as far right as the labels before it in its lanes need, hence no two labels overlap.
 */
final class PauseChart {

    private static final double LEFT = 84;
    private static final double TOP = 30;
    private static final double LANE = 50;
    private static final double LEAST_WIDTH = 1280;
    private static final double LEAST_STEP = 16;
    private static final double MOST_STEP = 150;
    private static final double PIXELS_PER_MILLI = 0.25;
    private static final double PIXELS_PER_CHARACTER = 6.7;
    private static final double LABEL_OFFSET = 12;
    private static final double LABEL_GAP = 12;
    private static final double MOST_WIDENING = 1.6;
    private static final Duration SHORTENED = Duration.ofMillis(700);
    private static final DateTimeFormatter CLOCK =
            DateTimeFormatter.ofPattern("HH:mm:ss.SSS", Locale.ROOT).withZone(ZoneOffset.UTC);

    private final RunTrace run;
    private final Scene scene;
    private final List<Moment> moments;
    private final List<Double> xs = new ArrayList<>();
    private final TreeMap<Instant, Double> columns = new TreeMap<>();
    private double right = LEAST_WIDTH - 16;
    private final Svg svg = new Svg();

    PauseChart(RunTrace run, Scene scene) {
        this.run = run;
        this.scene = scene;
        this.moments = Moments.of(run, scene);
        placeColumns();
    }

    String svg() {
        double bottom = y(Lane.ROW) + LANE;
        for (Lane lane : Lane.values()) {
            svg.text("lane", 8, y(lane) + 30, lane.title());
            svg.line("rule", LEFT, y(lane) + LANE, right, y(lane) + LANE);
        }
        drawAxis(bottom);
        drawHolds();
        drawPause();
        for (int i = 0; i < moments.size(); i++) {
            draw(moments.get(i), xs.get(i));
        }
        return svg.element(
                right + 16,
                bottom + 8,
                scene.title() + " of the run '" + run.mode().title() + "'");
    }

    private void placeColumns() {
        Map<Lane, Double> free = new EnumMap<>(Lane.class);
        double x = LEFT + 12;
        Instant before = null;
        for (Moment moment : moments) {
            if (before != null) {
                double millis = Duration.between(before, moment.at()).toNanos() / 1e6;
                x += Math.min(MOST_STEP, Math.max(LEAST_STEP, millis * PIXELS_PER_MILLI));
            }
            for (Mark mark : moment.marks()) {
                x = Math.max(x, free.getOrDefault(mark.lane(), x));
            }
            xs.add(x);
            columns.put(moment.at(), x);
            for (Mark mark : moment.marks()) {
                double label = mark.longestLine() * PIXELS_PER_CHARACTER;
                free.put(mark.lane(), x + LABEL_OFFSET + label + LABEL_GAP);
            }
            before = moment.at();
        }
        double end =
                free.values().stream().mapToDouble(Double::doubleValue).max().orElse(x);
        widen(end);
    }

    /** Where there is room left, all columns move apart; labels keep their size, so none comes to overlap. */
    private void widen(double end) {
        double factor = Math.min(MOST_WIDENING, (right - LEFT) / (end - LEFT));
        if (factor <= 1) {
            right = end;
            return;
        }
        xs.replaceAll(x -> LEFT + (x - LEFT) * factor);
        columns.replaceAll((at, x) -> LEFT + (x - LEFT) * factor);
    }

    private void drawAxis(double bottom) {
        double labelEnd = LEFT;
        Instant before = null;
        for (Moment moment : moments) {
            double x = x(moment.at());
            svg.line("grid", x, TOP - 4, x, bottom);
            if (x >= labelEnd) {
                String clock = CLOCK.format(moment.at());
                svg.text("time", x, TOP - 10, clock);
                labelEnd = x + clock.length() * PIXELS_PER_CHARACTER + LABEL_GAP;
            }
            if (before != null && Duration.between(before, moment.at()).compareTo(SHORTENED) > 0) {
                double middle = (x(before) + x) / 2;
                svg.path(
                        "break",
                        String.format(Locale.ROOT, "M%.1f %.1fl6 -10m-1 10l6 -10", middle - 6, TOP + 4),
                        "shortened: " + seconds(Duration.between(before, moment.at())));
            }
            before = moment.at();
        }
        svg.line("axis", LEFT, TOP - 1, right, TOP - 1);
    }

    private void drawHolds() {
        for (Hold hold : Hold.of(run.eventsOf(scene))) {
            double from = x(hold.from());
            double width = x(hold.to()) - from;
            svg.rect("hold-" + hold.writer(), from, y(Lane.REDIS) + 7, width, 22, "held by " + hold.writer());
            String whole = hold.writer() + " holds, token " + hold.token();
            String brief = hold.writer() + " " + Moments.shortToken(hold.token());
            String text = fits(whole, width) ? whole : fits(brief, width) ? brief : "";
            svg.text("bar", from + 6, y(Lane.REDIS) + 22, text);
        }
    }

    private void drawPause() {
        Instant from = null;
        for (Event event : run.eventsOf(scene)) {
            if (event.kind() == Event.Kind.STOPPED) {
                from = event.at();
            } else if (event.kind() == Event.Kind.CONTINUED && from != null) {
                double x = x(from);
                double width = x(event.at()) - x;
                svg.rect("pause", x, y(Lane.WRITER_A) + 8, width, LANE - 16, "stopped");
                String whole = "stopped for " + seconds(Duration.between(from, event.at())) + ", state T";
                String text = fits(whole, width - 16) ? whole : "T";
                svg.rect("plate", x + 8, y(Lane.WRITER_A) + 15, text.length() * PIXELS_PER_CHARACTER + 10, 20, "");
                svg.text("label", x + 13, y(Lane.WRITER_A) + 29, text);
            }
        }
    }

    private void draw(Moment moment, double x) {
        for (Mark mark : moment.marks()) {
            double middle = y(mark.lane()) + LANE / 2;
            switch (mark.sign()) {
                case DOT -> svg.circle("dot-" + mark.lane().name(), x, middle, 4, mark.tooltip());
                case CLAIM -> svg.diamond("claim", x, middle, 6, mark.tooltip());
                case ACCEPTED -> svg.circle("accepted", x, middle, 5.5, mark.tooltip());
                case LOST -> {
                    svg.circle("accepted", x, middle, 4, mark.tooltip());
                    svg.circle("lost", x, middle, 7.5, mark.tooltip());
                }
                case REFUSED -> svg.cross("refused", x, middle, 5, mark.tooltip());
                case NONE -> {}
                case END -> svg.line("end", x, middle - 20, x, middle + 20);
            }
            boolean bad = mark.sign() == Moment.Sign.LOST || mark.sign() == Moment.Sign.REFUSED;
            String style = bad ? "label bad" : "label";
            List<String> lines = mark.lines();
            // In the lane of Redis the middle belongs to the bars.
            double first = mark.lane() == Lane.REDIS ? middle + 18 : lines.size() == 2 ? middle - 3 : middle + 4;
            for (int i = 0; i < lines.size(); i++) {
                svg.text(style, x + LABEL_OFFSET, first + 14 * i, lines.get(i));
            }
        }
    }

    private static boolean fits(String text, double width) {
        return text.length() * PIXELS_PER_CHARACTER + 10 <= width;
    }

    private static String seconds(Duration duration) {
        return String.format(Locale.ROOT, "%.2f s", duration.toMillis() / 1000.0);
    }

    /** Between two columns, where a hold may end unlabelled, the axis is linear. */
    private double x(Instant at) {
        Map.Entry<Instant, Double> before = columns.floorEntry(at);
        Map.Entry<Instant, Double> after = columns.ceilingEntry(at);
        if (before == null || after == null) {
            return before != null ? Math.min(right, before.getValue() + 60) : LEFT;
        }
        double gap = Duration.between(before.getKey(), after.getKey()).toNanos();
        double part = gap == 0 ? 0 : Duration.between(before.getKey(), at).toNanos() / gap;
        return before.getValue() + part * (after.getValue() - before.getValue());
    }

    private static double y(Lane lane) {
        return TOP + lane.position() * LANE;
    }
}
