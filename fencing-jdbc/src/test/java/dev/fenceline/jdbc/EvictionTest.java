package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.fenceline.FencelineEvent.BlockerEvicted;
import dev.fenceline.FencingToken;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.migrations.FenceMigrations;
import dev.fenceline.testkit.ChildJvm;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** A claim ends the session that keeps it out, and no other. */
@Tag("server")
class EvictionTest extends TwoGrants {

    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final Duration WAIT = Duration.ofMillis(700);

    final ExecutorService threads = Executors.newCachedThreadPool();
    final RecordedEvents events = new RecordedEvents();

    @AfterEach
    void stop() {
        threads.shutdownNow();
    }

    /** A process that is stopped while it reads a large result, inside of its transaction. */
    public static final class Reader {

        private Reader() {}

        public static void main(String[] args) throws Exception {
            PGSimpleDataSource source = new PGSimpleDataSource();
            source.setUrl(args[0]);
            source.setUser(args[1]);
            source.setApplicationName("reader");
            // The timeouts that are said to free such a lock: they do not, though they are shorter than a claim waits.
            source.setOptions("-c idle_in_transaction_session_timeout=600 -c lock_timeout=600 -c statement_timeout=0");
            BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            PostgresFence fence = PostgresFence.on(source);
            if (args[3].equals("concurrent")) {
                fence = fence.concurrent();
            }
            try {
                fence.resume(FencingToken.parse(args[2])).useTransaction(c -> {
                    try (Statement statement = c.createStatement()) {
                        statement.execute("UPDATE account SET balance = 0 WHERE id = 1");
                        statement.setFetchSize(1_000_000);
                        statement.executeQuery("SELECT repeat('x', 1000) FROM generate_series(1, 1000000)");
                    }
                });
                System.out.println("COMMITTED " + orders.readLine());
            } catch (StaleTokenException e) {
                System.out.println("STALE " + e.getMessage());
            }
        }
    }

    private ChildJvm stoppedReader(String mode) {
        ChildJvm child = ChildJvm.start(
                Reader.class,
                database.server().jdbcUrl(database.name()),
                database.server().superuser(),
                older.encode(),
                mode);
        // Stopped a moment earlier, it would be idle, and a timeout would free the lock.
        awaitReader("has sent the query", "state = 'active' AND query LIKE 'SELECT repeat%'");
        child.pause();
        awaitReader("is waited for by the server", "wait_event = 'ClientWrite'");
        return child;
    }

    private static void awaitReader(String what, String condition) {
        TestDatabase.await(
                "the reader " + what,
                () -> database.number("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'reader'"
                                + " AND datname = '" + database.name() + "' AND " + condition)
                        == 1);
    }

    private static int pid(String applicationName) {
        return (int) database.number("SELECT pid FROM pg_stat_activity WHERE datname = '" + database.name()
                + "' AND application_name = '" + applicationName + "'");
    }

    private static HikariDataSource poolOfOne() {
        HikariConfig config = new HikariConfig();
        config.setDataSource(database.sourceNamed("newcomer"));
        config.setMaximumPoolSize(1);
        config.setConnectionTimeout(Duration.ofSeconds(3).toMillis());
        return new HikariDataSource(config);
    }

    @ParameterizedTest
    @ValueSource(strings = {"alone", "concurrent"})
    void aHolderStoppedInTheMiddleOfAResultIsFreedByEvictionAndNotByTheTimeouts(String mode) {
        PostgresFence.on(database.source()).claim(older);
        try (ChildJvm child = stoppedReader(mode);
                HikariDataSource pool = poolOfOne()) {
            int pid = pid("reader");
            PostgresFence patient = PostgresFence.on(pool).claimTimeout(WAIT).listener(events);

            assertThatThrownBy(() -> patient.claim(newer))
                    .isInstanceOf(RetryableConflictException.class)
                    .hasMessage("Claim of token " + newer + " on PostgreSQL guard '" + older.lock()
                            + "' was blocked for longer than 700 ms, by pid " + pid
                            + ", application_name 'reader'. Nothing happened. While the lease runs, claim again with the"
                            + " same token.");
            Claim<Connection> claim = patient.evictBlockers().claim(newer);
            JdbcWork.add(claim, 1, 10);

            assertThat(events.of(BlockerEvicted.class))
                    .containsExactly(
                            new BlockerEvicted("PostgreSQL guard '" + older.lock() + "'", newer, pid, "reader"));
            assertThat(child.state()).as("it is stopped all the time").isEqualTo('T');
            child.resume();
            assertThat(child.awaitLine("STALE", LIMIT)).contains("token " + older + " is older by");
        }
        assertThat(database.balance(1)).isEqualTo(110);
    }

    /** A transaction of this process that has entered and is open until the test ends it. */
    private Future<?> open(PostgresFence fence, FencingToken token, CountDownLatch entered, CountDownLatch letGo) {
        return threads.submit(() -> {
            fence.resume(token).useTransaction(c -> {
                TestDatabase.read(c, 1);
                entered.countDown();
                assertThat(letGo.await(20, TimeUnit.SECONDS)).isTrue();
            });
            return null;
        });
    }

