package dev.fenceline.jdbc.samples;

import dev.fenceline.FencelineEvent;
import dev.fenceline.FencelineListener;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import javax.sql.DataSource;

/**
 * Two changes of one row at the same time. The row is kept locked until as many of them as nothing keeps back have read it and stand
 * before their write, which the database itself tells; then it is let go.
 */
final class TwoAtOnce implements FencelineListener {

    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final AtomicInteger acquiring = new AtomicInteger();
    private final DataSource database;
    private final String row;

    /**
     * Makes a play.
     *
     * @param row its table and condition
     */
    TwoAtOnce(DataSource database, String row) {
        this.database = database;
        this.row = row;
    }

    @Override
    public void on(FencelineEvent event) {
        if (event instanceof FencelineEvent.AcquireStarted) {
            acquiring.incrementAndGet();
        }
    }

    /** Nothing keeps the second one back: both have read before either writes. */
    void unfenced(Callable<?> one, Callable<?> other) throws Exception {
        play(one, other, () -> sessionsWaitingForTheRow() == 2, "both have read and wait for the row");
    }

    /** One has read; the other waits for the lock, or will before it reads. */
    void fenced(Callable<?> one, Callable<?> other) throws Exception {
        acquiring.set(0);
        play(
                one,
                other,
                () -> sessionsWaitingForTheRow() == 1 && acquiring.get() >= 2,
                "one has read and waits for the row, the other for the lock");
    }

    private void play(Callable<?> one, Callable<?> other, BooleanSupplier ready, String what) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try (Connection holder = database.getConnection();
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            statement.execute("SELECT 1 FROM " + row + " FOR UPDATE");
            Future<?> first = threads.submit(one);
            Future<?> second = threads.submit(other);
            await(what, ready, first, second);
            holder.rollback();
            first.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
            second.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        } finally {
            threads.shutdownNow();
        }
    }

    private static void await(String what, BooleanSupplier condition, Future<?> first, Future<?> second)
            throws Exception {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        while (!condition.getAsBoolean()) {
            for (Future<?> each : new Future<?>[] {first, second}) {
                if (each.isDone()) {
                    each.get();
                    throw new IllegalStateException("One has ended although the row is locked; awaited: " + what + ".");
                }
            }
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException("Waited " + LIMIT.toSeconds() + " s in vain: " + what + ".");
            }
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }

    private int sessionsWaitingForTheRow() {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement();
                ResultSet count = statement.executeQuery("SELECT count(*) FROM pg_stat_activity"
                        + " WHERE datname = current_database() AND wait_event_type = 'Lock'")) {
            count.next();
            return count.getInt(1);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
