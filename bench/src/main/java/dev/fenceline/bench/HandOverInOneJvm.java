package dev.fenceline.bench;

import java.util.ArrayList;
import java.util.List;

/** Two threads, and eight, of one JVM hand one lock to one another. */
final class HandOverInOneJvm implements Scenario {

    @Override
    public String id() {
        return "handover";
    }

    @Override
    public Section run(Settings settings) throws Exception {
        StringBuilder body = new StringBuilder();
        List<Target> targets = new ArrayList<>();
        for (int threads : List.of(2, 8)) {
            try (Field field = new Field(settings.entrants());
                    Crew crew = new Crew(threads)) {
                HandOverTable table = HandOverTable.run(
                        settings,
                        threads,
                        field.contestant(Entrant.PING),
                        entrant -> HandOvers.of(Contention.run(
                                crew, 0, field.contestant(entrant).lock("contended"), settings.handOvers())));
                body.append(table.markdown()).append('\n');
                targets.addAll(table.targets("in one JVM, " + threads + " threads", 2));
            }
        }
        return new Section(id(), body.toString(), targets);
    }
}
