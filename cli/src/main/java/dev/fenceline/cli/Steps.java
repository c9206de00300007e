package dev.fenceline.cli;

import dev.fenceline.migrations.Applied;
import dev.fenceline.migrations.Plan;
import dev.fenceline.migrations.Step;
import dev.fenceline.migrations.TableLock;
import dev.fenceline.migrations.TableName;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Plans, and what became of them, for people and for programs. */
final class Steps {

    private static final String WARNING = "warning: ";

    /** As many tables as a line bears. */
    private static final int NAMED = 5;

    private Steps() {}

    static Report report(Plan plan, OutputOptions output) {
        Report report = Report.ok();
        List<TableName> already = new ArrayList<>();
        for (Step step : plan.steps()) {
            boolean open = step.state() == Step.State.TO_DO;
            if (open || output.verbose) {
                report.line(open ? Report.Style.HEADING : Report.Style.PLAIN, step.toString());
            } else {
                already.add(step.change().table());
            }
            if (open) {
                step.lock()
                        .ifPresent(lock -> report.line("    locks " + lock.table() + " in " + lock.mode() + ": "
                                + lock.blocks() + ", " + lock.held() + "; " + lock.why()));
            }
        }
        fold(report, already);
        plan.warnings().forEach(warning -> report.line(Report.Style.DOUBTFUL, WARNING + warning));
        long open = plan.steps().stream()
                .filter(step -> step.state() == Step.State.TO_DO)
                .count();
        report.line(open == 0 ? "Nothing to do: all is so already." : Texts.count(open, "step") + " to do.");
        return report.field("steps", plan.steps().stream().map(Steps::json).toList())
                .field("warnings", plan.warnings());
    }

    static String warning(String warning, Terminal terminal) {
        return Report.Style.DOUBTFUL.on(Texts.printable(WARNING + warning), terminal);
    }

    static boolean nothingToDo(Plan plan) {
        return plan.steps().stream().noneMatch(step -> step.state() == Step.State.TO_DO);
    }

    /** The tables that a plan would change, for questions. */
    static String tables(Plan plan) {
        return tables(plan.steps().stream()
                .filter(step -> step.state() == Step.State.TO_DO)
                .map(step -> step.change().table())
                .distinct()
                .toList());
    }

    /** The first few, and how many more. */
    static String tables(List<TableName> tables) {
        List<String> names = tables.stream().map(TableName::toString).toList();
        return names.stream().limit(NAMED).collect(Collectors.joining(", "))
                + (names.size() > NAMED ? " and " + (names.size() - NAMED) + " more" : "");
    }

    /** Of three hundred tables few are of interest; with --verbose, and to programs, each is told. */
    private static void fold(Report report, List<TableName> already) {
        if (!already.isEmpty()) {
            report.line("so already: " + tables(already) + (already.size() > NAMED ? " (--verbose names them)" : ""));
        }
    }

    static Report report(Applied applied, OutputOptions output) {
        Report report = Report.ok();
        List<TableName> already = new ArrayList<>();
        for (Applied.AppliedStep step : applied.steps()) {
            TableName table = step.step().change().table();
            if (step.outcome() == Applied.Outcome.ALREADY_SO && !output.verbose) {
                already.add(table);
            } else {
                report.line(
                        step.outcome() == Applied.Outcome.CHANGED ? Report.Style.GOOD : Report.Style.PLAIN,
                        word(step.outcome()) + ": " + table + ": " + step.step().summary()
                                + (step.attempts() > 1 ? " (" + step.attempts() + " attempts)" : ""));
            }
        }
        fold(report, already);
        return report.line(Texts.count(applied.with(Applied.Outcome.CHANGED).size(), "step") + " done, "
                        + applied.with(Applied.Outcome.ALREADY_SO).size() + " so already.")
                .field("steps", json(applied));
    }

    static List<Map<String, @Nullable Object>> json(Applied applied) {
        List<Map<String, @Nullable Object>> steps = new ArrayList<>();
        applied.steps()
                .forEach(step -> steps.add(Json.object(
                        "table", step.step().change().table().toString(),
                        "summary", step.step().summary(),
                        "outcome", step.outcome().name().toLowerCase(Locale.ROOT),
                        "attempts", step.attempts(),
                        "detail", step.detail())));
        return steps;
    }

    private static Map<String, @Nullable Object> json(Step step) {
        return Json.object(
                "table",
                step.change().table().toString(),
                "summary",
                step.summary(),
                "state",
                step.state().name().toLowerCase(Locale.ROOT),
                "lock",
                step.lock().map(Steps::json).orElse(null));
    }

    private static Map<String, @Nullable Object> json(TableLock lock) {
        return Json.object(
                "table", lock.table().toString(),
                "mode", lock.mode(),
                "blocks", lock.blocks(),
                "held", lock.held(),
                "why", lock.why());
    }

    private static String word(Applied.Outcome outcome) {
        return switch (outcome) {
            case CHANGED -> "done";
            case ALREADY_SO -> "so already";
            case NOT_DONE -> "not done";
        };
    }
}
