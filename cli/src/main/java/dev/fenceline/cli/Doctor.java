package dev.fenceline.cli;

import dev.fenceline.FencelineException;
import dev.fenceline.Finding;
import dev.fenceline.lock.LockInspector;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Looks for settings under which locks and fences do not hold. */
@Command(
        name = "doctor",
        description =
                "Looks at PostgreSQL, Redis and S3, at those that are named, for settings under which fences or locks do not hold. S3 is"
                        + " probed, as s3 probe does. Ends with 1 where it finds an error or a warning, and with 3 where one of them"
                        + " cannot be reached.")
final class Doctor extends Subcommand {

    @Mixin
    private final PostgresOptions postgres;

    @Mixin
    private final RedisOptions redis;

    @Mixin
    private final S3Options s3;

    Doctor(Terminal terminal) {
        super(terminal);
        this.postgres = new PostgresOptions(terminal);
        this.redis = new RedisOptions(terminal);
        this.s3 = new S3Options(terminal);
    }

    @Override
    Report run() {
        if (!postgres.given() && !redis.given() && !s3.given()) {
            throw Failure.usage(
                    "No server is named: give --url, --redis or --s3, or several of them, or set FENCELINE_URL,"
                            + " FENCELINE_REDIS or FENCELINE_S3.");
        }
        List<Part> parts = new ArrayList<>();
        if (postgres.given()) {
            parts.add(Part.of(
                    "postgres", "PostgreSQL", () -> postgres.migrations().doctor()));
        }
        if (redis.given()) {
            parts.add(Part.of("redis", "Redis", this::ofRedis));
        }
        if (s3.given()) {
            parts.add(Part.of("s3", "S3", () -> S3Commands.probe(s3, terminal).findings()));
        }
        List<Finding> findings =
                parts.stream().flatMap(part -> part.findings().stream()).toList();
        boolean healthy = findings.stream().allMatch(finding -> finding.severity() == Finding.Severity.INFO);
        boolean unreachable = parts.stream().anyMatch(part -> part.missed().equals(Optional.of(Outcome.UNREACHABLE)));
        Report report = Report.of(unreachable ? Outcome.UNREACHABLE : healthy ? Outcome.OK : Outcome.FINDINGS);
        findings.forEach(finding -> report.line(style(finding.severity()), finding.toString()));
        return report.line(healthy ? Report.Style.GOOD : Report.Style.PLAIN, summary(parts, findings))
                .field(
                        "examined",
                        parts.stream()
                                .filter(part -> part.missed().isEmpty())
                                .map(part -> part.name().toLowerCase(Locale.ROOT))
                                .toList())
                .field("findings", findings.stream().map(Doctor::json).toList());
    }

    static Map<String, @Nullable Object> json(Finding finding) {
        return Json.object(
                "code", finding.code(),
                "severity", finding.severity().name().toLowerCase(Locale.ROOT),
                "subject", finding.subject(),
                "found", finding.found(),
                "remedy", finding.remedy());
    }

    private List<Finding> ofRedis() {
        try (LockInspector inspector = redis.connect()) {
            return inspector.doctor();
        }
    }

    private static String summary(List<Part> parts, List<Finding> findings) {
        String all = parts.stream().map(Part::name).collect(Collectors.joining(" and "));
        return all + ": "
                + (findings.isEmpty() ? "nothing unsafe found." : Texts.count(findings.size(), "finding") + ".");
    }

    /**
     * What there is to say of one server.
     *
     * @param missed why it could not be asked, if it could not
     */
    private record Part(String name, List<Finding> findings, Optional<Outcome> missed) {

        /** One server that is down hides nothing of the other. What was not understood is no matter of a server. */
        static Part of(String code, String name, Supplier<List<Finding>> look) {
            try {
                return new Part(name, look.get(), Optional.empty());
            } catch (Failure | FencelineException e) {
                Failure failure = Failure.of(e);
                if (failure.outcome() == Outcome.USAGE || failure.outcome() == Outcome.INTERRUPTED) {
                    throw failure;
                }
                String said = Texts.oneLine(String.valueOf(failure.getMessage()));
                Finding finding = new Finding(
                        code + "-unasked",
                        Finding.Severity.ERROR,
                        name,
                        "could not be asked: " + said.replaceFirst("\\.+$", ""),
                        "Mend that, and look again.");
                return new Part(name, List.of(finding), Optional.of(failure.outcome()));
            }
        }
    }

    static Report.Style style(Finding.Severity severity) {
        return switch (severity) {
            case ERROR -> Report.Style.BAD;
            case WARNING -> Report.Style.DOUBTFUL;
            case INFO -> Report.Style.PLAIN;
        };
    }
}
