package dev.fenceline.lock;

import dev.fenceline.FencelineEvent;
import dev.fenceline.FencelineListener;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The thread on which the code of users runs when something happens in the background, one notice after the other in the
 * order in which things happened. It is not the thread that renews, since a listener that is slow would cost every lease.
 *
 * <p>What waits is bounded: where a listener does not keep up, or never returns, further notices are left out, and the
 * uncaught exception handler is told so once.
 */
final class Notices {

    static final String THREAD = "fenceline-lock-events";
    static final int MOST_WAITING = 10_000;

    private final FencelineListener listener;
    private final ThreadPoolExecutor executor;
    private final AtomicBoolean overflown = new AtomicBoolean();
    private volatile boolean closed;

    Notices(FencelineListener listener) {
        this.listener = listener;
        this.executor =
                new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(MOST_WAITING), task -> {
                    Thread thread = new Thread(task, THREAD);
                    thread.setDaemon(true);
                    return thread;
                });
    }

    void tell(FencelineEvent event) {
        run(() -> listener.tell(event));
    }

    void run(Runnable notice) {
        try {
            executor.execute(() -> runSafely(notice));
        } catch (RejectedExecutionException e) {
            if (!closed && overflown.compareAndSet(false, true)) {
                report(new IllegalStateException(
                        "A listener or an onLost callback of these locks does not keep up: " + MOST_WAITING
                                + " notices wait. Further ones are left out; leases are renewed as before.",
                        e));
            }
        }
    }

    /** Tells what waits, as far as that is possible within the limit. No thread is left, unless a listener ignores interrupts. */
    void close(Duration limit) {
        closed = true;
        executor.shutdown();
        boolean interrupted = false;
        try {
            // Whoever closes from a callback is on that thread, and would wait for itself.
            boolean onIt = Thread.currentThread().getName().equals(THREAD);
            boolean unused = executor.awaitTermination(onIt ? 0 : limit.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            interrupted = true;
        }
        var unused = executor.shutdownNow();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Gives what a step throws to the handler, where it can be seen; an executor would swallow it. */
    static void runSafely(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            report(e);
        }
    }

    private static void report(Throwable thrown) {
        Thread thread = Thread.currentThread();
        thread.getUncaughtExceptionHandler().uncaughtException(thread, thrown);
    }
}
