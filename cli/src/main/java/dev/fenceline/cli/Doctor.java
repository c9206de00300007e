package dev.fenceline.cli;

import dev.fenceline.Finding;
import dev.fenceline.lock.LockInspector;
import dev.fenceline.migrations.FenceMigrations;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Looks for settings under which locks and fences do not hold. */
@Command(
        name = "doctor",
        description =
                "Looks at PostgreSQL, Redis, or both, as they are named, for settings under which fences or locks do not hold. Ends with"
                        + " 1 where it finds an error or a warning.")
final class Doctor extends Subcommand {

    @Mixin
    private final PostgresOptions postgres;

    @Mixin
    private final RedisOptions redis;

    Doctor(Terminal terminal) {
        super(terminal);
        this.postgres = new PostgresOptions(terminal);
        this.redis = new RedisOptions(terminal);
    }

    @Override
    Report run() {
        if (!postgres.given() && !redis.given()) {
            throw Failure.usage(
                    "No server is named: give --url, --redis or both, or set FENCELINE_URL or FENCELINE_REDIS.");
        }
        List<Finding> findings = new ArrayList<>();
        List<String> examined = new ArrayList<>();
        if (postgres.given()) {
            findings.addAll(FenceMigrations.on(postgres.connect()).doctor());
            examined.add("PostgreSQL");
        }
        if (redis.given()) {
            try (LockInspector inspector = redis.connect()) {
                findings.addAll(inspector.doctor());
            }
            examined.add("Redis");
        }
        boolean healthy = findings.stream().allMatch(finding -> finding.severity() == Finding.Severity.INFO);
        Report report = Report.of(healthy ? Outcome.OK : Outcome.FINDINGS);
        findings.forEach(finding -> report.line(style(finding.severity()), finding.toString()));
        return report.line(
                        healthy ? Report.Style.GOOD : Report.Style.PLAIN,
                        String.join(" and ", examined) + ": "
                                + (healthy ? "nothing unsafe found." : Texts.count(findings.size(), "finding") + "."))
                .field(
                        "examined",
                        examined.stream()
                                .map(name -> name.toLowerCase(Locale.ROOT))
                                .toList())
                .field(
                        "findings",
                        findings.stream()
                                .map(finding -> Json.object(
                                        "code", finding.code(),
                                        "severity", finding.severity().name().toLowerCase(Locale.ROOT),
                                        "subject", finding.subject(),
                                        "found", finding.found(),
                                        "remedy", finding.remedy()))
                                .toList());
    }

    private static Report.Style style(Finding.Severity severity) {
        return switch (severity) {
            case ERROR -> Report.Style.BAD;
            case WARNING -> Report.Style.DOUBTFUL;
            case INFO -> Report.Style.PLAIN;
        };
    }
}
