package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** A request for a lock that waits keeps out all who come after it; so it must not wait for long, whoever holds the table. */
@Tag("server")
class WaitingTest {

    private static final Database DATABASE = Database.prepared();
    private static final Duration LOCK_TIMEOUT = Duration.ofMillis(300);
    /** For a machine that has other things to do: more than any attempt, less than the reader that the naive form waits for. */
    private static final Duration ALLOWANCE = Duration.ofSeconds(6);

    private final ExecutorService pool = Executors.newCachedThreadPool();
    private final AtomicBoolean stop = new AtomicBoolean();
    private final AtomicInteger written = new AtomicInteger();
    private final AtomicLong longest = new AtomicLong();

    @BeforeEach
    void table() {
        DATABASE.execute("DROP TABLE IF EXISTS busy; CREATE TABLE busy (id int PRIMARY KEY, n int NOT NULL);"
                + " INSERT INTO busy SELECT i, 0 FROM generate_series(1, 100) i");
    }

    @AfterEach
    void stop() {
        stop.set(true);
        pool.shutdownNow();
    }

    private static DataSource named(String application) {
        PGSimpleDataSource source = (PGSimpleDataSource) DATABASE.server().dataSource(DATABASE.name());
        source.setApplicationName(application);
        return source;
    }

    /** Writes in short transactions, as an application does, and keeps the longest time that one took. */
    private Future<?> writer(int id) {
        return pool.submit(() -> {
            try (Connection connection = named("writer").getConnection();
                    PreparedStatement write = connection.prepareStatement("UPDATE busy SET n = n + 1 WHERE id = ?")) {
                write.setInt(1, id);
                while (!stop.get()) {
                    long begun = System.nanoTime();
                    write.executeUpdate();
                    longest.accumulateAndGet(System.nanoTime() - begun, Math::max);
                    written.incrementAndGet();
                }
            }
            return null;
        });
    }

    @Test
    void behindALongReaderWritersGoOnBetweenAttemptsAndNeverWaitLongerThanOne() throws Exception {
        List<Future<?>> writers = List.of(writer(1), writer(2));
        Waits.until("the writers write", () -> written.get() > 10);
        try (Connection reader = named("reader").getConnection();
                Statement read = reader.createStatement()) {
            reader.setAutoCommit(false);
            read.execute("SELECT count(*) FROM busy");
            AtomicInteger blocked = new AtomicInteger();
            AtomicReference<SQLException> failed = new AtomicReference<>();
            ApplyOptions options = ApplyOptions.builder()
                    .lockTimeout(LOCK_TIMEOUT)
                    .backOff(Duration.ofMillis(10))
                    .progress(event -> {
                        if (event.stage() == ApplyProgress.Stage.BLOCKED) {
                            int before = written.get();
                            Waits.until(
                                    "the writers go on while the reader still reads", () -> written.get() > before + 5);
                            if (blocked.incrementAndGet() == 4) {
                                try {
                                    reader.commit();
                                } catch (SQLException e) {
                                    failed.set(e);
                                }
                            }
                        }
                    })
                    .build();

            Applied applied = FenceMigrations.on(DATABASE.source())
                    .plan(AddColumns.table("busy"))
                    .apply(options);

            assertThat((Throwable) failed.get()).isNull();
            assertThat(blocked.get()).isGreaterThanOrEqualTo(4);
            assertThat(applied.with(Applied.Outcome.CHANGED)).hasSize(1);
        }
        int before = written.get();
        Waits.until("the writers go on afterwards", () -> written.get() > before + 5);
        stop.set(true);
        for (Future<?> writer : writers) {
            writer.get(30, TimeUnit.SECONDS);
        }
        assertThat(Duration.ofNanos(longest.get())).isLessThan(LOCK_TIMEOUT.plus(ALLOWANCE));
    }

    @Test
    void withoutALimitEverybodyWaitsForTheReaderTogether() throws Exception {
        try (Connection reader = named("reader").getConnection();
                Statement read = reader.createStatement()) {
            reader.setAutoCommit(false);
            read.execute("SELECT count(*) FROM busy");
            Future<?> naive = pool.submit(() -> {
                Database.run(named("naive"), "ALTER TABLE busy ADD COLUMN fence_token bigint NOT NULL DEFAULT 0");
                return null;
            });
            awaitWaiting("naive");
            Future<?> writer = writer(1);
            awaitWaiting("writer");

            assertThat(DATABASE.rows("SELECT b.application_name FROM pg_stat_activity w JOIN pg_stat_activity b"
                            + " ON b.pid = ANY (pg_blocking_pids(w.pid)) WHERE w.application_name = 'writer'"))
                    .as("who keeps the writer waiting")
                    .containsExactly("naive");
            assertThat(written).as("as long as the reader reads").hasValue(0);
            reader.commit();
            naive.get(30, TimeUnit.SECONDS);
            Waits.until("the writer writes at last", () -> written.get() > 0);
            stop.set(true);
            writer.get(30, TimeUnit.SECONDS);
        }
    }

