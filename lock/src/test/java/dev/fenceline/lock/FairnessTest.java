package dev.fenceline.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.lock.QueuingProcess.Turn;
import dev.fenceline.testkit.ChildJvm;
import dev.fenceline.testkit.RedisServer;
import dev.fenceline.testkit.SharedServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The longest wait, counted in the turns of others instead of in time, so that a slow machine changes nothing: nobody waits for
 * more than twice as many turns as there are waiters, as long as processes have about equally many.
 */
@Tag("server")
class FairnessTest {

    /** A little less than an offer lasts. */
    private static final long STANDSTILL_NANOS = 400_000_000;

    private static final Duration LIMIT = Duration.ofMinutes(2);

    private final RedisServer redis = SharedServers.redis();
    private final LockOptions options = Fixture.options().build();

    @Test
    void eightThreadsOfOneProcessTakeTurns() {
        List<Turn> turns = new ArrayList<>();
        try (Locks locks = RedisLocks.connect(redis.uri(), options)) {
            QueuingProcess.start(locks.fenced(Fixture.ACCOUNT), 8, 100, Duration.ofMillis(1))
                    .forEach(worker -> turns.addAll(QueuingProcess.result(worker)));
        }
        assertThat(turns).hasSize(800);
        assertThat(longestWait(turns)).isLessThanOrEqualTo(2 * 8);
    }

    /**
     * Turns are short enough for a process to pass the lock on within itself before it passes it to others (10 ms). They are not shorter, since a
     * process that a busy machine puts aside before it stands in the queue at the server misses the turns of that time.
     */
    @Test
    void threeProcessesOfFourThreadsTakeTurns() {
        List<ChildJvm> processes = IntStream.range(0, 3)
                .mapToObj(i ->
                        ChildJvm.start(QueuingProcess.class, redis.uri(), options.keyPrefix(), "10000", "4", "30", "6"))
                .toList();
        List<Turn> turns = new ArrayList<>();
        try {
            processes.forEach(process -> process.awaitLine("ready", LIMIT));
            processes.forEach(process -> process.send("go"));
            for (ChildJvm process : processes) {
                for (int i = 0; i < 120; i++) {
                    turns.add(Turn.parse(process.awaitLine("turn ", LIMIT)));
                }
            }
        } finally {
            processes.forEach(ChildJvm::close);
        }
        assertThat(longestWait(turns)).isLessThanOrEqualTo(2 * 12);
    }

    /** Proof that the measure sees: who comes last is served first. */
    @Test
    void aStackIsNotFair() {
        List<Turn> turns = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            turns.add(new Turn(100 - i, i, 100 - i));
        }
        assertThat(longestWait(turns)).isGreaterThan(2 * 8);
    }

    /** Control of the exception below: most waits must count. */
    @Test
    void waitsThroughAStandstillAreLeftOutAndMustBeFew() {
        List<Turn> turns = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            turns.add(new Turn(i, (i - 1) * STANDSTILL_NANOS, i * STANDSTILL_NANOS));
        }
        assertThatThrownBy(() -> longestWait(turns)).hasMessageContaining("waits that count");
    }

    /**
     * The most turns of others that were granted between asking and being granted. A process that gets no processor for as long
     * as an offer lasts loses its turn, as it should; then the lock stands still for that time, and who waited through it is
     * left out.
     */
    private static long longestWait(List<Turn> turns) {
        List<Turn> order =
                turns.stream().sorted(Comparator.comparingLong(Turn::token)).toList();
        long[] granted = order.stream().mapToLong(Turn::granted).toArray();
        long[] standstills = IntStream.range(1, granted.length)
                .filter(i -> granted[i] - granted[i - 1] >= STANDSTILL_NANOS)
                .mapToLong(i -> granted[i])
                .toArray();
        long longest = 0;
        int counted = 0;
        for (int own = 0; own < order.size(); own++) {
            long asked = order.get(own).asked();
            long got = order.get(own).granted();
            if (Arrays.stream(standstills).anyMatch(end -> end > asked && end <= got)) {
                continue;
            }
            counted++;
            long before = Arrays.stream(granted, 0, own)
                    .filter(other -> other > asked)
                    .count();
            longest = Math.max(longest, before);
        }
        assertThat(counted).as("waits that count").isGreaterThan(order.size() * 8 / 10);
        return longest;
    }
}
