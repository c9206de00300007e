package dev.fenceline.cli;

import dev.fenceline.s3.Cleaned;
import dev.fenceline.s3.DataObject;
import dev.fenceline.s3.EtagForm;
import dev.fenceline.s3.Garbage;
import dev.fenceline.s3.PointerFence;
import dev.fenceline.s3.S3Fence;
import dev.fenceline.s3.S3Mark;
import dev.fenceline.s3.S3Probe;
import dev.fenceline.s3.S3ProbeReport;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The fenced objects of a bucket. */
@Command(
        name = "s3",
        description = "Fenced objects in S3: whether a store can carry them, whose mark stands, what can be removed.")
final class S3Commands extends Group {

    /** One object. */
    private static final class KeyArgument {
        @Parameters(paramLabel = "KEY", description = "The object's key, such as 2026/report.pdf.")
        private String key = "";
    }

    @Command(
            name = "probe",
            description =
                    "Tries whether fences hold in this store: writes, races and removes some objects under .fenceline-probe/. Ends with"
                            + " 1 where they do not.")
    static final class Probe extends Subcommand {

        @Mixin
        private final S3Options s3;

        Probe(Terminal terminal) {
            super(terminal);
            this.s3 = new S3Options(terminal);
        }

        @Override
        Report run() {
            S3ProbeReport probed = probe(s3, terminal);
            Report report = Report.of(probed.isSafe() ? Outcome.OK : Outcome.FINDINGS);
            probed.findings().forEach(finding -> report.line(Doctor.style(finding.severity()), finding.toString()));
            return report.line(
                            probed.isSafe() ? Report.Style.GOOD : Report.Style.BAD,
                            probed.resource()
                                    + (probed.isSafe() ? ": fences hold here." : ": fences do not hold here."))
                    .field("safe", probed.isSafe())
                    .field(
                            "findings",
                            probed.findings().stream().map(Doctor::json).toList());
        }
    }

    /** What doctor and probe ask. */
    static S3ProbeReport probe(S3Options s3, Terminal terminal) {
        try (S3Options.Bucket bucket = s3.connect();
                Progress progress = Progress.of(terminal, "Probing")) {
            progress.now("Probing bucket '" + bucket.name() + "'");
            return S3Probe.of(bucket.client(), bucket.name()).run();
        }
    }

    @Command(
            name = "show",
            description = "Shows the mark of an object: the newest token that it has admitted, and what lies there.")
    static final class Show extends Subcommand {

        @Mixin
        private final KeyArgument argument = new KeyArgument();

        @Mixin
        private final S3Options s3;

        Show(Terminal terminal) {
            super(terminal);
            this.s3 = new S3Options(terminal);
        }

        @Override
        Report run() {
            Optional<S3Mark> mark;
            try (S3Options.Bucket bucket = s3.connect()) {
                mark = S3Fence.reader(bucket.client(), bucket.name()).mark(argument.key);
            }
            Report report = Report.ok();
            mark.ifPresentOrElse(
                    seen -> describe(report, argument.key, seen), () -> report.line(neverClaimed(argument.key)));
            return report.field("key", argument.key)
                    .field("mark", mark.map(S3Commands::json).orElse(null));
        }
    }

    @Command(
            name = "gc",
            description =
                    "Removes the data of a pointer that was replaced or never named, older than the grace age; the pointer itself stays,"
                            + " and so does what it names. May run while others read and write.")
    static final class Gc extends Subcommand {

        @Mixin
        private final KeyArgument argument = new KeyArgument();

        @Option(
                names = "--grace",
                paramLabel = "DURATION",
                order = 10,
                defaultValue = "24h",
                description =
                        "How old data has to be, from when it was written. Longer than the longest upload, and than a reader takes who has"
                                + " read an older pointer (${DEFAULT-VALUE}).")
        private String grace = "24h";

        @Option(names = "--dry-run", order = 11, description = "Only say what would be removed.")
        private boolean dryRun;

        @Mixin
        private final S3Options s3;

        @Mixin
        private final Confirmation confirmation;

        Gc(Terminal terminal) {
            super(terminal);
            this.s3 = new S3Options(terminal);
            this.confirmation = new Confirmation(terminal);
        }

