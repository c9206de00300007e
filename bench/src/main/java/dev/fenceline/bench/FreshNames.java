package dev.fenceline.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;

/** A million cycles, each under a name that was never used before: what is left on the server. */
final class FreshNames implements Scenario {

    private static final int THREADS = 8;

    /** Lock, counter and boot key of each bucket, and nothing that grows. */
    private static final int MOST_KEYS = 3 * 1_024;

    @Override
    public String id() {
        return "names";
    }

    @Override
    public Section run(Settings settings) throws Exception {
        Table table = new Table(
                String.format(Locale.ROOT, "%,d new names", settings.names()),
                "keys left",
                "memory used by them",
                "took");
        List<Target> targets = new ArrayList<>();
        for (Entrant entrant : List.of(Entrant.FENCED, Entrant.EFFICIENCY, Entrant.REDISSON_FENCED)) {
            if (!settings.entrants().contains(entrant)) {
                continue;
            }
            try (Field field = new Field(List.of(entrant))) {
                Contestant contestant = field.contestant(entrant);
                contestant.lock("first").enter().leave();
                long memoryBefore = memory(field);
                Duration took = cycles(contestant, settings.names());
                double keys = Long.parseLong(field.redis().command("DBSIZE"));
                table.row(
                        entrant.label(),
                        Table.whole(keys),
                        Table.whole((memory(field) - memoryBefore) / 1_024.0) + " KiB",
                        took.toSeconds() + " s");
                if (entrant != Entrant.REDISSON_FENCED) {
                    targets.add(Target.atMost(
                            "keys after " + String.format(Locale.ROOT, "%,d", settings.names()) + " names, "
                                    + entrant.label(),
                            MOST_KEYS,
                            keys,
                            Table.whole(keys)));
                }
            }
        }
        return new Section(id(), table.toString(), targets);
    }

    private static Duration cycles(Contestant contestant, int names) throws Exception {
        AtomicInteger next = new AtomicInteger();
        long start = System.nanoTime();
        // Not a Crew, which expects its threads back within two minutes.
        List<Thread> threads = new ArrayList<>();
        List<Exception> thrown = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Thread thread = new Thread(() -> {
                try {
                    for (int name = next.getAndIncrement(); name < names; name = next.getAndIncrement()) {
                        contestant.lock("name-" + name).enter().leave();
                    }
                } catch (Exception e) {
                    synchronized (thrown) {
                        thrown.add(e);
                    }
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (!thrown.isEmpty()) {
            throw thrown.get(0);
        }
        return Duration.ofNanos(System.nanoTime() - start);
    }

    private static long memory(Field field) {
        return field.redis()
                .command("INFO", "memory")
                .lines()
                .filter(line -> line.startsWith("used_memory:"))
                .mapToLong(line ->
                        Long.parseLong(line.substring("used_memory:".length()).strip()))
                .findFirst()
                .orElseThrow();
    }
}
