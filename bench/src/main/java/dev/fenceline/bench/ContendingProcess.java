package dev.fenceline.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;

/**
 * One of several JVMs that contend for a lock. Does what it is told on standard input, {@code run <contestant> <ms>}, prints
 * its holds and then {@code done}; ends when standard input does, so that it does not outlive who started it.
 */
final class ContendingProcess {

    private final Backends backends;
    private final int firstThread;
    private final Map<Entrant, Contestant> open = new EnumMap<>(Entrant.class);

    private ContendingProcess(Backends backends, int firstThread) {
        this.backends = backends;
        this.firstThread = firstThread;
    }

    /** Arguments: Redis, ZooKeeper, number of threads, number of the first of them. */
    public static void main(String[] args) {
        Exits.after(() -> {
            ContendingProcess process =
                    new ContendingProcess(new Backends(args[0], args[1]), Integer.parseInt(args[3]));
            try (Crew crew = new Crew(Integer.parseInt(args[2]))) {
                process.obey(crew);
            }
        });
    }

    private void obey(Crew crew) throws Exception {
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String order = orders.readLine(); order != null; order = orders.readLine()) {
            String[] words = order.split(" ", -1);
            if (words.length != 3 || !words[0].equals("run")) {
                throw new IOException("Not an order: '" + order + "'.");
            }
            Contestant contestant = contestant(Entrant.of(words[1]));
            Duration time = Duration.ofMillis(Long.parseLong(words[2]));
            StringBuilder answer = new StringBuilder();
            Contention.run(crew, firstThread, contestant.lock("contended"), time)
                    .forEach(hold -> answer.append(hold.encode()).append('\n'));
            System.out.print(answer.append("done\n"));
            System.out.flush();
        }
    }

    private Contestant contestant(Entrant entrant) throws Exception {
        Contestant known = open.get(entrant);
        if (known == null) {
            known = backends.open(entrant);
            open.put(entrant, known);
        }
        return known;
    }
}
