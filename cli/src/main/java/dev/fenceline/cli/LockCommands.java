package dev.fenceline.cli;

import dev.fenceline.HolderProcess;
import dev.fenceline.LockName;
import dev.fenceline.lock.ForcedRelease;
import dev.fenceline.lock.LockFilter;
import dev.fenceline.lock.LockInspector;
import dev.fenceline.lock.LockKind;
import dev.fenceline.lock.LockState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The locks in Redis. */
@Command(name = "locks", description = "The locks in Redis: who holds them, who waits, taking one away.")
final class LockCommands extends Group {

    @Command(
            name = "ls",
            description =
                    "Lists the locks that are taken, by name. Looks in small steps that do not hold up the server.")
    static final class Ls extends Subcommand {

        @Option(
                names = "--kind",
                paramLabel = "KIND",
                order = 10,
                converter = KindOption.Reader.class,
                completionCandidates = KindOption.Words.class,
                description = "fenced or efficiency only.")
        private @Nullable LockKind kind;

        @Option(
                names = "--starting-with",
                paramLabel = "TEXT",
                order = 11,
                description = "Names that begin with this text only, such as account: for one class.")
        private String start = "";

        @Option(
                names = "--limit",
                paramLabel = "NUMBER",
                order = 12,
                defaultValue = "1000",
                description = "Stop after this many (${DEFAULT-VALUE}).")
        private int limit = 1000;

        @Mixin
        private final RedisOptions redis;

        Ls(Terminal terminal) {
            super(terminal);
            this.redis = new RedisOptions(terminal);
        }

        @Override
        Report run() {
            if (limit < 1) {
                throw Failure.usage("Invalid value for option '--limit': " + limit + " is below 1.");
            }
            LockFilter filter = LockFilter.all().startingWith(start);
            LockFilter wanted = kind == null ? filter : filter.kind(kind);
            List<LockState> locks = new ArrayList<>();
            try (LockInspector inspector = redis.connect();
                    Progress progress = Progress.of(terminal, "Looking for locks");
                    Stream<LockState> found = inspector.list(wanted)) {
                found.limit(limit + 1L).forEach(lock -> {
                    locks.add(lock);
                    progress.now("Looking for locks: " + locks.size() + " found");
                });
            }
            boolean more = locks.size() > limit;
            List<LockState> shown = locks.stream()
                    .limit(limit)
                    .sorted(Comparator.comparing(LockState::name).thenComparing(LockState::kind))
                    .toList();
            Report report = Report.ok();
            shown.forEach(lock -> report.line(line(lock)));
            report.line(Texts.count(shown.size(), "lock") + (more ? ", and there are more: raise --limit." : "."));
            return report.field("locks", shown.stream().map(LockCommands::json).toList())
                    .field("more", more);
        }
    }

    @Command(name = "show", description = "Shows who holds a lock, and who waits for it.")
    static final class Show extends Subcommand {

        @Mixin
        private final NameArgument argument = new NameArgument();

        @Mixin
        private final KindOption kind = new KindOption();

        @Mixin
        private final RedisOptions redis;

        Show(Terminal terminal) {
            super(terminal);
            this.redis = new RedisOptions(terminal);
        }

        @Override
        Report run() {
            LockName name = argument.name();
            Optional<LockState> found;
            Optional<LockState> other;
            boolean redlock;
            try (LockInspector inspector = redis.connect()) {
                redlock = inspector.isRedlockNode();
                found = inspector.find(kind.kind(), name);
                other = found.isPresent() ? Optional.empty() : inspector.find(KindOption.other(kind.kind()), name);
            }
            Report report = Report.ok();
            found.ifPresentOrElse(
                    lock -> describe(report, lock),
                    () -> report.line("Lock '" + name + "' (" + KindOption.word(kind.kind()) + ") is free"
                            + (redlock ? " at this node." : ".")));
            if (redlock) {
                report.line(
                        "This server is one node of Redlock, and shows its own share alone; a lock is held where a majority of the"
                                + " nodes has the same grant. See all of them: fenceline redlock show " + name
                                + " --kind "
                                + KindOption.word(kind.kind()) + " --nodes redis://one,two,three");
            }
            other.ifPresent(lock -> report.line("The other lock of that name is taken: " + line(lock)
                    + ". Show it: fenceline locks show " + name + " --kind " + KindOption.word(lock.kind())));
            return report.field("lock", found.map(LockCommands::json).orElse(null))
                    .field("other", other.map(LockCommands::json).orElse(null))
                    .field("redlockNode", redlock);
        }
    }

    @Command(
            name = "force-release",
            description =
                    "Takes a lock from its holder, and gives it to whoever waits. The holder is not stopped: what he still writes is"
                            + " refused only where a fence is, once a newer holder has claimed or the mark was raised.")
    static final class ForceRelease extends Subcommand {

        @Mixin
        private final NameArgument argument = new NameArgument();

        @Mixin
        private final KindOption kind = new KindOption();

        @Mixin
        private final RedisOptions redis;

        @Mixin
        private final Confirmation confirmation;

        ForceRelease(Terminal terminal) {
            super(terminal);
            this.redis = new RedisOptions(terminal);
            this.confirmation = new Confirmation(terminal);
        }