    @Test
    void nobodyIsEndedWhoseTransactionIsYoungerThanTheWaitOrUnderTheSameToken() throws Exception {
        PostgresFence evicting = PostgresFence.on(database.source())
                .claimTimeout(WAIT)
                .evictBlockers()
                .listener(events);
        evicting.claim(older);
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch letGo = new CountDownLatch(1);
        Future<?> holder = open(PostgresFence.on(database.sourceNamed("holder")), older, entered, letGo);
        assertThat(entered.await(20, TimeUnit.SECONDS)).isTrue();
        int pid = pid("holder");

        assertThatThrownBy(() -> evicting.claim(older))
                .as("the same claim, sent again")
                .isInstanceOf(RetryableConflictException.class)
                .hasMessageContaining(
                        "by pid " + pid + ", application_name 'holder'. evictBlockers has ended no session. It"
                                + " ends those that keep the mark under an older token, began their transaction before this wait,"
                                + " and belong to a role that ours may end. Nothing happened.");
        try (Connection connection = database.source().getConnection()) {
            assertThat(Blockers.endOne(connection, Tokens.of(newer), Duration.ofHours(1)))
                    .as("a wait that began before the transaction did")
                    .isEmpty();
            assertThat(Blockers.names(connection, Tokens.of(newer))).contains("pid " + pid);
        }
        letGo.countDown();
        holder.get(20, TimeUnit.SECONDS);
        try (Connection connection = database.source().getConnection()) {
            assertThat(Blockers.endOne(connection, Tokens.of(newer), Duration.ofMillis(1)))
                    .as("it has ended by itself")
                    .isEmpty();
        }
        assertThat(events.of(BlockerEvicted.class)).isEmpty();
    }

    @Test
    void ofTransactionsBesideEachOtherAllAreEndedAndThoseOfOtherLocksAreNot() throws Exception {
        PostgresFence fence = PostgresFence.on(database.source()).concurrent();
        fence.claim(older);
        FencingToken other = Grants.next(Grants.freshLock());
        fence.claim(other);
        CountDownLatch entered = new CountDownLatch(3);
        CountDownLatch letGo = new CountDownLatch(1);
        Future<?> one = open(PostgresFence.on(database.sourceNamed("one")).concurrent(), older, entered, letGo);
        Future<?> two = open(PostgresFence.on(database.sourceNamed("two")).concurrent(), older, entered, letGo);
        Future<?> innocent =
                open(PostgresFence.on(database.sourceNamed("innocent")).concurrent(), other, entered, letGo);
        assertThat(entered.await(20, TimeUnit.SECONDS)).isTrue();

        fence.claimTimeout(WAIT).evictBlockers().listener(events).claim(newer);

        assertThat(events.of(BlockerEvicted.class))
                .extracting(BlockerEvicted::applicationName)
                .containsExactlyInAnyOrder("one", "two");
        letGo.countDown();
        innocent.get(20, TimeUnit.SECONDS);
        for (Future<?> ended : java.util.List.of(one, two)) {
            assertThatThrownBy(() -> ended.get(20, TimeUnit.SECONDS)).cause().isInstanceOf(StaleTokenException.class);
        }
    }

    @Test
    void aSessionOfAnotherRoleIsLeftAlone() throws SQLException {
        String role = "evictor_" + database.name();
        database.execute("CREATE ROLE " + role + " LOGIN; GRANT SELECT, UPDATE ON account TO " + role);
        FenceMigrations.on(database.source()).grantTo(role);
        PostgresFence evicting = PostgresFence.on(database.server().dataSource(database.name(), role))
                .claimTimeout(WAIT)
                .evictBlockers()
                .listener(events);

        PostgresFence.on(database.sourceNamed("of-another-role")).claim(older).useTransaction(c -> {
            assertThat(TestDatabase.read(c, 1)).isEqualTo(100);
            assertThatThrownBy(() -> evicting.claim(newer))
                    .isInstanceOf(RetryableConflictException.class)
                    .hasMessageContaining("application_name 'of-another-role'. evictBlockers has ended no session");
        });
        assertThat(events.of(BlockerEvicted.class)).isEmpty();
    }

    @Test
    void whoLooksAtTheNumberOfALockerAloneMayTakeAnotherSessionForIt() throws SQLException {
        // The control: xmax may be the number of a list of lockers, which is counted apart from transactions.
        PostgresFence.on(database.source()).claim(older);
        String share = "SELECT 1 FROM fenceline.guard WHERE lock = '" + older.lock() + "' FOR SHARE";
        try (Connection one = database.source().getConnection();
                Connection two = database.source().getConnection()) {
            one.setAutoCommit(false);
            two.setAutoCommit(false);
            one.createStatement().execute(share);
            two.createStatement().execute(share);
            try (ResultSet row = one.createStatement()
                    .executeQuery("SELECT xmax::text, pg_current_xact_id()::text FROM fenceline.guard WHERE lock = '"
                            + older.lock() + "'")) {
                row.next();
                assertThat(row.getString(1)).as("not the number of its locker").isNotEqualTo(row.getString(2));
            }
        }
    }
}
