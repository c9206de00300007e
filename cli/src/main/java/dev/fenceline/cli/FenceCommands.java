package dev.fenceline.cli;

import dev.fenceline.LockName;
import dev.fenceline.migrations.Blocker;
import dev.fenceline.migrations.FenceOperations;
import dev.fenceline.migrations.Mark;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The marks of single locks in the database. */
@Command(
        name = "fence",
        description = "The mark of a lock in the database: who was admitted last, who is in the way, raising it.")
final class FenceCommands extends Group {

    @Command(name = "show", description = "Shows the newest token that the database has admitted for a lock.")
    static final class Show extends Subcommand {

        @Mixin
        private final NameArgument argument = new NameArgument();

        @Mixin
        private final PostgresOptions postgres;

        Show(Terminal terminal) {
            super(terminal);
            this.postgres = new PostgresOptions(terminal);
        }

        @Override
        Report run() {
            LockName name = argument.name();
            Optional<Mark> mark = postgres.operations().mark(name);
            return Report.ok()
                    .line(mark.map(Mark::toString).orElse("Lock '" + name + "' was never claimed here."))
                    .field("lock", name.toString())
                    .field("mark", mark.map(FenceCommands::json).orElse(null));
        }
    }

    @Command(
            name = "blockers",
            description =
                    "Lists the sessions that keep a claim of a lock waiting. Since when they are there is shown to members of pg_read_all_stats alone.")
    static final class Blockers extends Subcommand {

        @Mixin
        private final NameArgument argument = new NameArgument();

        @Mixin
        private final PostgresOptions postgres;

        Blockers(Terminal terminal) {
            super(terminal);
            this.postgres = new PostgresOptions(terminal);
        }

        @Override
        Report run() {
            LockName name = argument.name();
            List<Blocker> blockers = postgres.operations().blockers(name);
            Report report = Report.ok();
            blockers.forEach(blocker -> report.line(blocker.toString()));
            if (blockers.isEmpty()) {
                report.line("Nobody keeps a claim of lock '" + name + "' waiting.");
            }
            return report.field("lock", name.toString())
                    .field(
                            "blockers",
                            blockers.stream()
                                    .map(blocker -> Json.object(
                                            "pid", blocker.pid(),
                                            "application", blocker.application(),
                                            "state", blocker.state().orElse(null),
                                            "transactionSince",
                                                    blocker.transactionSince().orElse(null),
                                            "stateSince", blocker.stateSince().orElse(null),
                                            "queryStart", blocker.queryStart().orElse(null)))
                                    .toList());
        }
    }

    @Command(
            name = "raise",
            description =
                    "Raises the mark of a lock, so that whoever holds the lock now is refused here. He is not told before he writes.")
    static final class Raise extends Subcommand {

        @Mixin
        private final NameArgument argument = new NameArgument();

        @Mixin
        private final PostgresOptions postgres;

        @Mixin
        private final Confirmation confirmation;

        @Option(
                names = "--wait",
                paramLabel = "DURATION",
                order = 20,
                defaultValue = "10s",
                description = "How long to wait for a transaction that the holder has open (${DEFAULT-VALUE}).")
        private String wait = "10s";

        Raise(Terminal terminal) {
            super(terminal);
            this.postgres = new PostgresOptions(terminal);
            this.confirmation = new Confirmation(terminal);
        }

        @Override
        Report run() {
            LockName name = argument.name();
            Duration patience = Texts.duration("--wait", wait, "1ms", "1d");
            FenceOperations operations = postgres.operations().waitAtMost(patience);
            confirmation.require("This refuses every holder of lock '" + name + "' until he acquires anew; "
                    + operations
                            .mark(name)
                            .map(mark -> "its mark is now " + mark + ".")
                            .orElse("it was never claimed here, so look whether that is its name."));
            Mark mark = Progress.during(terminal, waiting(operations, name), progress -> operations.raise(name));
            return Report.ok()
                    .line(Report.Style.GOOD, "Raised: " + mark)
                    .line(
                            "Whoever held the lock is refused here from now on, and is told that an operator did it. The next new token may be"
                                    + " refused once too; the lock then goes above the mark by itself.")
                    .field("lock", name.toString())
                    .field("mark", json(mark));
        }

        /** Named while he is waited for, and not only when that was in vain. */
        private String waiting(FenceOperations operations, LockName name) {
            List<Blocker> blockers = operations.blockers(name);
            return "Raising the mark of lock '" + name + "', for at most " + wait
                    + (blockers.isEmpty() ? "" : ": waiting for " + blockers.get(0));
        }
    }

    private static Map<String, @Nullable Object> json(Mark mark) {
        return Json.object(
                "token", mark.token().value(),
                "holder", mark.token().holder().toString(),
                "claimedAt", mark.claimedAt(),
                "claimedBy", mark.claimedBy(),
                "raised", mark.raised());
    }
}
