package dev.fenceline.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** What all commands share: they report once, in text or as JSON, and fail in one line. */
abstract class Subcommand implements Callable<Integer> {

    final Terminal terminal;

    @Mixin
    private final OutputOptions output = new OutputOptions();

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private CommandSpec spec;

    Subcommand(Terminal terminal) {
        this.terminal = terminal;
    }

    /** Does the work; what it throws becomes a line and an exit code. */
    abstract Report run() throws Exception;

    @Override
    public final Integer call() {
        String command = spec.qualifiedName(" ").substring("fenceline ".length());
        try {
            Report report = run();
            if (output.json) {
                terminal.out().println(Json.document(command, report.outcome(), report.fields()));
            } else {
                report.lines(terminal.colour()).forEach(terminal.out()::println);
            }
            terminal.out().flush();
            return report.outcome().exitCode();
        } catch (Exception e) {
            if (e instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            return Failures.report(terminal, command, Failure.of(e), output.json, output.verbose);
        }
    }
}
