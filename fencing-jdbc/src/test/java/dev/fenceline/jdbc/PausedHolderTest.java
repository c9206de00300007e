package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.FencedLease;
import dev.fenceline.FencedLock;
import dev.fenceline.FencelineListener;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.StaleTokenException;
import dev.fenceline.lock.RedisLocks;
import dev.fenceline.testkit.ChildJvm;
import dev.fenceline.testkit.SharedServers;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;
import org.postgresql.ds.PGSimpleDataSource;

/** A holder that is stopped inside its transaction keeps others out no longer than configured, and is refused when it wakes. */
@Tag("server")
class PausedHolderTest {

    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final Duration LIMIT = Duration.ofSeconds(30);

    static TestDatabase database;

    LockName name;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
    }

    @BeforeEach
    void account() {
        name = Grants.freshLock();
        database.account(1, 100);
    }

    /** A process that enters and then waits inside the transaction; in the second mode in the middle of a result. */
    public static final class Holder {

        private Holder() {}

        public static void main(String[] args) throws Exception {
            PGSimpleDataSource source = new PGSimpleDataSource();
            source.setUrl(args[1]);
            source.setUser(args[2]);
            source.setApplicationName("holder");
            BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            LockOptions options = LockOptions.builder()
                    .lease(LEASE)
                    .masterClockSkew(Duration.ZERO)
                    .listener(FencelineListener.none())
                    .build();
            try (Locks locks = RedisLocks.connect(args[0], options);
                    FencedLease lease = locks.fenced(LockName.parse(args[3])).acquire()) {
                Claim<Connection> claim = PostgresFence.on(source).claim(lease);
                claim.useTransaction(c -> hold(c, args[4], orders));
                System.out.println("COMMITTED");
            } catch (StaleTokenException e) {
                System.out.println("STALE " + e.getMessage());
            }
        }

        private static void hold(Connection c, String mode, BufferedReader orders) throws SQLException, IOException {
            TestDatabase.write(c, 1, 0);
            if (mode.equals("in-result")) {
                var copy = c.unwrap(PGConnection.class)
                        .getCopyAPI()
                        .copyOut("COPY (SELECT repeat('x', 1000) FROM generate_series(1, 1000000)) TO STDOUT");
                copy.readFromCopy();
            }
            System.out.println("INSIDE");
            orders.readLine();
            TestDatabase.write(c, 1, 1);
        }
    }

    private ChildJvm holder(String mode) {
        ChildJvm child = ChildJvm.start(
                Holder.class,
                SharedServers.redis().uri(),
                database.server().jdbcUrl(database.name()),
                database.server().superuser(),
                name.toString(),
                mode);
        child.awaitLine("INSIDE", LIMIT);
        return child;
    }

    private Duration newcomerTakesOver() throws InterruptedException {
        FencedLock lock = Grants.lock(name);
        long begun = System.nanoTime();
        try (FencedLease lease = lock.acquireWithin(LIMIT)) {
            Claim<Connection> claim = PostgresFence.on(database.source()).claim(lease);
            JdbcWork.add(claim, 1, 10);
        }
        return Duration.ofNanos(System.nanoTime() - begun);
    }

    @Test
    void aHolderPausedInsideItsTransactionBlocksForAboutALeaseAndIsRefusedAfterwards() throws Exception {
        try (ChildJvm child = holder("idle")) {
            child.pause();
            assertThat(child.state()).isEqualTo('T');

            Duration blocked = newcomerTakesOver();

            // A lease for the lock, which runs at the same time as a lease for the guard row, and something for a slow
            // machine.
            assertThat(blocked).isLessThan(LEASE.multipliedBy(2).plusSeconds(3));
            assertThat(child.state()).isEqualTo('T');
            assertThat(database.balance(1)).isEqualTo(110);
            child.resume();
            child.send("go on");
            assertThat(child.awaitLine("STALE", LIMIT))
                    .contains("Transaction on PostgreSQL guard '" + name + "' refused: token ")
                    .contains("A newer holder has taken over");
        }
        assertThat(database.balance(1)).isEqualTo(110);
    }

    @Test
    void aHolderPausedInTheMiddleOfAResultIsFreedByTheServersSocket() throws Exception {
        try (ChildJvm child = holder("in-result")) {
            child.pause();
            TestDatabase.await(
                    "the server waits for the holder to read on",
                    () -> database.number("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'holder'"
                                    + " AND datname = '" + database.name() + "' AND wait_event = 'ClientWrite'")
                            == 1);

            Duration blocked = newcomerTakesOver();

            // The kernel looks at the limit when it probes the closed window, at growing intervals.
            assertThat(blocked).isLessThan(LEASE.multipliedBy(3).plusSeconds(4));
            assertThat(child.state()).isEqualTo('T');
        }
        assertThat(database.balance(1)).isEqualTo(110);
    }
}
