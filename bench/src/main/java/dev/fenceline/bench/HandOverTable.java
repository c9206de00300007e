package dev.fenceline.bench;

import dev.fenceline.bench.Rounds.Phase;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Gathers the hand-overs of all rounds, compares them with PINGs of the same round, and writes them down. */
final class HandOverTable {

    /** One round trip, to compare with. */
    private enum Ping {
        /** One after the other. */
        IN_A_ROW(200) {
            @Override
            void rest() {}
        },
        /** Each after as long a rest as a hold lasts: processors, client and server sleep then, as before a hand-over. */
        AFTER_A_REST(50) {
            @Override
            void rest() {
                Contention.parkForAHold();
            }
        };

        private final int pings;

        Ping(int pings) {
            this.pings = pings;
        }

        abstract void rest();

        /** The median of one round trip. */
        double nanos(Contestant ping) throws Exception {
            Contestant.Mutex one = ping.lock("");
            long[] nanos = new long[pings];
            for (int i = 0; i < pings; i++) {
                rest();
                long start = System.nanoTime();
                Contestant.Turn sent = one.enter();
                nanos[i] = System.nanoTime() - start;
                sent.leave();
            }
            return Quartiles.quantile(nanos, 0.5);
        }
    }

    private final int threads;
    private final Map<Entrant, List<HandOvers>> measured = new EnumMap<>(Entrant.class);

    /** By {@link Entrant} and {@link Ping}. */
    private final Paired<Object> medians;

    private HandOverTable(int threads, Paired<Object> medians) {
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
        List<Object> turns = new ArrayList<>(Entrant.waiting(settings.entrants()));
        turns.addAll(List.of(Ping.values()));
        Map<Entrant, List<HandOvers>> all = new EnumMap<>(Entrant.class);
        Paired<Object> medians = new Rounds(settings).run(turns, (turn, phase) -> {
            if (turn instanceof Ping kind) {
                return kind.nanos(ping);
            }
            Entrant entrant = (Entrant) turn;
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
                "× rested PING",
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
                    medians.ratio(entrant, Ping.IN_A_ROW).ratio(),
                    medians.ratio(entrant, Ping.AFTER_A_REST).ratio(),
                    Table.micros(Quartiles.quantile(nanos, 0.99)),
                    Table.whole(perSecond),
                    Table.millis(longest),
                    Table.decimal(worstShareOfBound(entrant)),
                    Table.whole(100 * toThemselves) + " %");
        }
        return "PING: " + Table.micros(medians.of(Ping.IN_A_ROW).median())
                + "; rested, each after a millisecond of nothing: "
                + Table.micros(medians.of(Ping.AFTER_A_REST).median()) + ".\n\n" + table;
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
                    "hand-over " + where + who + ", × PING", timesPing, medians.ratio(ours, Ping.IN_A_ROW)));
            targets.add(Target.atMost(
                    "hand-over " + where + who + ", × rested PING", timesPing, medians.ratio(ours, Ping.AFTER_A_REST)));
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
