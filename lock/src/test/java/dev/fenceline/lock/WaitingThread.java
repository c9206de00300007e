package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.eventually;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/** A thread that waits for a lock, and what became of it. */
final class WaitingThread<T> {

    private final FutureTask<T> task;
    private final Thread thread;

    private WaitingThread(Callable<T> work) {
        task = new FutureTask<>(work);
        thread = new Thread(task, "waits-for-a-lock");
        thread.setDaemon(true);
    }

    static <T> WaitingThread<T> start(Callable<T> work) {
        WaitingThread<T> waiting = new WaitingThread<>(work);
        waiting.thread.start();
        return waiting;
    }

    void awaitBlocked() {
        eventually("the thread waits", () -> thread.getState() == Thread.State.TIMED_WAITING && !task.isDone());
    }

    void interrupt() {
        thread.interrupt();
    }

    /** What the work returned or threw. */
    T result() throws Exception {
        return end(Duration.ofSeconds(30));
    }

    T end(Duration limit) throws Exception {
        try {
            return task.get(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception cause) {
                throw cause;
            }
            throw e;
        }
    }
}
