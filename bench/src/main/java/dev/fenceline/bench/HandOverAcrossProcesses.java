package dev.fenceline.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Three JVMs with four threads each hand one lock to one another. */
final class HandOverAcrossProcesses implements Scenario {

    private static final int JVMS = 3;
    private static final int THREADS = 4;

    @Override
    public String id() {
        return "processes";
    }

    @Override
    public Section run(Settings settings) throws Exception {
        List<WorkerJvm> workers = new ArrayList<>();
        try (Field field = new Field(settings.entrants())) {
            for (int jvm = 0; jvm < JVMS; jvm++) {
                workers.add(new WorkerJvm(
                        ContendingProcess.class,
                        List.of("-Xmx512m"),
                        List.of(
                                field.backends().redis(),
                                field.backends().zooKeeper(),
                                Integer.toString(THREADS),
                                Integer.toString(jvm * THREADS))));
            }
            HandOverTable table = HandOverTable.run(
                    settings,
                    JVMS * THREADS,
                    field.contestant(Entrant.PING),
                    entrant -> HandOvers.of(holds(workers, entrant, settings)));
            return new Section(
                    id(), table.markdown(), table.targets("across " + JVMS + " JVMs × " + THREADS + " threads", 3.5));
        } finally {
            workers.forEach(WorkerJvm::close);
        }
    }

    private static List<Hold> holds(List<WorkerJvm> workers, Entrant entrant, Settings settings) throws IOException {
        for (WorkerJvm worker : workers) {
            worker.order("run " + entrant.key() + " " + settings.handOvers().toMillis());
        }
        List<Hold> holds = new ArrayList<>();
        for (WorkerJvm worker : workers) {
            for (String line = worker.answer(); !line.equals("done"); line = worker.answer()) {
                holds.add(Hold.parse(line));
            }
        }
        return holds;
    }
}
