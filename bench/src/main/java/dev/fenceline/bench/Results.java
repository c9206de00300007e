package dev.fenceline.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What has been found so far, one file for each scenario, so that scenarios can be run one by one. Each says on which machine it
 * was found, and what came out of the design's limits.
 */
final class Results {

    private static final String HEAD = "| target | limit | median (quartiles) | |\n|---|---:|---:|---|\n";

    private final Path folder;

    Results(Path folder) throws IOException {
        this.folder = Files.createDirectories(folder);
    }

    void add(Section section, Settings settings) throws IOException {
        String targets = section.targets().isEmpty()
                ? ""
                : section.targets().stream().map(Target::row).collect(Collectors.joining("\n", HEAD, "\n\n"));
        Files.writeString(
                folder.resolve(section.id() + ".md"),
                section.body().strip() + "\n\n" + targets + how(settings) + "\n" + machine() + "\n");
    }

    /** The blocks for the page. */
    Map<String, String> blocks(List<String> scenarios) throws IOException {
        Map<String, String> blocks = new LinkedHashMap<>();
        for (String scenario : scenarios) {
            Path found = folder.resolve(scenario + ".md");
            if (Files.exists(found)) {
                blocks.put(scenario, Files.readString(found));
            }
        }
        return blocks;
    }

    private static String how(Settings settings) {
        return String.format(
                Locale.ROOT,
                "%d rounds after %d to warm up; slices of %d ms, hand-overs of %d ms; seed %d; %s.",
                settings.rounds(),
                settings.warmUps(),
                settings.slice().toMillis(),
                settings.handOvers().toMillis(),
                settings.seed(),
                LocalDate.now(ZoneOffset.UTC));
    }

    private static String machine() throws IOException {
        Runtime runtime = Runtime.getRuntime();
        return runtime.availableProcessors() + " processors: " + processor() + "; "
                + System.getProperty("os.name") + " " + System.getProperty("os.version") + " "
                + System.getProperty("os.arch") + "; Java " + Runtime.version() + ", "
                + System.getProperty("java.vm.name") + ".";
    }

    private static String processor() throws IOException {
        Path file = Path.of("/proc/cpuinfo");
        if (!Files.exists(file)) {
            return System.getProperty("os.arch");
        }
        return Files.readAllLines(file).stream()
                .filter(line -> line.startsWith("model name"))
                .map(line -> line.substring(line.indexOf(':') + 1).strip())
                .findFirst()
                .orElse(System.getProperty("os.arch"));
    }
}
