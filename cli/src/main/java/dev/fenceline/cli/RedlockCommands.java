package dev.fenceline.cli;

import dev.fenceline.LockName;
import dev.fenceline.lock.LockState;
import dev.fenceline.lock.RedlockConnector;
import dev.fenceline.lock.RedlockNodeState;
import dev.fenceline.lock.RedlockNodeState.Status;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** The nodes of Redlock. */
@Command(name = "redlock", description = "The nodes of Redlock: whether they take part, and marking new ones.")
final class RedlockCommands extends Group {

    @Command(
            name = "show",
            description =
                    "Shows whether each node takes part, and a lock as it lies there. A lock is held where a majority has the same"
                            + " grant.")
    static final class Show extends Subcommand {

        @Parameters(
                paramLabel = "LOCK",
                arity = "0..1",
                description = "The lock's name, such as account:42; without it the nodes alone are shown.")
        private @Nullable String lock;

        @Mixin
        private final KindOption kind = new KindOption();

        @Mixin
        private final RedlockOptions nodes;

        Show(Terminal terminal) {
            super(terminal);
            this.nodes = new RedlockOptions(terminal);
        }

        @Override
        Report run() {
            LockName name = lock == null ? null : LockName.parse(lock);
            List<RedlockNodeState> states = nodes.look(
                            redlock -> name == null ? redlock.look() : redlock.look(kind.kind(), name))
                    .states();
            requireOne(states);
            Report report = Report.ok();
            if (name != null) {
                report.line(Report.Style.HEADING, held(name, states));
            }
            states.forEach(state -> {
                describe(report, state);
                if (name != null) {
                    describeLock(report, state);
                }
            });
            return report.field(
                    "nodes", states.stream().map(RedlockCommands::json).toList());
        }

        private String held(LockName name, List<RedlockNodeState> states) {
            int all = states.size();
            int majority = all / 2 + 1;
            long silent = states.stream()
                    .filter(state -> state.status() == Status.UNKNOWN)
                    .count();
            long most = states.stream()
                    .flatMap(state -> state.lock().stream())
                    .collect(Collectors.groupingBy(Show::grant, Collectors.counting()))
                    .values()
                    .stream()
                    .max(Comparator.naturalOrder())
                    .orElse(0L);
            String lock = "Lock '" + name + "' (" + KindOption.word(kind.kind()) + ") ";
            if (most >= majority) {
                return lock + "is held at " + most + " of " + all + " nodes.";
            }
            return most + silent >= majority
                    ? lock + "may be held: " + silent + " of the " + all + " nodes could not be asked."
                    : lock + "is held at no majority of the " + all + " nodes.";
        }

        /** Holder and number; each node adds the time by its own clock. */
        private static String grant(LockState lock) {
            return lock.stored().replaceFirst("^([^|]*\\|[^|]*).*$", "$1");
        }
    }

    @Command(
            name = "first-start",
            description =
                    "Marks the nodes of a new deployment as new, so that they grant at once and do not wait for one lease as nodes do that"
                            + " lost their data. For nodes where no lock was ever held.")
    static final class FirstStart extends Subcommand {

        @Mixin
        private final RedlockOptions nodes;

        @Mixin
        private final Confirmation confirmation;

        FirstStart(Terminal terminal) {
            super(terminal);
            this.nodes = new RedlockOptions(terminal);
            this.confirmation = new Confirmation(terminal);
        }

        @Override
        Report run() {
            RedlockOptions.Seen seen = nodes.look(RedlockConnector::look);
            requireOne(seen.states());
            // One that could not be asked may be there in a moment, and be new. One that was used rules it out.
            boolean marks = seen.states().stream()
                    .map(RedlockNodeState::status)
                    .allMatch(status -> status == Status.NEW || status == Status.UNKNOWN);
            if (marks) {
                confirmation.require("This says of " + seen.states().size()
                        + " nodes that no lock was ever held there. If they were used, and have all lost their data, locks that are"
                        + " held now can be granted again.");
            }
            // Also where there is nothing to mark: it says what is wrong with the others.
            List<RedlockNodeState> states = seen.redlock().firstStart().look();
            // Somebody may have connected to all of them between the look and the marking, which changes nothing then.
            boolean marked = marks
                    && states.stream()
                            .allMatch(state -> state.status() == Status.UNKNOWN
                                    || (state.status() == Status.KNOWN
                                            && state.reborn().isEmpty()));
            Report report = Report.ok();
            report.line(
                    Report.Style.GOOD,
                    marked
                            ? "Marked as new: all " + states.size() + " nodes. They grant from now on."
                            : "All " + states.size() + " nodes were marked or used before; nothing was changed.");
            states.forEach(state -> describe(report, state));
            return report.field("marked", marked)
                    .field("nodes", states.stream().map(RedlockCommands::json).toList());
        }
    }

    private static void requireOne(List<RedlockNodeState> states) {
        if (states.stream().allMatch(state -> state.status() == Status.UNKNOWN)) {
            throw new Failure(
                    Outcome.UNREACHABLE,
                    "No node could be asked: "
                            + String.join(
                                    "; ",
                                    states.stream()
                                            .flatMap(state -> state.trouble().stream())
                                            .toList()),
                    null);
        }
    }

    private static void describe(Report report, RedlockNodeState state) {
        report.line(style(state), "    " + state.server() + ": " + status(state));
    }

    private static void describeLock(Report report, RedlockNodeState state) {
        state.lock().ifPresent(lock -> report.line("        " + LockCommands.line(lock)));
        state.lock()
                .flatMap(LockState::token)
                .ifPresent(token -> report.line("        token " + token.value() + "/" + token.holder()));
        state.counter().ifPresent(counter -> report.line("        its next token is above " + counter));
    }

    private static Report.Style style(RedlockNodeState state) {
        return state.status() == Status.KNOWN ? Report.Style.PLAIN : Report.Style.DOUBTFUL;
    }

    private static String status(RedlockNodeState state) {
        return switch (state.status()) {
            case UNKNOWN -> "not asked (" + state.trouble().orElse("") + ")";
            case NEW -> "never used, or lost its data: grants nothing for one lease once somebody connects";
            case RESTARTED -> "was restarted: grants nothing for one lease once somebody connects";
            case WAITING ->
                "grants nothing until "
                        + state.waitsUntil().map(Instant::toString).orElse("")
                        + ", one lease after it was new or reborn at "
                        + state.reborn().map(Instant::toString).orElse("");
            case KNOWN ->
                state.reborn()
                        .map(since -> "takes part; it was new or reborn at " + since + ", and has waited for one lease")
                        .orElse("takes part");
        };
    }

    private static Map<String, @Nullable Object> json(RedlockNodeState state) {
        Instant reborn = state.reborn().orElse(null);
        return Json.object(
                "server", state.server(),
                "status", state.status().name().toLowerCase(Locale.ROOT),
                "trouble", state.trouble().orElse(null),
                "reborn", reborn,
                "waitsUntil", state.waitsUntil().orElse(null),
                "counter", state.counter().isPresent() ? state.counter().getAsLong() : null,
                "lock", state.lock().map(LockCommands::json).orElse(null));
    }
}
