package dev.fenceline.migrations;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Something that another thread does, while a test stands in its way. */
final class Work implements AutoCloseable {

    private static final int LIMIT_SECONDS = 60;

    private final ExecutorService thread = Executors.newSingleThreadExecutor();
    private final Callable<?> task;
    private Future<?> running;

    private Work(Callable<?> task) {
        this.task = task;
    }

    /** Prepares it; {@link #go} begins it. */
    static Work of(Callable<?> task) {
        return new Work(task);
    }

    Work go() {
        running = thread.submit(task);
        return this;
    }

    /** Until a session with this application_name waits for a lock; it must not have ended before. */
    void awaitWaiting(Database database, String application) {
        Waits.until(
                "a session of '" + application + "' waits for a lock",
                () -> running.isDone()
                        || !database.rows("SELECT 1 FROM pg_stat_activity WHERE datname = current_database()"
                                        + " AND application_name = '" + application + "' AND wait_event_type = 'Lock'")
                                .isEmpty());
        if (running.isDone()) {
            throw new AssertionError("'" + application + "' has ended, and has waited for nobody.");
        }
    }

    Object result() throws Exception {
        return running.get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