        @Override
        Report run() {
            Duration age = Texts.duration("--grace", grace, "0s", "365d");
            try (S3Options.Bucket bucket = s3.connect()) {
                // Neither looking nor removing what nobody names rests on conditional writes, so nothing is probed.
                PointerFence fence = S3Fence.pointer()
                        .probed(new S3ProbeReport("S3 bucket '" + bucket.name() + "'", EtagForm.AS_RECEIVED, List.of()))
                        .on(bucket.client(), bucket.name());
                List<Garbage> found = fence.unreferenced(argument.key, age);
                if (found.isEmpty()) {
                    boolean claimed = S3Fence.reader(bucket.client(), bucket.name())
                            .mark(argument.key)
                            .isPresent();
                    return found(
                            found,
                            claimed
                                    ? "Nothing is to be removed for '" + argument.key + "'."
                                    : neverClaimed(argument.key));
                }
                if (dryRun) {
                    return found(found, Texts.count(found.size(), "object") + " would be removed; nothing was.");
                }
                confirmation.require("This removes " + Texts.count(found.size(), "object") + " that '" + argument.key
                        + "' does not name any more.");
                return removed(fence.cleanUp(argument.key, age));
            }
        }

        private Report found(List<Garbage> found, String summary) {
            Report report = Report.ok();
            found.forEach(garbage -> report.line(line(garbage)));
            return report.line(summary)
                    .field("key", argument.key)
                    .field("found", found.stream().map(S3Commands::json).toList())
                    .field("removed", List.of())
                    .field("kept", List.of());
        }

        private Report removed(Cleaned cleaned) {
            Report report = Report.of(cleaned.kept().isEmpty() ? Outcome.OK : Outcome.UNFINISHED);
            cleaned.removed().forEach(garbage -> report.line("removed " + line(garbage)));
            cleaned.kept()
                    .forEach(
                            (garbage, why) -> report.line(Report.Style.DOUBTFUL, "kept " + line(garbage) + ": " + why));
            return report.line(
                            Report.Style.GOOD,
                            Texts.count(cleaned.removed().size(), "object") + " removed"
                                    + (cleaned.kept().isEmpty()
                                            ? "."
                                            : ", " + cleaned.kept().size() + " kept by the store."))
                    .field("key", argument.key)
                    .field("found", List.of())
                    .field(
                            "removed",
                            cleaned.removed().stream().map(S3Commands::json).toList())
                    .field(
                            "kept",
                            cleaned.kept().entrySet().stream()
                                    .map(kept -> {
                                        Map<String, @Nullable Object> json = json(kept.getKey());
                                        json.put("why", kept.getValue());
                                        return json;
                                    })
                                    .toList());
        }
    }

    private static String neverClaimed(String key) {
        return "Nothing is at '" + key + "': it was never claimed.";
    }

    private static void describe(Report report, String key, S3Mark mark) {
        report.line(
                        Report.Style.HEADING,
                        "'" + key + "' (" + word(mark) + ") of lock '"
                                + mark.token().lock() + "'"
                                + (mark.hasData() ? "" : ", without data: nothing was written yet, or it was deleted"))
                .line("    token " + mark.token().value() + "/" + mark.token().holder())
                .line("    write " + mark.writeId() + ", which replaced "
                        + (mark.replaced().isEmpty()
                                ? "nothing"
                                : mark.replaced().get(0)));
        mark.objects()
                .forEach(object -> report.line(
                        "    object '" + object.name() + "': " + object.length() + " bytes at '" + object.key() + "'"));
    }

    private static String word(S3Mark mark) {
        return mark.format().name().toLowerCase(Locale.ROOT);
    }

    private static String line(Garbage garbage) {
        return "'" + garbage.key() + "', " + garbage.size() + " bytes, of " + garbage.since()
                + (garbage.uploadId().isPresent() ? ", an upload that was never finished" : "");
    }

    private static Map<String, @Nullable Object> json(S3Mark mark) {
        return Json.object(
                "format", word(mark),
                "lock", mark.token().lock().toString(),
                "token", mark.token().value(),
                "holder", mark.token().holder().toString(),
                "write", mark.writeId().toString(),
                "replaced", mark.replaced().stream().map(Object::toString).toList(),
                "hasData", mark.hasData(),
                "objects", mark.objects().stream().map(S3Commands::json).toList());
    }

    private static Map<String, @Nullable Object> json(DataObject object) {
        return Json.object(
                "name", object.name(), "key", object.key(), "length", object.length(), "sha256", object.sha256());
    }

    private static Map<String, @Nullable Object> json(Garbage garbage) {
        return Json.object(
                "key", garbage.key(),
                "size", garbage.size(),
                "since", garbage.since(),
                "uploadId", garbage.uploadId().orElse(null));
    }
}
