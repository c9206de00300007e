package dev.fenceline.examples.pausedwriter;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** One whole run on a linear wall-clock axis: the bulk of the work as strokes, the two pauses hatched. */
final class OverviewChart {

    private static final double WIDTH = 1280;
    private static final double LEFT = 84;
    private static final double RIGHT = 1264;
    private static final double TOP = 8;
    private static final double LANE = 20;
    private static final DateTimeFormatter CLOCK =
            DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT).withZone(ZoneOffset.UTC);

    private final RunTrace run;
    private final Instant start;
    private final double pixelsPerNano;
    private final Svg svg = new Svg();

    OverviewChart(RunTrace run) {
        this.run = run;
        this.start = run.start();
        long nanos = Math.max(1, Duration.between(start, run.end()).toNanos());
        this.pixelsPerNano = (RIGHT - LEFT) / nanos;
    }

    String svg() {
        double bottom = y(Lane.ROW) + LANE;
        for (Lane lane : Lane.values()) {
            svg.text("lane", 8, y(lane) + 14, lane.title());
            svg.line("rule", LEFT, y(lane) + LANE, RIGHT, y(lane) + LANE);
        }
        for (Instant second = start.truncatedTo(ChronoUnit.SECONDS).plusSeconds(1);
                second.isBefore(run.end());
                second = second.plusSeconds(1)) {
            svg.line("grid", x(second), TOP, x(second), bottom);
            if (x(second) < RIGHT - 30 && x(second) > LEFT + 30) {
                svg.text("time middle", x(second), bottom + 14, CLOCK.format(second));
            }
        }
        drawHolds();
        drawPauses();
        drawRow();
        return svg.element(WIDTH, bottom + 20, "The whole run '" + run.mode().title() + "' on a linear axis");
    }

    private void drawHolds() {
        for (Hold hold : Hold.of(run.events())) {
            double width = x(hold.to()) - x(hold.from());
            svg.rect("hold-" + hold.writer(), x(hold.from()), y(Lane.REDIS) + 4, width, LANE - 8, "");
        }
        for (String writer : List.of("A", "B")) {
            svg.ticks("work-" + writer, work(writer), y(Lane.of(writer)) + 4, LANE - 8);
        }
    }

    /** Where a writer read, as far as it told, and where it wrote. */
    private List<Double> work(String writer) {
        Stream<Instant> reads = run.events().stream()
                .filter(event ->
                        event.kind() == Event.Kind.READ && event.actor().equals(writer))
                .map(Event::at);
        Stream<Instant> writes = run.history().stream()
                .filter(write -> write.writer().equals(writer))
                .map(AcceptedWrite::at);
        return Stream.concat(reads, writes).map(this::x).toList();
    }

    private void drawPauses() {
        for (Scene scene : List.of(Scene.FIRST_PAUSE, Scene.SECOND_PAUSE)) {
            List<Event> events = run.eventsOf(scene);
            for (Event stopped : events) {
                if (stopped.kind() == Event.Kind.STOPPED) {
                    Instant to = events.stream()
                            .filter(event -> event.kind() == Event.Kind.CONTINUED)
                            .map(Event::at)
                            .findFirst()
                            .orElse(run.end());
                    double from = x(stopped.at());
                    svg.rect("pause", from, y(Lane.WRITER_A) + 2, x(to) - from, LANE - 4, stopped.text());
                    svg.text("chip", from + 6, y(Lane.WRITER_A) + 14, scene.title());
                }
            }
        }
    }

    private void drawRow() {
        double y = y(Lane.ROW);
        svg.ticks("claim-ticks", run.claims().stream().map(c -> x(c.at())).toList(), y + 2, 7);
        svg.ticks("accepted-ticks", run.history().stream().map(w -> x(w.at())).toList(), y + 9, 9);
        for (AcceptedWrite write : run.history()) {
            if (write.overwroteUnseen()) {
                svg.circle("lost", x(write.at()), y + 10, 7, "lost update");
            }
        }
        for (Event event : run.events()) {
            if (event.kind() == Event.Kind.REFUSED) {
                svg.cross("refused", x(event.at()), y + 10, 5, event.text());
            }
        }
    }

    private double x(Instant at) {
        return LEFT + Duration.between(start, at).toNanos() * pixelsPerNano;
    }

    private static double y(Lane lane) {
        return TOP + lane.position() * LANE;
    }
}
