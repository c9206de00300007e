package dev.fenceline.bench;

import dev.fenceline.bench.Contestant.Mutex;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** One thread takes and gives back a lock that nobody else wants: always the same, or a new one each time. */
final class Uncontended implements Scenario {

    @Override
    public String id() {
        return "uncontended";
    }

    @Override
    public Section run(Settings settings) throws Exception {
        try (Field field = new Field(settings.entrants())) {
            Paired<Entrant> same = same(settings, field);
            Paired<Entrant> fresh = fresh(settings, field);
            return section(settings, same, fresh);
        }
    }

    private static Paired<Entrant> same(Settings settings, Field field) throws Exception {
        return new Rounds(settings).run(settings.entrants(), (entrant, phase) -> {
            Mutex lock = field.contestant(entrant).lock("same");
            return nanosPerCycle(settings, name -> lock);
        });
    }

    private static Paired<Entrant> fresh(Settings settings, Field field) throws Exception {
        return new Rounds(settings)
                .run(settings.entrants(), (entrant, phase) -> nanosPerCycle(settings, field.contestant(entrant)::lock));
    }

    private static double nanosPerCycle(Settings settings, Function<String, Mutex> locks) throws Exception {
        long start = System.nanoTime();
        long end = start + settings.slice().toNanos();
        long now = start;
        int cycles = 0;
        while (now - end < 0) {
            // The clock makes it new; the text costs every contestant the same.
            locks.apply(Long.toString(now)).enter().leave();
            cycles++;
            now = System.nanoTime();
        }
        return (double) (now - start) / cycles;
    }

    private static Section section(Settings settings, Paired<Entrant> same, Paired<Entrant> fresh) {
        Table table = new Table("", "same lock", "× hand", "new lock each time", "× hand");
        for (Entrant entrant : settings.entrants()) {
            table.row(
                    entrant.label(),
                    Table.micros(same.of(entrant).median()),
                    ratio(same, entrant),
                    Table.micros(fresh.of(entrant).median()),
                    ratio(fresh, entrant));
        }
        List<Target> targets = new ArrayList<>();
        for (Entrant ours : List.of(Entrant.FENCED, Entrant.EFFICIENCY)) {
            if (same.has(ours) && same.has(Entrant.HAND)) {
                targets.add(Target.atMost(
                        "acquire + release, " + ours.label() + ", × hand", 1.05, same.ratio(ours, Entrant.HAND)));
            }
        }
        return new Section("uncontended", table.toString(), targets);
    }

    private static String ratio(Paired<Entrant> paired, Entrant entrant) {
        return paired.has(Entrant.HAND) ? paired.ratio(entrant, Entrant.HAND).ratio() : "";
    }
}
