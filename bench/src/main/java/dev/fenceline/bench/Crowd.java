package dev.fenceline.bench;

import dev.fenceline.bench.Contestant.Turn;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** A thousand threads of one JVM wait for a lock that another JVM holds: what waiting costs, and how fast the crowd disperses. */
final class Crowd implements Scenario {

    private static final Pattern CALLS = Pattern.compile("cmdstat_([a-z|]+):calls=([0-9]+)");
    private static final int WINDOW_SECONDS = 10;

    @Override
    public String id() {
        return "crowd";
    }

    private record Measured(
            Entrant entrant,
            double scriptsPerSecond,
            double commandsPerSecond,
            double cpuShare,
            double heapPerWaiter,
            double drainNanos,
            long notServed) {}

    @Override
    public Section run(Settings settings) throws Exception {
        Table table = new Table(
                settings.waiters() + " threads",
                "scripts per second",
                "commands, with those in scripts",
                "processor",
                "heap per waiter",
                "drained in");
        List<Target> targets = new ArrayList<>();
        for (Entrant entrant : Entrant.waiting(settings.entrants())) {
            Measured measured = measure(settings, entrant);
            table.row(
                    entrant.label(),
                    // ZooKeeper's are not counted.
                    entrant == Entrant.CURATOR ? "" : Table.decimal(measured.scriptsPerSecond()),
                    entrant == Entrant.CURATOR ? "" : Table.decimal(measured.commandsPerSecond()),
                    String.format(Locale.ROOT, "%.2f %%", 100 * measured.cpuShare()),
                    Table.whole(measured.heapPerWaiter()) + " B",
                    measured.notServed() == 0
                            ? Table.millis(measured.drainNanos())
                            : "never: " + measured.notServed() + " still waited after "
                                    + Table.millis(measured.drainNanos()));
            if (entrant == Entrant.FENCED || entrant == Entrant.EFFICIENCY) {
                targets.addAll(targets(settings, measured));
            }
        }
        return new Section(id(), table.toString(), targets);
    }

    private static Measured measure(Settings settings, Entrant entrant) throws Exception {
        try (Field field = new Field(List.of(entrant));
                WorkerJvm crowd = new WorkerJvm(
                        CrowdProcess.class,
                        List.of("-XX:+UseSerialGC", "-Xss256k", "-Xmx1g"),
                        List.of(
                                field.backends().redis(),
                                field.backends().zooKeeper(),
                                entrant.key(),
                                Integer.toString(settings.waiters())))) {
            Turn held = field.contestant(entrant).lock("crowd").enter();
            crowd.order("wait");
            double heap = Long.parseLong(crowd.answer());
            // The answer to RESETSTAT itself is not counted, INFO is.
            String unused = field.redis().command("CONFIG", "RESETSTAT");
            long cpuBefore = cpu(crowd);
            long start = System.nanoTime();
            Contention.parkUntil(start + TimeUnit.SECONDS.toNanos(WINDOW_SECONDS));
            double seconds = (System.nanoTime() - start) / 1e9;
            double cpuShare = (cpu(crowd) - cpuBefore) / 1e9 / seconds;
            String seen = field.redis().command("INFO", "commandstats");
            crowd.order("drain");
            long releasing = System.nanoTime();
            held.leave();
            // Both clocks are the machine's.
            double drain = Long.parseLong(crowd.answer()) - releasing;
            long notServed = Long.parseLong(crowd.answer());
            return new Measured(
                    entrant,
                    calls(seen, Crowd::isScript) / seconds,
                    calls(seen, Crowd::isTheirs) / seconds,
                    cpuShare,
                    heap,
                    drain,
                    notServed);
        }
    }

    private static long cpu(WorkerJvm crowd) throws Exception {
        crowd.order("cpu");
        return Long.parseLong(crowd.answer());
    }

    private static double calls(String commandStats, Predicate<String> counted) {
        return CALLS.matcher(commandStats)
                .results()
                .filter(line -> counted.test(line.group(1)))
                .mapToLong(line -> Long.parseLong(line.group(2)))
                .sum();
    }

    private static boolean isScript(String command) {
        return command.startsWith("eval");
    }

    /** All but those by which we look. */
    private static boolean isTheirs(String command) {
        return !command.startsWith("config") && !command.startsWith("info");
    }

    private static List<Target> targets(Settings settings, Measured measured) {
        String who = settings.waiters() + " waiters, " + measured.entrant().label() + ", ";
        // In a lease of 10 s one poll by the crowd, three renewals by the holder, and one that the window may cut.
        double bound = 0.5;
        return List.of(
                Target.atMost(
                        who + "scripts per second, with the holder's renewals",
                        bound,
                        measured.scriptsPerSecond(),
                        Table.decimal(measured.scriptsPerSecond())),
                Target.atMost(
                        who + "drained, in seconds",
                        1,
                        measured.drainNanos() / 1e9,
                        Table.millis(measured.drainNanos())),
                Target.atMost(
                        who + "heap per waiter, in bytes",
                        1_536,
                        measured.heapPerWaiter(),
                        Table.whole(measured.heapPerWaiter())));
    }
}
