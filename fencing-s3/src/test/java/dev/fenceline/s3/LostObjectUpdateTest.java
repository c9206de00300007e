package dev.fenceline.s3;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.FencingToken;
import dev.fenceline.StaleTokenException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** 16 threads and 200 rounds on one key: one winner in each round, and no update is lost. */
@Tag("server")
class LostObjectUpdateTest {

    private static final int THREADS = 16;
    private static final int ROUNDS = 200;

    static TestStore store;

    @BeforeAll
    static void create() {
        store = TestStore.fresh();
    }

    /** Each thread goes on under the claim of the round and adds one to what it has read; all do so at the same time. */
    @Test
    void ofAllSessionsThatHaveReadTheSameOneWrites() throws Exception {
        EnvelopeFence fence = store.envelope();
        String key = TestStore.freshKey();
        FencingToken token = TestStore.token(key);
        fence.claim(token, key).write(S3Body.of("0"));

        List<Integer> winners = race(fence, key, token);

        assertThat(winners).hasSize(ROUNDS).containsOnly(1);
        assertThat(fence.read(key).orElseThrow().text())
                .as("acknowledged updates")
                .isEqualTo(Integer.toString(ROUNDS));
    }

    private static List<Integer> race(EnvelopeFence fence, String key, FencingToken token) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        CyclicBarrier together = new CyclicBarrier(THREADS);
        List<AtomicInteger> wins = new ArrayList<>();
        for (int i = 0; i < ROUNDS; i++) {
            wins.add(new AtomicInteger());
        }
        try {
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                running.add(threads.submit(() -> {
                    EnvelopeClaim claim = fence.resume(token, key);
                    for (int round = 0; round < ROUNDS; round++) {
                        int seen = Integer.parseInt(claim.read().orElseThrow().text());
                        together.await(60, TimeUnit.SECONDS);
                        try {
                            claim.write(S3Body.of(Integer.toString(seen + 1)));
                            wins.get(round).incrementAndGet();
                        } catch (dev.fenceline.RetryableConflictException expected) {
                            // Somebody else of the same claim was first; the next round reads again.
                        }
                        together.await(60, TimeUnit.SECONDS);
                    }
                    return null;
                }));
            }
            for (Future<?> thread : running) {
                thread.get(120, TimeUnit.SECONDS);
            }
        } finally {
            threads.shutdownNow();
        }
        return wins.stream().map(AtomicInteger::get).toList();
    }

    /** Threads that claim against each other: who was overtaken between its read and its write adds nothing. */
    @Test
    void updatesUnderClaimsThatOvertakeEachOtherAreAcceptedOrRefusedAndNeverLost() throws Exception {
        EnvelopeFence fence = store.envelope();
        String key = TestStore.freshKey();
        AtomicInteger accepted = new AtomicInteger();
        AtomicInteger refused = new AtomicInteger();
        ExecutorService threads = Executors.newFixedThreadPool(8);
        try {
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                running.add(threads.submit(() -> {
                    for (int round = 0; round < 15; round++) {
                        try {
                            EnvelopeClaim claim = fence.claim(TestStore.token(key), key);
                            int seen = claim.read()
                                    .map(content -> Integer.parseInt(content.text()))
                                    .orElse(0);
                            claim.write(S3Body.of(Integer.toString(seen + 1)));
                            accepted.incrementAndGet();
                        } catch (StaleTokenException e) {
                            refused.incrementAndGet();
                        }
                    }
                    return null;
                }));
            }
            for (Future<?> thread : running) {
                thread.get(120, TimeUnit.SECONDS);
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(accepted.get() + refused.get()).isEqualTo(8 * 15);
        assertThat(refused.get()).as("the threads got into each other's way").isPositive();
        assertThat(fence.read(key).orElseThrow().text()).isEqualTo(Integer.toString(accepted.get()));
    }
}