        @Override
        Report run() {
            LockName name = argument.name();
            try (LockInspector inspector = redis.connect()) {
                if (inspector.isRedlockNode()) {
                    throw Failure.refused("Lock '" + name
                            + "' not released: this server is one node of Redlock, whose locks are held at a majority of the nodes, and"
                            + " it would give up its own share alone. Nothing was changed. Wait until the lease is over, or stop the"
                            + " process that holds it, which fenceline redlock show " + name + " --kind "
                            + KindOption.word(kind.kind())
                            + " --nodes redis://one,two,three names. If this server takes part in"
                            + " Redlock no more, delete its key '" + redis.keyPrefix() + ":v1:{redlock}:node' first.");
                }
                Optional<LockState> seen = inspector.find(kind.kind(), name);
                if (seen.isEmpty()) {
                    return free(inspector, name);
                }
                confirmation.require(
                        "This takes the lock from its holder, who goes on unaware: " + line(seen.get()) + ".");
                ForcedRelease released = inspector.forceRelease(seen.get());
                return switch (released) {
                    case FREE -> free(inspector, name);
                    case CHANGED ->
                        throw Failure.refused("Lock '" + name
                                + "' was granted anew while you looked, and was left as it is. Look again: fenceline locks show "
                                + name);
                    case RELEASED ->
                        Report.ok()
                                .line(Report.Style.GOOD, "Released: " + line(seen.get()) + ".")
                                .line(
                                        kind.kind() == LockKind.FENCED
                                                ? "Its holder was not stopped. To have the database refuse him now: fenceline fence raise "
                                                        + name
                                                        + " (it waits for a transaction that he has open; fenceline fence blockers "
                                                        + name + " names it)"
                                                : "Its holder was not stopped, and nothing refuses what he still does.")
                                .field("released", true)
                                .field("lock", json(seen.get()));
                };
            }
        }

        /** Whoever has named no kind may have meant the other one, and would go away from a lock that is still held. */
        private Report free(LockInspector inspector, LockName name) {
            String free = "Lock '" + name + "' (" + KindOption.word(kind.kind()) + ") is free already";
            Optional<LockState> other = inspector.find(KindOption.other(kind.kind()), name);
            if (other.isPresent() && !kind.isChosen()) {
                throw Failure.refused(free + ", and the other lock of that name is taken: " + line(other.get())
                        + ". Nothing was released. If you mean that one: fenceline locks force-release " + name
                        + " --kind " + KindOption.word(other.get().kind()));
            }
            Report report = Report.ok().line(free + ".");
            other.ifPresent(lock -> report.line("The other lock of that name is taken: " + line(lock) + "."));
            return report.field("released", false).field("lock", null);
        }
    }

    static String line(LockState lock) {
        return lock.name() + " (" + KindOption.word(lock.kind()) + ") "
                + switch (lock.status()) {
                    case HELD ->
                        "held by " + lock.process().map(HolderProcess::toString).orElse("somebody");
                    case KEPT -> "released, and kept taken";
                    case UNKNOWN -> "taken by something that this release does not know";
                }
                + lock.timeToLive()
                        .map(left -> ", " + left.toMillis() + " ms left")
                        .orElse(", without an end")
                + (lock.waiting() == 0 ? "" : ", " + lock.waiting() + " waiting");
    }

    private static void describe(Report report, LockState lock) {
        report.line(Report.Style.HEADING, line(lock));
        lock.token().ifPresent(token -> report.line("    token " + token.value() + "/" + token.holder()));
        lock.first().forEach(waiter -> report.line("    waiting: " + waiter));
        if (lock.waiting() > lock.first().size()) {
            report.line("    and " + (lock.waiting() - lock.first().size()) + " more waiting");
        }
        lock.floor().ifPresent(floor -> report.line("    its next token passes the mark " + floor));
    }

    static Map<String, @Nullable Object> json(LockState lock) {
        return Json.object(
                "name", lock.name().toString(),
                "kind", KindOption.word(lock.kind()),
                "status", lock.status().name().toLowerCase(Locale.ROOT),
                "token", lock.token().map(token -> token.value()).orElse(null),
                "holder", lock.token().map(token -> token.holder().toString()).orElse(null),
                "process",
                        lock.process()
                                .map(holder ->
                                        process(holder.application(), holder.host(), holder.pid(), holder.since()))
                                .orElse(null),
                "timeToLiveMillis",
                        lock.timeToLive().map(left -> left.toMillis()).orElse(null),
                "waiting", lock.waiting(),
                "first",
                        lock.first().stream()
                                .map(waiter ->
                                        process(waiter.application(), waiter.host(), waiter.pid(), waiter.since()))
                                .toList(),
                "counter", number(lock.counter()),
                "floor", number(lock.floor()),
                "serverTime", lock.serverTime());
    }

    private static Map<String, @Nullable Object> process(
            String application, String host, long pid, java.time.Instant since) {
        return Json.object("application", application, "host", host, "pid", pid, "since", since);
    }

    private static @Nullable Long number(OptionalLong value) {
        return value.isPresent() ? value.getAsLong() : null;
    }
}