    private static void awaitWaiting(String application) {
        Waits.until(
                DATABASE,
                "SELECT count(*) = 1 FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE NOT l.granted AND a.application_name = '"
                        + application + "'");
    }

    @Test
    void observingAndEnforcingWaitForNoReaderAtAll() throws Exception {
        try (Connection reader = named("reader").getConnection();
                Statement read = reader.createStatement()) {
            reader.setAutoCommit(false);
            read.execute("SELECT count(*) FROM busy");
            Protect.Locked busy = Protect.table("busy").lock("busy", "id");
            ApplyOptions once = ApplyOptions.builder().attempts(1).build();

            FenceMigrations.on(DATABASE.source()).plan(busy.observe()).apply(once);
            FenceMigrations.on(DATABASE.source()).plan(busy.enforce()).apply(once);
            Plan back = FenceMigrations.on(DATABASE.source()).plan(busy.observe());
            back.apply(once);

            read.execute("SELECT count(*) FROM busy");
        }
    }

    @Test
    void aWriterOfAnObservedTableIsNeverFailed() throws Exception {
        List<Future<?>> writers = List.of(writer(1), writer(2));
        Protect.Locked busy = Protect.table("busy").lock("busy", "id");
        for (Protect change : List.of(
                busy.observe(), Protect.table("busy").lock("other", "id").observe())) {
            FenceMigrations.on(DATABASE.source()).plan(change).apply(ApplyOptions.defaults());
            int before = written.get();
            Waits.until("the writers write", () -> written.get() > before + 20);
        }
        FenceMigrations.on(DATABASE.source()).plan(Unprotect.table("busy")).apply(ApplyOptions.defaults());
        stop.set(true);
        for (Future<?> writer : writers) {
            writer.get(30, TimeUnit.SECONDS);
        }
        assertThat(DATABASE.rows("SELECT count(*) > 20 FROM fenceline.violation WHERE application_name = 'writer'"))
                .containsExactly("t");
    }

    /**
     * Five partitions are held by five others, each of whom goes when he has been waited for 0.6 s. With a limit for each lock alone, the
     * first four partitions are locked for 2.4 s meanwhile, and all is granted after 3 s.
     */
    @Test
    void onAPartitionedTableTheLimitIsForAllPartitionsTogether() throws Exception {
        DATABASE.execute("DROP TABLE IF EXISTS parted; CREATE TABLE parted (id int) PARTITION BY RANGE (id)");
        for (int i = 0; i < 5; i++) {
            DATABASE.execute("CREATE TABLE parted_" + i + " PARTITION OF parted FOR VALUES FROM (" + i + ") TO ("
                    + (i + 1) + ")");
        }
        Duration limit = Duration.ofSeconds(2);

        Holders naive = new Holders();
        Database.run(
                named("protecting"),
                "BEGIN; SET LOCAL lock_timeout = '2s'; LOCK TABLE parted IN SHARE ROW EXCLUSIVE MODE; COMMIT");
        naive.awaitAllReleased();
        assertThat(naive.released())
                .as("waited for one after the other, 3 s in all")
                .isEqualTo(5);

        Holders ours = new Holders();
        AtomicInteger releasedInTime = new AtomicInteger();
        ApplyOptions options = ApplyOptions.builder()
                .lockTimeout(limit)
                .progress(event -> {
                    if (event.stage() == ApplyProgress.Stage.BLOCKED) {
                        releasedInTime.compareAndSet(0, ours.released());
                    }
                })
                .build();
        FenceMigrations.on(named("protecting"))
                .plan(Protect.table("parted").lock("parted", "id").observe())
                .apply(options);
        ours.awaitAllReleased();
        assertThat(releasedInTime.get()).as("when the first attempt ended").isBetween(1, 4);
    }

    /** Holds each partition, and lets it go when somebody has waited for it for 0.6 s. */
    private final class Holders {

        private final AtomicInteger released = new AtomicInteger();
        private final Future<?> releasing;

        Holders() throws SQLException {
            List<Connection> holders = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                Connection holder = named("holder").getConnection();
                holder.setAutoCommit(false);
                try (Statement hold = holder.createStatement()) {
                    hold.execute("LOCK TABLE parted_" + i + " IN ROW EXCLUSIVE MODE");
                }
                holders.add(holder);
            }
            releasing = pool.submit(() -> {
                for (int i = 0; i < 5; i++) {
                    Waits.until(
                            DATABASE,
                            "SELECT count(*) = 1 FROM pg_locks WHERE relation = 'parted_" + i
                                    + "'::regclass AND NOT granted AND clock_timestamp() - waitstart > interval '0.6 s'");
                    released.incrementAndGet();
                    holders.get(i).close();
                }
                return null;
            });
        }

        int released() {
            return released.get();
        }

        void awaitAllReleased() throws Exception {
            releasing.get(60, TimeUnit.SECONDS);
        }
    }
}
