package dev.fenceline.cli;

import dev.fenceline.migrations.Applied;
import dev.fenceline.migrations.ApplyOptions;
import dev.fenceline.migrations.ApplyProgress;
import dev.fenceline.migrations.Plan;
import java.time.Duration;
import picocli.CommandLine.Option;

/** How patiently a plan is applied, so that nobody's writers wait. */
final class ApplySettings {

    private final Terminal terminal;

    @Option(
            names = "--lock-timeout",
            paramLabel = "DURATION",
            order = 20,
            defaultValue = "2s",
            description = "How long an attempt may wait for a table, and others behind it (${DEFAULT-VALUE}).")
    private String lockTimeout = "2s";

    @Option(
            names = "--attempts",
            paramLabel = "NUMBER",
            order = 21,
            defaultValue = "30",
            description = "How often it is tried for each table (${DEFAULT-VALUE}).")
    private int attempts = 30;

    ApplySettings(Terminal terminal) {
        this.terminal = terminal;
    }

    /** Checks before anything is sent. */
    ApplyOptions.Builder options() {
        Duration timeout = Texts.duration("--lock-timeout", lockTimeout, "10ms", "1h");
        if (attempts < 1) {
            throw Failure.usage("Invalid value for option '--attempts': " + attempts + " is below 1.");
        }
        return ApplyOptions.builder().lockTimeout(timeout).attempts(attempts);
    }

    Applied apply(Plan plan) throws InterruptedException {
        ApplyOptions.Builder options = options();
        try (Progress progress = Progress.of(terminal, "Applying")) {
            return plan.apply(
                    options.progress(heard -> progress.now(text(heard))).build());
        }
    }

    private static String text(ApplyProgress heard) {
        String step = heard.number() + " of " + heard.total() + ": "
                + heard.step().change().table();
        return switch (heard.stage()) {
            case ATTEMPT -> step + ", attempt " + heard.attempt();
            case BLOCKED -> step + ", attempt " + heard.attempt() + " got no lock in time: " + heard.detail();
            case CHANGED, ALREADY_SO, FAILED -> step;
        };
    }
}
