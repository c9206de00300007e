package dev.fenceline.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Runs the scenarios that were asked for and writes what came out. Run by {@code mvn -q -Pbench}. */
public final class Benchmarks {

    private static final List<Scenario> ALL = List.of(
            new Uncontended(),
            new SharedClient(),
            new HandOverInOneJvm(),
            new HandOverAcrossProcesses(),
            new Crowd(),
            new FreshNames(),
            new IndependentMasters(),
            new SingleSteps(),
            new PostgresForms(),
            new ProtectedTable(),
            new WrappedRepository(),
            new S3Forms());

    private Benchmarks() {}

    /**
     * Runs scenarios one after the other.
     *
     * @param args none; everything is a system property, see docs/performance.md
     */
    public static void main(String[] args) {
        // A contestant that fails ends the run, since a table without it would mislead.
        Exits.after(Benchmarks::run);
    }

    /** The names of all scenarios, in the order of the page. */
    static List<String> ids() {
        return ALL.stream().map(Scenario::id).toList();
    }

    private static void run() throws Exception {
        Settings settings = Settings.ofSystemProperties();
        List<String> known = ids();
        if (!known.containsAll(settings.scenarios())) {
            throw new IllegalArgumentException(
                    "bench.only=" + settings.scenarios() + " names what is none of " + known + ".");
        }
        Results results = new Results(settings.output());
        System.out.println("Seed of the order: " + settings.seed());
        for (Scenario scenario : ALL) {
            if (settings.scenarios().isEmpty() || settings.scenarios().contains(scenario.id())) {
                Section section = scenario.run(settings);
                System.out.println("\n## " + section.id() + "\n\n" + section.body());
                section.targets().forEach(target -> System.out.println(target.row()));
                results.add(section, settings);
            }
        }
        if (settings.page().isPresent()) {
            Path page = settings.page().get();
            Files.writeString(page, Page.filled(Files.readString(page), results.blocks(known)));
        }
    }
}
