package dev.fenceline.bench;

import dev.fenceline.bench.Contestant.Mutex;
import java.util.ArrayList;
import java.util.List;

/** Eight threads over one client, each with a lock of its own: what the client makes of concurrency. */
final class SharedClient implements Scenario {

    private static final int THREADS = 8;

    @Override
    public String id() {
        return "shared";
    }

    @Override
    public Section run(Settings settings) throws Exception {
        Paired<Entrant> perSecond;
        try (Field field = new Field(settings.entrants());
                Crew crew = new Crew(THREADS)) {
            perSecond = new Rounds(settings)
                    .run(
                            settings.entrants(),
                            (entrant, phase) -> cyclesPerSecond(settings, crew, field.contestant(entrant)));
        }
        Table table = new Table("", "cycles per second", "× hand");
        for (Entrant entrant : settings.entrants()) {
            table.row(
                    entrant.label(),
                    Table.whole(perSecond.of(entrant).median()),
                    perSecond.has(Entrant.HAND)
                            ? perSecond.ratio(entrant, Entrant.HAND).ratio()
                            : "");
        }
        List<Target> targets = new ArrayList<>();
        for (Entrant ours : List.of(Entrant.FENCED, Entrant.EFFICIENCY)) {
            if (perSecond.has(ours) && perSecond.has(Entrant.HAND)) {
                targets.add(Target.atLeast(
                        "8 threads on one shared connection, " + ours.label() + ", × hand",
                        0.95,
                        perSecond.ratio(ours, Entrant.HAND)));
            }
        }
        return new Section(id(), table.toString(), targets);
    }

    private static double cyclesPerSecond(Settings settings, Crew crew, Contestant contestant) throws Exception {
        List<Mutex> locks = new ArrayList<>();
        for (int thread = 0; thread < crew.size(); thread++) {
            locks.add(contestant.lock("thread-" + thread));
        }
        long start = System.nanoTime();
        long end = start + settings.slice().toNanos();
        List<Integer> cycles = crew.all(thread -> {
            Mutex lock = locks.get(thread);
            int done = 0;
            while (System.nanoTime() - end < 0) {
                lock.enter().leave();
                done++;
            }
            return done;
        });
        int all = cycles.stream().mapToInt(Integer::intValue).sum();
        return all * 1e9 / (System.nanoTime() - start);
    }
}
