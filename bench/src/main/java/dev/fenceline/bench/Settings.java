package dev.fenceline.bench;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What is run, and how long. Read from system properties, which the profile {@code bench} passes on.
 *
 * @param scenarios their names; all where none is given
 * @param entrants who runs
 * @param rounds how often each contestant runs in each scenario; as many rounds more, a quarter of it, warm up
 * @param slice how long one contestant runs in one round
 * @param handOvers how long one contestant hands over in one round
 * @param waiters how many threads wait for one lock in the crowd
 * @param names how many cycles with a new name each
 * @param seed of the order in each round
 * @param output where tables are written
 * @param page the page whose blocks are rewritten; nothing where none is given
 */
record Settings(
        Set<String> scenarios,
        Set<Entrant> entrants,
        int rounds,
        Duration slice,
        Duration handOvers,
        int waiters,
        int names,
        long seed,
        Path output,
        Optional<Path> page) {

    Settings {
        if (rounds < 2 || slice.toMillis() < 1 || handOvers.toMillis() < 1 || waiters < 1 || names < 1) {
            throw new IllegalArgumentException(
                    "There must be two rounds, and at least one millisecond, waiter and name: "
                            + "rounds=" + rounds + ", slice=" + slice.toMillis() + " ms, handover="
                            + handOvers.toMillis()
                            + " ms, waiters=" + waiters + ", names=" + names + ".");
        }
    }

    static Settings ofSystemProperties() {
        return new Settings(
                Set.copyOf(words(property("bench.only", ""))),
                Entrant.parse(property("bench.contestants", "")),
                Integer.parseInt(property("bench.rounds", "40")),
                Duration.ofMillis(Long.parseLong(property("bench.slice", "100"))),
                Duration.ofMillis(Long.parseLong(property("bench.handover", "500"))),
                Integer.parseInt(property("bench.waiters", "1000")),
                Integer.parseInt(property("bench.names", "1000000")),
                Long.parseLong(property("bench.seed", Long.toString(System.nanoTime() & 0xffff))),
                Path.of(property("bench.output", "target/bench")),
                Optional.of(property("bench.page", ""))
                        .filter(text -> !text.isEmpty())
                        .map(Path::of));
    }

    Settings withRounds(int other) {
        return new Settings(scenarios, entrants, other, slice, handOvers, waiters, names, seed, output, page);
    }

    int warmUps() {
        return Math.max(1, rounds / 4);
    }

    private static List<String> words(String text) {
        return text.isBlank() ? List.of() : List.of(text.strip().split("\\s*,\\s*", -1));
    }

    /** Maven passes an option that was not given as the empty text. */
    private static String property(String name, String otherwise) {
        String value = System.getProperty(name, "");
        return value.isBlank() ? otherwise : value;
    }
}
