package dev.fenceline.bench;

import dev.fenceline.bench.Rounds.Phase;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Gathers the hand-overs of all rounds, compares them with a PING of the same round, and writes them down. */
final class HandOverTable {

    private static final int PINGS = 200;

    private final int threads;
    private final Map<Entrant, List<HandOvers>> measured = new EnumMap<>(Entrant.class);
    private final Paired medians;

    private HandOverTable(int threads, Paired medians) {
        this.threads = threads;
        this.medians = medians;
    }

    /** One slice of one contestant. */
    @FunctionalInterface
    interface Slice {
        HandOvers run(Entrant entrant) throws Exception;
    }

    /** Runs the rounds; a PING over a client of its own takes part in each. */
    static HandOverTable run(Settings settings, int threads, Contestant ping, Slice slice) throws Exception {
        List<Entrant> entrants = new ArrayList<>(Entrant.waiting(settings.entrants()));
        entrants.add(Entrant.PING);
        Map<Entrant, List<HandOvers>> all = new EnumMap<>(Entrant.class);
        Paired medians = new Rounds(settings).run(entrants, (entrant, phase) -> {
            if (entrant == Entrant.PING) {
                return ping(ping);
            }
            HandOvers seen = slice.run(entrant);
            if (phase == Phase.MEASURED) {
                all.computeIfAbsent(entrant, first -> new ArrayList<>()).add(seen);
            }
            return seen.median();
        });
        HandOverTable table = new HandOverTable(threads, medians);
        table.measured.putAll(all);
        return table;
    }

    /** The median of one round trip. */
    private static double ping(Contestant ping) throws Exception {
        Contestant.Mutex two = ping.lock("");
        long[] nanos = new long[PINGS];
        for (int i = 0; i < PINGS; i++) {
            long start = System.nanoTime();
            two.enter().leave();
            nanos[i] = (System.nanoTime() - start) / 2;
        }
        return Quartiles.quantile(nanos, 0.5);
    }

    Paired medians() {
        return medians;
    }

    Collection<Entrant> entrants() {
        return measured.keySet();
    }

    /** The worst share of the bound for the longest wait in any round. */
    double worstShareOfBound(Entrant entrant) {
        return all(entrant).stream()
                .mapToDouble(seen -> seen.shareOfBound(threads))
                .max()
                .orElseThrow();
    }

    Quartiles shareOfBound(Entrant entrant) {
        return Quartiles.of(
                all(entrant).stream().map(seen -> seen.shareOfBound(threads)).toList());
    }

    private List<HandOvers> all(Entrant entrant) {
        return measured.getOrDefault(entrant, List.of());
    }

    String markdown() {
        Table table = new Table(
                threads + " threads",
                "p50",
                "p50 × PING",
                "p99",
                "holds per second",
                "longest wait",
                "× bound",
                "to itself");
        for (Entrant entrant : measured.keySet()) {
            List<HandOvers> rounds = all(entrant);
            long[] nanos = rounds.stream()
                    .flatMapToLong(seen -> Arrays.stream(seen.nanos()))
                    .toArray();
            double perSecond = Quartiles.of(
                            rounds.stream().map(HandOvers::perSecond).toList())
                    .median();
            double longest =
                    rounds.stream().mapToDouble(HandOvers::longestWait).max().orElseThrow();
            double toThemselves = rounds.stream()
                    .mapToDouble(HandOvers::shareToThemselves)
                    .average()
                    .orElseThrow();
            table.row(
                    entrant.label(),
                    Table.micros(Quartiles.quantile(nanos, 0.5)),
                    medians.ratio(entrant, Entrant.PING).ratio(),
                    Table.micros(Quartiles.quantile(nanos, 0.99)),
                    Table.whole(perSecond),
                    Table.millis(longest),
                    Table.decimal(worstShareOfBound(entrant)),
                    Table.whole(100 * toThemselves) + " %");
        }
        return "PING: " + Table.micros(medians.of(Entrant.PING).median()) + ".\n\n" + table;
    }

    /** The design's limits for our contestants. */
    List<Target> targets(String where, double timesPing) {
        List<Target> targets = new ArrayList<>();
        for (Entrant ours : List.of(Entrant.FENCED, Entrant.EFFICIENCY)) {
            if (!measured.containsKey(ours)) {
                continue;
            }
            String who = ", " + ours.label();
            targets.add(Target.atMost(
                    "hand-over " + where + who + ", × PING", timesPing, medians.ratio(ours, Entrant.PING)));
            if (measured.containsKey(Entrant.REDISSON_FENCED)) {
                targets.add(Target.atMost(
                        "hand-over " + where + who + ", × RFencedLock",
                        0.5,
                        medians.ratio(ours, Entrant.REDISSON_FENCED)));
            }
            targets.add(Target.atMost(
                    "longest wait " + where + who + ", × 2 × waiters × (hold + hand-over)",
                    1,
                    worstShareOfBound(ours),
                    "worst round " + Table.decimal(worstShareOfBound(ours)) + ", rounds "
                            + shareOfBound(ours).ratio()));
        }
        return targets;
    }
}
