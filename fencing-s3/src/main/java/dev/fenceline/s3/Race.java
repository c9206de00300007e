package dev.fenceline.s3;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;

/**
 * Several writers with one condition at the same time, of which one may succeed. A store that checks first and writes then passes any
 * test of one writer after the other.
 *
 * @param store the bucket
 * @param requestTimeout of each request
 */
record Race(Store store, Duration requestTimeout) {

    private static final int WRITERS = 16;

    /** What the writers race for. */
    @FunctionalInterface
    interface Kind {
        /** Returns what was wrong; empty when each race had a single winner, and its write stands. */
        Optional<String> run(int rounds, Supplier<String> keys);
    }

    /** What one writer did. */
    private record Ran(UUID write, Answer answer) {}

    /**
     * What a race has left.
     *
     * @param wrong empty when it had a single winner
     * @param after what stands now
     */
    private record Round(Optional<String> wrong, Optional<Version<byte[]>> after) {}

    /** Several races among the same writers. */
    @FunctionalInterface
    private interface Races {
        Optional<String> among(ExecutorService writers);
    }

    /** An object that is not there is to be made. */
    Optional<String> creating(int rounds, Supplier<String> keys) {
        return run(writers -> {
            Optional<String> wrong = Optional.empty();
            for (int i = 0; i < rounds && wrong.isEmpty(); i++) {
                wrong = round(writers, keys.get(), Optional.empty()).wrong();
            }
            return wrong;
        });
    }

    /** An object is to be replaced. */
    Optional<String> replacing(int rounds, Supplier<String> keys) {
        String key = keys.get();
        try (Effort effort = Effort.of(requestTimeout, requestTimeout)) {
            store.put(key, Formats.ENVELOPE, S3Probe.document("before"), Condition.absent(), effort);
        }
        return run(writers -> {
            Round last = new Round(Optional.empty(), look(key));
            for (int i = 0; i < rounds && last.wrong().isEmpty(); i++) {
                last = round(writers, key, last.after());
            }
            return last.wrong();
        });
    }

    private Optional<String> run(Races races) {
        ExecutorService writers = Executors.newFixedThreadPool(WRITERS, task -> {
            Thread thread = new Thread(task, "fenceline-s3-probe");
            thread.setDaemon(true);
            return thread;
        });
        try {
            return races.among(writers);
        } finally {
            writers.shutdownNow();
        }
    }

    private Round round(ExecutorService writers, String key, Optional<Version<byte[]>> before) {
        Condition condition =
                before.map(version -> Condition.unchanged(version.etag())).orElseGet(Condition::absent);
        List<Ran> ran = run(writers, key, condition);
        Optional<Version<byte[]>> after = look(key);
        return new Round(wrong(ran, before, after), after);
    }

    private List<Ran> run(ExecutorService writers, String key, Condition condition) {
        CountDownLatch ready = new CountDownLatch(WRITERS);
        List<Future<Ran>> running = new ArrayList<>();
        for (int i = 0; i < WRITERS; i++) {
            running.add(writers.submit(() -> {
                Document<byte[]> document = S3Probe.document("racing");
                ready.countDown();
                ready.await();
                try (Effort effort = Effort.of(requestTimeout, requestTimeout)) {
                    return new Ran(
                            document.header().writeId(), store.put(key, Formats.ENVELOPE, document, condition, effort));
                }
            }));
        }
        return running.stream().map(Race::ended).toList();
    }

    /** Each ends by itself within the request timeout. */
    private static Ran ended(Future<Ran> running) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return running.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (ExecutionException e) {
                    if (e.getCause() instanceof RuntimeException failure) {
                        throw failure;
                    }
                    throw new IllegalStateException("A writer of the probe failed.", e);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static Optional<String> wrong(
            List<Ran> ran, Optional<Version<byte[]>> before, Optional<Version<byte[]>> after) {
        List<UUID> winners = ran.stream()
                .filter(writer -> writer.answer() instanceof Answer.Done)
                .map(Ran::write)
                .toList();
        if (winners.size() > 1) {
            return Optional.of("of " + WRITERS + " writers with one condition " + winners.size()
                    + " were told that they succeeded");
        }
        Optional<UUID> stands = after.map(version -> version.document().header().writeId());
        boolean isUnclear = ran.stream().anyMatch(writer -> writer.answer() instanceof Answer.Unclear);
        if (winners.size() == 1 && !stands.equals(Optional.of(winners.get(0)))) {
            return Optional.of("the write that was told to have succeeded does not stand");
        }
        boolean isUnchanged =
                stands.equals(before.map(version -> version.document().header().writeId()));
        return winners.isEmpty() && !isUnclear && !isUnchanged
                ? Optional.of("a write stands that was told to have been refused")
                : Optional.empty();
    }

    private Optional<Version<byte[]>> look(String key) {
        return new Reading<>(new Documents<>(store, Formats.ENVELOPE), requestTimeout, "Probe").look(key);
    }
}
