package dev.fenceline.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Threads that stay the same over all slices, since some libraries keep things by thread. */
final class Crew implements AutoCloseable {

    private static final long LIMIT_SECONDS = 120;

    private final int size;
    private final ExecutorService threads;

    Crew(int size) {
        this.size = size;
        this.threads = Executors.newFixedThreadPool(size, task -> {
            Thread thread = new Thread(task, "bench-crew");
            thread.setDaemon(true);
            return thread;
        });
    }

    int size() {
        return size;
    }

    /** What one thread does; they are numbered from 0. */
    @FunctionalInterface
    interface Work<T> {
        T call(int thread) throws Exception;
    }

    /** Has all threads work, and waits for all of them. */
    <T> List<T> all(Work<T> work) throws Exception {
        List<Future<T>> started = new ArrayList<>();
        for (int thread = 0; thread < size; thread++) {
            int number = thread;
            Callable<T> task = () -> work.call(number);
            started.add(threads.submit(task));
        }
        List<T> results = new ArrayList<>();
        for (Future<T> future : started) {
            results.add(result(future));
        }
        return results;
    }

    /** Has each thread write again and again for a while, and returns how long one write took of all threads together. */
    double nanosPerWrite(Duration slice, List<Write> ofThreads) throws Exception {
        long start = System.nanoTime();
        long end = start + slice.toNanos();
        List<Integer> done = all(thread -> {
            Write write = ofThreads.get(thread);
            int count = 0;
            do {
                write.run(count);
                count++;
            } while (System.nanoTime() - end < 0);
            return count;
        });
        return (double) (System.nanoTime() - start)
                / done.stream().mapToInt(Integer::intValue).sum();
    }

    private static <T> T result(Future<T> future) throws Exception {
        try {
            return future.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new IllegalStateException("A thread of the crew failed: " + e.getCause(), e.getCause());
        } catch (TimeoutException e) {
            throw new IllegalStateException("A thread of the crew still waits after " + LIMIT_SECONDS + " s.", e);
        }
    }

    @Override
    public void close() {
        List<Runnable> unused = threads.shutdownNow();
    }
}
