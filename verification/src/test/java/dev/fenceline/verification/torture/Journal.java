package dev.fenceline.verification.torture;

import dev.fenceline.FencingToken;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * What the processes of one run did, one line for each thing. Times are those of {@link System#nanoTime()}, which all processes
 * of a machine read from one clock (on Linux and macOS; the run compares them at the start).
 */
record Journal(List<Grant> grants, List<Refusal> refusals, List<Stall> stalls) {

    /**
     * A grant: asked for at {@code began}, in hand at {@code granted}, given back between {@code released} and {@code closed}.
     */
    record Grant(
            String process,
            String lock,
            long value,
            String holder,
            long began,
            long granted,
            long released,
            long closed) {

        @Override
        public String toString() {
            return "token " + value + " (holder " + holder + ", " + process + ")";
        }
    }

    /** A wait that ended without a grant, with the simple name of the exception. */
    record Refusal(String process, String lock, long began, long ended, String reason) {}

    /** A time in which a process did not run: its control thread, which does nothing else, slept longer than it asked to. */
    record Stall(String process, long from, long to) {

        long within(long begin, long end) {
            return Math.max(0, Math.min(to, end) - Math.max(from, begin));
        }
    }

    /** How long the given process did not run within that time. */
    long stalled(String process, long begin, long end) {
        return stalls.stream()
                .filter(stall -> stall.process().equals(process))
                .mapToLong(stall -> stall.within(begin, end))
                .sum();
    }

    static Journal read(List<Path> files) {
        Journal journal = new Journal(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        for (Path file : files) {
            String process = file.getFileName().toString();
            try {
                Files.readAllLines(file).forEach(line -> journal.add(process, line.split(" ", -1)));
            } catch (IOException e) {
                throw new UncheckedIOException("Cannot read the journal " + file + ".", e);
            }
        }
        return journal;
    }

    private void add(String process, String[] w) {
        switch (w[0]) {
            case "grant" ->
                grants.add(new Grant(
                        process, w[1], number(w[2]), w[3], number(w[4]), number(w[5]), number(w[6]), number(w[7])));
            case "refusal" -> refusals.add(new Refusal(process, w[1], number(w[2]), number(w[3]), w[4]));
            case "stall" -> stalls.add(new Stall(process, number(w[1]), number(w[2])));
            default -> throw new IllegalArgumentException("Not a line of a journal: " + String.join(" ", w));
        }
    }

    private static long number(String word) {
        return Long.parseLong(word);
    }

    /** Writes one process's part. Any thread. */
    static final class Writer implements AutoCloseable {

        private final BufferedWriter file;

        Writer(Path path) throws IOException {
            file = Files.newBufferedWriter(path);
        }

        void grant(FencingToken token, long began, long granted, long released, long closed) {
            line("grant " + token.lock() + " " + token.value() + " " + token.holder() + " " + began + " " + granted
                    + " " + released + " " + closed);
        }

        void refusal(String lock, long began, long ended, String reason) {
            line("refusal " + lock + " " + began + " " + ended + " " + reason);
        }

        void stall(long from, long to) {
            line("stall " + from + " " + to);
        }

        private synchronized void line(String line) {
            try {
                file.write(line);
                file.newLine();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public synchronized void close() throws IOException {
            file.close();
        }
    }
}
