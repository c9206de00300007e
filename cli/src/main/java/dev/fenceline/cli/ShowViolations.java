package dev.fenceline.cli;

import dev.fenceline.migrations.Violations;
import java.time.Duration;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Who would be refused by enforce. */
@Command(
        name = "violations",
        description =
                "Lists who has written observed tables without their locks: those whom enforce would refuse. Ends with 1 where there are"
                        + " any. Records are kept for 30 days.")
final class ShowViolations extends Subcommand {

    /** Further back there is nothing to be found, and to find none there says nothing. */
    private static final String KEPT = "30d";

    @Option(
            names = "--since",
            paramLabel = "DURATION",
            order = 10,
            defaultValue = "24h",
            description = "How far to look back: 30m, 24h, 7d, and 30d at most (${DEFAULT-VALUE}).")
    private String since = "24h";

    @Mixin
    private final PostgresOptions postgres;

    ShowViolations(Terminal terminal) {
        super(terminal);
        this.postgres = new PostgresOptions(terminal);
    }

    @Override
    Report run() {
        Duration past = Texts.duration("--since", since, "1ms", KEPT);
        List<Violations> found = postgres.operations().violations(past);
        Report report = Report.of(found.isEmpty() ? Outcome.OK : Outcome.FINDINGS);
        found.forEach(each -> report.line(Report.Style.DOUBTFUL, each.toString()));
        report.line(
                found.isEmpty()
                        ? "No violations in the last " + since + "."
                        : Texts.count(
                                        found.stream()
                                                .mapToLong(Violations::transactions)
                                                .sum(),
                                        "transaction") + " in the last " + since + " wrote without a lock.");
        return report.field("since", since)
                .field(
                        "violations",
                        found.stream()
                                .map(each -> Json.object(
                                        "table", each.relation(),
                                        "operation", each.operation(),
                                        "application", each.application(),
                                        "role", each.role(),
                                        "transactions", each.transactions(),
                                        "first", each.first(),
                                        "last", each.last(),
                                        "needed", each.needed(),
                                        "entered", each.entered()))
                                .toList());
    }
}
