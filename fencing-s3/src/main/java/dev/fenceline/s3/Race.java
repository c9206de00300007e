package dev.fenceline.s3;

import dev.fenceline.BackendUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;

/**
 * Several writers with one condition, of which one may succeed. A store that checks first and writes then passes any test of one writer
 * after the other; so they {@linkplain Meeting meet} in the middle of their requests.
 *
 * @param store the bucket
 * @param requestTimeout of each request
 * @param signing of the writers' requests
 */
record Race(Store store, Duration requestTimeout, Consumer<AwsRequestOverrideConfiguration.Builder> signing) {

    private static final int WRITERS = 8;
    private static final int RUNS_FOR_EACH = 2;
    /** Each of three tries. */
    private static final int LOOKS = 3;

    private static final Duration PATIENCE = Duration.ofMillis(500);

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
     * @param wrong empty when it had a single winner, or none
     * @param isWon whether it had one
     * @param after what stands now
     * @param failure what a loser was told
     */
    private record Round(
            Optional<String> wrong,
            boolean isWon,
            Optional<Version<byte[]>> after,
            Optional<RuntimeException> failure) {}

    /** An object that is not there is to be made. */
    Optional<String> creating(int rounds, Supplier<String> keys) {
        return run(rounds, keys, Optional.empty(), after -> Optional.empty());
    }

    /** An object is to be replaced. */
    Optional<String> replacing(int rounds, Supplier<String> keys) {
        String key = keys.get();
        try (Effort effort = Effort.of(requestTimeout, requestTimeout)) {
            store.put(key, Formats.ENVELOPE, S3Probe.document("before"), Condition.absent(), effort);
        }
        return run(rounds, () -> key, look(key), UnaryOperator.identity());
    }

    /** Of a race that nobody has won it is not known whether two could have won it; so it does not count. */
    private Optional<String> run(
            int rounds,
            Supplier<String> keys,
            Optional<Version<byte[]>> first,
            UnaryOperator<Optional<Version<byte[]>>> before) {
        ExecutorService threads = Executors.newFixedThreadPool(WRITERS, task -> {
            Thread thread = new Thread(task, "fenceline-s3-probe");
            thread.setDaemon(true);
            return thread;
        });
        try {
            Optional<Version<byte[]>> after = first;
            int won = 0;
            for (int run = 1; ; run++) {
                String key = keys.get();
                Round round = round(threads, key, before.apply(after));
                won += round.isWon() ? 1 : 0;
                if (round.wrong().isPresent() || won == rounds) {
                    return round.wrong();
                }
                if (run == RUNS_FOR_EACH * rounds) {
                    throw undecided(key, run, won, rounds, round.failure().orElseThrow());
                }
                after = round.after();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private BackendUnavailableException undecided(String key, int run, int won, int rounds, RuntimeException failure) {
        return Refusals.unanswered(
                "Probe",
                store.resource(key),
                "Of " + run + " races of " + WRITERS + " writers " + won + " had a winner, and " + rounds
                        + " are needed to tell whether a second one could have won. Try again when the store is less busy.",
                failure);
    }

    private Round round(ExecutorService threads, String key, Optional<Version<byte[]>> before) {
        Condition condition =
                before.map(version -> Condition.unchanged(version.etag())).orElseGet(Condition::absent);
        List<Ran> ran = run(threads, key, condition);
        Optional<Version<byte[]>> after = look(key);
        return new Round(
                wrong(ran, before, after),
                ran.stream().anyMatch(writer -> writer.answer() instanceof Answer.Done),
                after,
                ran.stream()
                        .flatMap(writer -> writer.answer().failure().stream())
                        .findFirst());
    }

    private List<Ran> run(ExecutorService threads, String key, Condition condition) {
        Meeting meeting = new Meeting(WRITERS, PATIENCE);
        List<Future<Ran>> running = new ArrayList<>();
        for (int i = 0; i < WRITERS; i++) {
            Meeting.Writer writer = meeting.expect();
            running.add(threads.submit(() -> ran(writer, key, condition)));
        }
        return running.stream().map(Race::ended).toList();
    }

    private Ran ran(Meeting.Writer writer, String key, Condition condition) {
        Document<byte[]> document = S3Probe.document(body());
        try (writer;
                Effort effort = Effort.of(requestTimeout, requestTimeout)) {
            return new Ran(
                    document.header().writeId(),
                    store.put(key, Formats.ENVELOPE, document, condition, effort, request -> {
                        signing.accept(request);
                        writer.on(request);
                    }));
        }
    }

    /** Unlike that of any other writer. */
    private static byte[] body() {
        byte[] body = new byte[Meeting.BODY];
        ThreadLocalRandom.current().nextBytes(body);
        return body;
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

    /**
     * A store that refuses before it has the whole body may end the connection, and the client finds that out one by one, also of those
     * that it has kept.
     */
    private Optional<Version<byte[]>> look(String key) {
        Reading<byte[]> reading = new Reading<>(new Documents<>(store, Formats.ENVELOPE), requestTimeout, "Probe");
        for (int i = 1; ; i++) {
            try {
                return reading.look(key);
            } catch (BackendUnavailableException e) {
                if (i == LOOKS) {
                    throw e;
                }
            }
        }
    }
}
