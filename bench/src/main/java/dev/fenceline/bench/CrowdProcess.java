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
import java.util.regex.Pattern;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;

/**
 * A JVM in which many threads wait for one lock, which somebody else holds; alone in its process, so that its heap and its
 * processor time are the crowd's. Follows orders on standard input: {@code wait}, {@code cpu}, {@code drain}.
 */
final class CrowdProcess {

    private static final Pattern TOTAL = Pattern.compile("^Total +[0-9]+ +([0-9]+)", Pattern.MULTILINE);
    private static final int DRAIN_SECONDS = 120;

    /** A thread may sleep for a moment on its way into the queue; all of them for a second are in it. */
    private static final int QUIET_LOOKS = 20;

    private final Mutex lock;
    private final int waiters;
    private final CountDownLatch served;
    private final AtomicReference<@Nullable Exception> trouble = new AtomicReference<>();

    /** Threads that are started, and ask once they are told to. */
    private record Wave(List<Thread> threads, CountDownLatch go, CountDownLatch asking) {}

    private CrowdProcess(Mutex lock, int waiters) {
        this.lock = lock;
        this.waiters = waiters;
        this.served = new CountDownLatch(waiters);
    }

    /** Arguments: Redis, ZooKeeper, contestant, number of waiters. */
    public static void main(String[] args) {
        Exits.after(() -> {
            Contestant contestant = new Backends(args[0], args[1]).open(Entrant.of(args[2]));
            // Loads what the first use loads, which is no part of a waiter.
            contestant.lock("warm-up").enter().leave();
            new CrowdProcess(contestant.lock("crowd"), Integer.parseInt(args[3])).obey();
        });
    }

    private void obey() throws Exception {
        // The first wave pays for what is there once, such as a subscription; a waiter is what each further one adds.
        Wave first = wave((waiters + 9) / 10);
        Wave rest = wave(waiters - first.threads().size());
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String order = orders.readLine(); order != null; order = orders.readLine()) {
            switch (order) {
                case "wait" -> {
                    queue(first);
                    long before = liveBytes();
                    queue(rest);
                    answer((liveBytes() - before) / Math.max(1, rest.threads().size()));
                }
                case "cpu" -> answer(cpuNanos());
                case "drain" -> {
                    boolean unused = served.await(DRAIN_SECONDS, TimeUnit.SECONDS);
                    answer(System.nanoTime());
                    answer(served.getCount());
                }
                default -> throw new IOException("Not an order: '" + order + "'.");
            }
        }
    }

    private Wave wave(int size) {
        Wave wave = new Wave(new ArrayList<>(), new CountDownLatch(1), new CountDownLatch(size));
        for (int i = 0; i < size; i++) {
            Thread thread = new Thread(() -> waitForTurn(wave), "waiter");
            thread.setDaemon(true);
            wave.threads().add(thread);
            thread.start();
        }
        return wave;
    }

    private void waitForTurn(Wave wave) {
        try {
            wave.go().await();
            wave.asking().countDown();
            lock.enter().leave();
            served.countDown();
        } catch (Exception e) {
            trouble.compareAndSet(null, e);
        }
    }

    private void queue(Wave wave) throws Exception {
        wave.go().countDown();
        wave.asking().await();
        awaitAllParked(wave.threads());
    }

    private void awaitAllParked(List<Thread> threads) throws Exception {
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
        int quiet = 0;
        while (quiet < QUIET_LOOKS) {
            quiet = threads.stream().anyMatch(CrowdProcess::runs) ? 0 : quiet + 1;
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

    /**
     * The bytes of all objects that are reachable. Not what the heap says is used: that counts whole buffers of threads that
     * allocate, which is more than a thousand waiters need.
     */
    private static long liveBytes() throws Exception {
        String histogram = (String) ManagementFactory.getPlatformMBeanServer()
                .invoke(
                        new ObjectName("com.sun.management:type=DiagnosticCommand"),
                        "gcClassHistogram",
                        new Object[] {new String[0]},
                        new String[] {String[].class.getName()});
        return TOTAL.matcher(histogram)
                .results()
                .mapToLong(total -> Long.parseLong(total.group(1)))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("This JVM's class histogram has no line with the total."));
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
