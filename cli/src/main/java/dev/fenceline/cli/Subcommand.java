package dev.fenceline.cli;

import dev.fenceline.migrations.Plan;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** What all commands share: they report once, in text or as JSON, and fail in one line. */
abstract class Subcommand implements Callable<Integer> {

    final Terminal terminal;

    @Mixin
    final OutputOptions output = new OutputOptions();

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private CommandSpec spec;

    Subcommand(Terminal terminal) {
        this.terminal = terminal;
    }

    /** Does the work; what it throws becomes a line and an exit code. */
    abstract Report run() throws Exception;

    /** Says what is to be known before anything happens; where programs read the output, beside it. */
    final void warn(Plan plan) {
        PrintWriter to = output.json ? terminal.err() : terminal.out();
        plan.warnings().forEach(warning -> to.println(Steps.warning(warning, terminal)));
        to.flush();
    }

    @Override
    public final Integer call() {
        String command = spec.qualifiedName(" ").substring("fenceline ".length());
        try {
            Report report = run();
            if (output.json) {
                terminal.out().println(Json.document(command, report.outcome(), report.fields()));
            } else {
                report.lines(terminal).forEach(terminal.out()::println);
            }
            terminal.out().flush();
            return report.outcome().exitCode();
        } catch (Exception e) {
            if (e instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            return Failures.report(terminal, command, Failure.of(e), output);
        }
    }
}
