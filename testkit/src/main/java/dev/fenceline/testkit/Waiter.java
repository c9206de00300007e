package dev.fenceline.testkit;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/** A thread of a contract that may wait for a lock, with what became of it. */
final class Waiter {

    /** Work that may wait. */
    interface Work {
        void run() throws InterruptedException;
    }

    private final FutureTask<Boolean> task;
    private final Thread thread;

    private Waiter(Work work) {
        task = new FutureTask<>(() -> {
            work.run();
            return true;
        });
        thread = new Thread(task, "contract-waiter");
        thread.setDaemon(true);
    }

    static Waiter start(Work work) {
        Waiter waiter = new Waiter(work);
        waiter.thread.start();
        return waiter;
    }

    /** Returns when the thread waits for time to pass or for an answer, or has ended. */
    void awaitWaiting(Duration limit) {
        Polling.until("the thread waits for the lock", limit, () -> {
            Thread.State state = thread.getState();
            return task.isDone() || state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
        });
    }

    void interrupt() {
        thread.interrupt();
    }

    /** Returns when the work has ended well, or throws what it threw. */
    void outcome(Duration limit) throws Exception {
        try {
            task.get(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception cause) {
                throw cause;
            }
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            throw e;
        }
    }
}
