package dev.fenceline.bench;

import dev.fenceline.bench.Contestant.Mutex;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A JVM in which many threads wait for one lock, which somebody else holds; alone in its process, so that its heap and its
 * processor time are the crowd's. Follows orders on standard input: {@code wait}, {@code cpu}, {@code drain}.
 */
final class CrowdProcess {

    private static final int COLLECTIONS = 3;

    private final int waiters;
    private final Mutex lock;
    private final CountDownLatch started;
    private final CountDownLatch go = new CountDownLatch(1);
    private final CountDownLatch asking;
    private final CountDownLatch served;
    private final AtomicReference<@Nullable Exception> trouble = new AtomicReference<>();

    private CrowdProcess(Mutex lock, int waiters) {
        this.lock = lock;
        this.waiters = waiters;
        this.started = new CountDownLatch(waiters);
        this.asking = new CountDownLatch(waiters);
        this.served = new CountDownLatch(waiters);
    }

    /** Arguments: Redis, ZooKeeper, contestant, number of waiters. */
    public static void main(String[] args) throws Exception {
        Contestant contestant = new Backends(args[0], args[1]).open(Entrant.of(args[2]));
        // Loads what the first use loads, which is no part of a waiter.
        contestant.lock("warm-up").enter().leave();
        new CrowdProcess(contestant.lock("crowd"), Integer.parseInt(args[3])).obey();
        System.exit(0);
    }

    private void obey() throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < waiters; i++) {
            Thread thread = new Thread(this::waitForTurn, "waiter-" + i);
            thread.setDaemon(true);
            threads.add(thread);
            thread.start();
        }
        started.await();
        long empty = usedHeap();
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String order = orders.readLine(); order != null; order = orders.readLine()) {
            switch (order) {
                case "wait" -> {
                    go.countDown();
                    asking.await();
                    awaitAllParked(threads);
                    answer((usedHeap() - empty) / waiters);
                }
                case "cpu" -> answer(cpuNanos());
                case "drain" -> {
                    if (!served.await(2, TimeUnit.MINUTES)) {
                        throw new IOException(
                                served.getCount() + " of " + waiters + " threads still wait after 2 min.");
                    }
                    answer(System.nanoTime());
                }
                default -> throw new IOException("Not an order: '" + order + "'.");
            }
        }
    }

    private void waitForTurn() {
        started.countDown();
        try {
            go.await();
            asking.countDown();
            lock.enter().leave();
            served.countDown();
        } catch (Exception e) {
            trouble.compareAndSet(null, e);
        }
    }

    /** A thread that has asked is in the queue once it sleeps. */
    private void awaitAllParked(List<Thread> threads) throws Exception {
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
        while (threads.stream().anyMatch(CrowdProcess::runs)) {
            Exception thrown = trouble.get();
            if (thrown != null) {
                throw thrown;
            }
            if (System.nanoTime() - end > 0) {
                throw new IOException("Not all of " + waiters + " threads went to sleep within a minute.");
            }
            Contention.parkUntil(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(50));
        }
    }

    private static boolean runs(Thread thread) {
        return thread.getState() == Thread.State.RUNNABLE || thread.getState() == Thread.State.BLOCKED;
    }

    private static long usedHeap() {
        for (int i = 0; i < COLLECTIONS; i++) {
            System.gc();
        }
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private static long cpuNanos() {
        return ProcessHandle.current()
                .info()
                .totalCpuDuration()
                .orElseThrow(
                        () -> new IllegalStateException("This system does not tell the processor time of a process."))
                .toNanos();
    }

    private static void answer(long number) {
        System.out.println(number);
        System.out.flush();
    }
}
