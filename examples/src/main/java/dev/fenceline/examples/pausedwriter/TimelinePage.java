package dev.fenceline.examples.pausedwriter;

import java.util.List;

/** Renders the whole demo as one page that needs neither network nor script; it is well-formed XML as well. */
final class TimelinePage {

    private final List<RunTrace> runs;
    private final String processes;

    TimelinePage(List<RunTrace> runs, String processes) {
        this.runs = List.copyOf(runs);
        this.processes = processes;
    }

    String html() {
        StringBuilder page = new StringBuilder();
        page.append("""
                <!DOCTYPE html>
                <html lang="en">
                <head>
                <meta charset="utf-8"/>
                <meta name="viewport" content="width=device-width, initial-scale=1"/>
                <title>Fenceline: the paused writer</title>
                <style>
                """);
        page.append(Resources.text("timeline.css"));
        page.append("""
                </style>
                </head>
                <body>
                <svg class="defs" aria-hidden="true"><defs><pattern id="hatch" width="7" height="7"
                patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatch-ground" width="7" height="7"/>
                <line class="hatch-line" x1="0" y1="0" x2="0" y2="7"/></pattern></defs></svg>
                <header>
                <h1>The paused writer</h1>
                <p>Two processes book account movements. Both hold the same kind of Redis lock, and writer A is stopped
                between its read and its write, for longer than its lease. Three runs, and only one of them keeps the books.</p>
                <p class="fine">""");
        page.append(Svg.escape(processes))
                .append("</p>\n")
                .append(results())
                .append(legend())
                .append("</header>\n");
        for (RunTrace run : runs) {
            page.append(section(run));
        }
        page.append("""
                <footer>
                <p><b>One clock.</b> Redis, PostgreSQL and the three processes read the clock of one machine, so their times can be
                compared as they stand (UTC). A token is microseconds of the Redis server's clock, raised where needed so that it
                never repeats. Claims and accepted writes are rows written in the transactions that they tell of, with PostgreSQL's
                time; grants, pauses and refusals come from the event file of each process.</p>
                <p><b>Two axes.</b> The narrow chart of each run is linear. In the charts of the pauses the axis is stretched where
                things happen, and shortened at each double stroke.</p>
                </footer>
                </body>
                </html>
                """);
        return page.toString();
    }

    /** The verdict, before the charts that explain it. */
    private String results() {
        StringBuilder table = new StringBuilder("<table><tr>");
        for (String title :
                List.of("run", "bookings", "writes accepted", "refused", "lost updates", "balances wrong by")) {
            table.append("<th>").append(title).append("</th>");
        }
        table.append("</tr>\n");
        for (RunTrace run : runs) {
            RunResult result = run.result();
            table.append("<tr class=\"").append(style(result)).append("\">");
            for (Object cell : List.of(
                    result.mode().title(),
                    result.bookings(),
                    result.accepted(),
                    result.refused(),
                    result.lostUpdates(),
                    Money.euros(result.errorCents()))) {
                table.append("<td>").append(Svg.escape(cell.toString())).append("</td>");
            }
            table.append("</tr>\n");
        }
        return table.append("</table>\n").toString();
    }

    private static String style(RunResult result) {
        return result.errorCents() != 0 || result.lostUpdates() != 0 ? "wrong" : "right";
    }

    private static String section(RunTrace run) {
        RunResult result = run.result();
        String verdict = style(result);
        StringBuilder section = new StringBuilder("<section>\n<h2>")
                .append(Svg.escape(run.mode().title()))
                .append("</h2>\n<p>")
                .append(Svg.escape(run.mode().explanation()))
                .append("</p>\n<ul class=\"figures\">");
        figure(section, "plain", result.accepted() + " accepted");
        figure(section, "plain", result.refused() + " refused");
        String updates = result.lostUpdates() == 1 ? " lost update" : " lost updates";
        figure(section, verdict, result.lostUpdates() + updates);
        figure(section, verdict, "balances wrong by " + Money.euros(result.errorCents()));
        section.append("</ul>\n<div class=\"chart\">")
                .append(new OverviewChart(run).svg())
                .append("</div>\n");
        for (Scene scene : List.of(Scene.FIRST_PAUSE, Scene.SECOND_PAUSE)) {
            section.append("<h3>")
                    .append(Svg.escape(
                            scene.title() + ": " + Staging.of(run.mode(), scene).title()))
                    .append("</h3>\n<div class=\"chart\">")
                    .append(new PauseChart(run, scene).svg())
                    .append("</div>\n");
        }
        return section.append("</section>\n").toString();
    }

    private static void figure(StringBuilder section, String style, String text) {
        section.append("<li class=\"")
                .append(style)
                .append("\">")
                .append(Svg.escape(text))
                .append("</li>");
    }

    private static String legend() {
        StringBuilder legend = new StringBuilder("<ul class=\"legend\">");
        item(legend, "lock held by A", svg -> svg.rect("hold-A", 2, 6, 26, 12, ""));
        item(legend, "lock held by B", svg -> svg.rect("hold-B", 2, 6, 26, 12, ""));
        item(legend, "process stopped (SIGSTOP)", svg -> svg.rect("pause", 2, 4, 26, 16, ""));
        item(legend, "a lease or a transaction ends", svg -> svg.line("end", 15, 3, 15, 21));
        item(legend, "claim of the fence", svg -> svg.diamond("claim", 15, 12, 6, ""));
        item(legend, "accepted write", svg -> svg.circle("accepted", 15, 12, 5.5, ""));
        item(legend, "accepted, but a lost update", svg -> {
            svg.circle("accepted", 15, 12, 4, "");
            svg.circle("lost", 15, 12, 7.5, "");
        });
        item(legend, "refused write", svg -> svg.cross("refused", 15, 12, 5, ""));
        return legend.append("</ul>\n").toString();
    }

    private static void item(StringBuilder legend, String text, java.util.function.Consumer<Svg> sign) {
        Svg svg = new Svg();
        sign.accept(svg);
        legend.append("<li>")
                .append(svg.element(30, 24, text))
                .append("<span>")
                .append(Svg.escape(text))
                .append("</span></li>\n");
    }
}
