package dev.fenceline.verification.torture;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.FencelineListener;
import dev.fenceline.LockName;
import dev.fenceline.LockNotAcquiredException;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import io.lettuce.core.resource.ClientResources;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A process of a run: its threads acquire, hold for some milliseconds and give back until the line {@code stop} comes, and write
 * down what they got. The line {@code threads} asks which threads there are. Arguments: its {@link Access}, the key prefix, the journal.
 */
public final class Client {

    private static final int LONGEST_HOLD_MILLIS = 8;
    private static final int LONGEST_PAUSE_MILLIS = 15;
    private static final int TICK_MILLIS = 10;
    private static final int WARM_UPS = 5;
    private static final Duration THREADS_END = Duration.ofSeconds(10);

    private final Locks locks;
    private final Journal.Writer journal;
    private final CountDownLatch stop = new CountDownLatch(1);
    private final CountDownLatch quiet = new CountDownLatch(1);

    private Client(Locks locks, Journal.Writer journal) {
        this.locks = locks;
        this.journal = journal;
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        Access access = Access.parse(args[0]);
        LockOptions options = LockOptions.builder()
                .keyPrefix(args[1])
                .lease(Clients.LEASE)
                .maxWait(Clients.WAIT)
                .commandTimeout(Clients.COMMAND_TIMEOUT)
                .application("torture")
                .listener(FencelineListener.none())
                .build();
        // So that threads which a JVM makes once and keeps, as for timeouts of futures, are not taken for leaks.
        new CompletableFuture<Boolean>()
                .completeOnTimeout(true, 1, TimeUnit.MILLISECONDS)
                .join();
        warmUp(access, options);
        Set<Thread> before = awaitThreadsOfNettyToEnd();
        try (Journal.Writer journal = new Journal.Writer(Path.of(args[2]))) {
            with(access, options, locks -> new Client(locks, journal).run());
        }
        System.out.println("threads left: " + awaitThreadsToEnd(before));
    }

    /** Loads all classes. A cold JVM on a busy machine may take longer than a connection may; that is no part of the run. */
    private static void warmUp(Access access, LockOptions options) throws IOException, InterruptedException {
        for (int attempt = 1; ; attempt++) {
            try {
                with(
                        access,
                        options,
                        locks -> locks.fenced(LockName.of("torture", "first"))
                                .acquire()
                                .close());
                return;
            } catch (BackendUnavailableException | LockNotAcquiredException e) {
                if (attempt == WARM_UPS) {
                    throw e;
                }
            }
        }
    }

    private interface Use {
        void of(Locks locks) throws IOException, InterruptedException;
    }

    private static void with(Access access, LockOptions options, Use use) throws IOException, InterruptedException {
        if (access.detours().isEmpty()) {
            try (Locks locks = access.connect(options)) {
                use.of(locks);
            }
            return;
        }
        ClientResources resources = access.resources();
        try (Locks locks = access.connect(resources, options)) {
            use.of(locks);
        } finally {
            resources.shutdown(0, 0, TimeUnit.SECONDS).awaitUninterruptibly();
        }
    }

    private void run() throws IOException, InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < Clients.THREADS; i++) {
            int seed = i;
            threads.add(started("worker-" + i, () -> work(new Random(seed))));
        }
        Thread control = started("control", this::watch);
        System.out.println("clock " + System.nanoTime());
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); !"stop".equals(line); line = lines.readLine()) {
            if (line == null) {
                throw new IllegalStateException("The run ended without saying stop.");
            }
            if (line.equals("threads")) {
                System.out.println("threads now: " + Footprint.threads().encode());
            }
        }
        stop.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        quiet.countDown();
        control.join();
        System.out.println("stopped");
    }

    private static Thread started(String name, Step step) {
        Thread thread = new Thread(
                () -> {
                    try {
                        step.run();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException("Nobody interrupts the threads of a client.", e);
                    }
                },
                name);
        thread.start();
        return thread;
    }

    private interface Step {
        void run() throws InterruptedException;
    }

    private void work(Random random) throws InterruptedException {
        do {
            LockName name = LockName.parse(Clients.LOCKS.get(random.nextInt(Clients.LOCKS.size())));
            long began = System.nanoTime();
            try {
                FencedLease lease = locks.fenced(name).acquire();
                long granted = System.nanoTime();
                stop.await(1L + random.nextInt(LONGEST_HOLD_MILLIS), TimeUnit.MILLISECONDS);
                long released = System.nanoTime();
                lease.close();
                journal.grant(lease.token(), began, granted, released, System.nanoTime());
            } catch (RuntimeException e) {
                journal.refusal(
                        name.toString(), began, System.nanoTime(), e.getClass().getSimpleName());
            }
        } while (!stop.await(random.nextInt(LONGEST_PAUSE_MILLIS), TimeUnit.MILLISECONDS));
    }

    /** Does nothing but notice that it did not run when it should have. */
    private void watch() throws InterruptedException {
        long last = System.nanoTime();
        while (!quiet.await(TICK_MILLIS, TimeUnit.MILLISECONDS)) {
            long now = System.nanoTime();
            if (now - last > TimeUnit.MILLISECONDS.toNanos(2 * TICK_MILLIS)) {
                journal.stall(last + TimeUnit.MILLISECONDS.toNanos(TICK_MILLIS), now);
            }
            last = now;
        }
    }

    private static Set<Thread> awaitThreadsOfNettyToEnd() throws InterruptedException {
        awaitNone(() -> alive().stream()
                .filter(thread -> thread.getName().matches("(lettuce|fenceline|globalEventExecutor).*"))
                .map(Thread::getName)
                .toList());
        return alive();
    }

    private static List<String> awaitThreadsToEnd(Set<Thread> before) throws InterruptedException {
        return awaitNone(() -> alive().stream()
                .filter(thread -> !before.contains(thread))
                .map(Thread::getName)
                .sorted()
                .toList());
    }

    private interface Names {
        List<String> now();
    }

    /** Returns what is left when the time is over. */
    private static List<String> awaitNone(Names names) throws InterruptedException {
        long deadline = System.nanoTime() + THREADS_END.toNanos();
        CountDownLatch never = new CountDownLatch(1);
        List<String> left = names.now();
        while (!left.isEmpty() && System.nanoTime() < deadline) {
            never.await(TICK_MILLIS, TimeUnit.MILLISECONDS);
            left = names.now();
        }
        return left;
    }

    private static Set<Thread> alive() {
        Set<Thread> alive = new HashSet<>(Thread.getAllStackTraces().keySet());
        alive.removeIf(thread -> !thread.isAlive());
        return alive;
    }
}
