package dev.fenceline.s3;

import dev.fenceline.s3.FaultCase.Ending;
import dev.fenceline.s3.FaultCase.Times;
import dev.fenceline.s3.FaultStep.Operation;
import dev.fenceline.testkit.SharedServers;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/** Every fault at every step, run, and written as the tables of {@code docs/s3-faults.md}. */
final class FaultTable implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(2);

    /** The lines of a table above its rows. */
    private static final int HEAD = 2;

    private final FaultStore store = new FaultStore(SharedServers.s3(), PATIENCE);
    private final Map<FaultCase, Ending> endings = new LinkedHashMap<>();

    /**
     * Runs all cases. Those that mostly wait, for timeouts or between attempts, do so at the same time; the others would only be in each other's
     * way, above all those that send parts.
     */
    static FaultTable run() throws InterruptedException {
        FaultTable table = new FaultTable();
        table.warmUp();
        ExecutorService computing = Executors.newFixedThreadPool(3);
        ExecutorService waiting = Executors.newFixedThreadPool(24);
        ExecutorService sending = Executors.newFixedThreadPool(4);
        try {
            Map<FaultCase, Future<Ending>> running = new LinkedHashMap<>();
            for (FaultCase one : longestFirst()) {
                ExecutorService few = one.step().operation() == Operation.WRITE_PARTS ? sending : computing;
                ExecutorService threads = few == computing && one.waits() ? waiting : few;
                running.put(one, threads.submit(() -> one.run(table.store)));
            }
            for (Map.Entry<FaultCase, Future<Ending>> one : running.entrySet()) {
                table.endings.put(one.getKey(), ending(one.getKey(), one.getValue()));
            }
            return table;
        } finally {
            computing.shutdownNow();
            waiting.shutdownNow();
            sending.shutdownNow();
        }
    }

    /** All cases, and first those that wait for a timeout again and again. */
    private static List<FaultCase> longestFirst() {
        return Arrays.stream(FaultStep.values())
                .flatMap(step -> Arrays.stream(Harm.values())
                        .flatMap(harm -> Arrays.stream(Times.values()).map(times -> new FaultCase(step, harm, times))))
                .sorted(Comparator.comparing(FaultCase::waitsLongest).reversed())
                .toList();
    }

    private void warmUp() {
        store.warmUp();
        new FaultCase(FaultStep.ENVELOPE_WRITE, Harm.UNHEARD, Times.ONCE).run(store);
        new FaultCase(FaultStep.POINTER_WRITE, Harm.UNHEARD, Times.ONCE).run(store);
    }

    private static Ending ending(FaultCase one, Future<Ending> running) throws InterruptedException {
        try {
            return running.get(3, TimeUnit.MINUTES);
        } catch (ExecutionException | TimeoutException e) {
            throw new AssertionError("The case '" + one + "' had no ending.", e);
        }
    }

    Map<FaultCase, Ending> endings() {
        return endings;
    }

    /** Runs a case once more, by itself. */
    Ending again(FaultCase one) {
        Ending ending = one.run(store);
        endings.put(one, ending);
        return ending;
    }

    /** The cases whose ending is another than these rows of tables say. */
    List<FaultCase> different(List<String> rows) {
        return endings.keySet().stream()
                .filter(one ->
                        !documented(rows, one).equals(endings.get(one).told().toString()))
                .toList();
    }

    private static String documented(List<String> rows, FaultCase one) {
        S3Format format = one.step().format();
        int first = format == S3Format.ENVELOPE ? HEAD : HEAD + Harm.values().length + HEAD;
        int row = first + List.of(Harm.values()).indexOf(one.harm());
        int column = 2 + steps(format).indexOf(one.step());
        String[] cells = row < rows.size() ? rows.get(row).split("\\|") : new String[0];
        String[] told = column < cells.length ? cells[column].strip().split("; ") : new String[] {"nothing"};
        return told[one.times() == Times.ONCE ? 0 : told.length - 1];
    }

    /** The tables, as Markdown. */
    String markdown() {
        return markdown(S3Format.ENVELOPE) + "\n" + markdown(S3Format.POINTER);
    }

    String markdown(S3Format format) {
        List<FaultStep> steps = steps(format);
        String head = "| " + format.word() + " | "
                + steps.stream().map(FaultStep::toString).collect(Collectors.joining(" | ")) + " |\n"
                + "|---".repeat(steps.size() + 1) + "|\n";
        return Arrays.stream(Harm.values())
                .map(harm -> row(format, harm) + "\n")
                .collect(Collectors.joining("", head, ""));
    }

    /** What is told at each step of a format, once and then each time if that differs. */
    String row(S3Format format, Harm harm) {
        return steps(format).stream()
                .map(step -> cell(step, harm))
                .collect(Collectors.joining(" | ", "| " + harm + " | ", " |"));
    }

    private static List<FaultStep> steps(S3Format format) {
        return Arrays.stream(FaultStep.values())
                .filter(step -> step.format() == format)
                .toList();
    }

    private String cell(FaultStep step, Harm harm) {
        return Arrays.stream(Times.values())
                .map(times -> told(step, harm, times))
                .distinct()
                .collect(Collectors.joining("; "));
    }

    private String told(FaultStep step, Harm harm, Times times) {
        return endings.get(new FaultCase(step, harm, times)).told().toString();
    }

    @Override
    public void close() {
        store.close();
    }
}
