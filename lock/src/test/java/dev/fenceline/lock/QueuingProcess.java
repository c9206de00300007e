package dev.fenceline.lock;

import dev.fenceline.FencedLease;
import dev.fenceline.FencedLock;
import dev.fenceline.FencelineListener;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;

/**
 * A process whose threads take one lock again and again. Arguments: URI, key prefix, lease in ms, threads, grants for each thread,
 * how long each is held in ms. Says {@code ready}, begins when told to, and then says of each grant its token and when it was asked for and
 * granted: by {@link System#nanoTime()}, which all processes of one Linux machine share.
 */
public final class QueuingProcess {

    private QueuingProcess() {}

    /** One grant: the order of tokens is the order of grants. */
    record Turn(long token, long asked, long granted) {

        static Turn parse(String line) {
            List<String> parts = List.of(line.split(" ", 4));
            return new Turn(Long.parseLong(parts.get(1)), Long.parseLong(parts.get(2)), Long.parseLong(parts.get(3)));
        }

        @Override
        public String toString() {
            return "turn " + token + " " + asked + " " + granted;
        }
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        LockOptions options = LockOptions.builder()
                .keyPrefix(args[1])
                .lease(Duration.ofMillis(Long.parseLong(args[2])))
                .maxWait(Duration.ofMinutes(1))
                .application("queues")
                .listener(FencelineListener.none())
                .build();
        int threads = Integer.parseInt(args[3]);
        int grants = Integer.parseInt(args[4]);
        Duration hold = Duration.ofMillis(Long.parseLong(args[5]));
        try (Locks locks = RedisLocks.connect(args[0], options)) {
            FencedLock lock = locks.fenced(Fixture.ACCOUNT);
            System.out.println("ready");
            BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            lines.readLine();
            List<Turn> turns = new ArrayList<>();
            for (WaitingThread<List<Turn>> worker : start(lock, threads, grants, hold)) {
                turns.addAll(result(worker));
            }
            turns.forEach(System.out::println);
            System.out.println("done");
            lines.readLine();
        }
    }

    static List<WaitingThread<List<Turn>>> start(FencedLock lock, int threads, int grants, Duration hold) {
        List<WaitingThread<List<Turn>>> workers = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            workers.add(WaitingThread.start(() -> turns(lock, grants, hold.toNanos())));
        }
        return workers;
    }

    private static List<Turn> turns(FencedLock lock, int grants, long holdNanos)
            throws InterruptedException, ExecutionException {
        List<Turn> turns = new ArrayList<>();
        for (int i = 0; i < grants; i++) {
            // It stands in the queue when this returns. A thread that the machine puts aside before that does not wait
            // yet.
            CompletableFuture<FencedLease> turn = lock.acquireAsync();
            long asked = System.nanoTime();
            try (FencedLease lease = turn.get()) {
                long granted = System.nanoTime();
                turns.add(new Turn(lease.token().value(), asked, granted));
                while (System.nanoTime() - granted < holdNanos) {
                    LockSupport.parkNanos(holdNanos - (System.nanoTime() - granted));
                }
            }
        }
        return turns;
    }

    static List<Turn> result(WaitingThread<List<Turn>> worker) {
        try {
            return worker.result();
        } catch (Exception e) {
            throw new IllegalStateException("A thread that queues failed.", e);
        }
    }
}
