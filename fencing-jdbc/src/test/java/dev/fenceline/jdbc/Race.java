package dev.fenceline.jdbc;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Runs the same thing in several threads that start together. */
final class Race {

    interface Runner {
        void run(int turn) throws Exception;
    }

    private Race() {}

    static void of(int threads, Runner runner) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            CyclicBarrier start = new CyclicBarrier(threads);
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                int turn = i;
                running.add(pool.submit(() -> {
                    start.await(20, TimeUnit.SECONDS);
                    runner.run(turn);
                    return null;
                }));
            }
            for (Future<?> future : running) {
                future.get(60, TimeUnit.SECONDS);
            }
        } finally {
            pool.shutdownNow();
        }
    }
}
