package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.RetryableConflictException;
import dev.fenceline.StaleTokenException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** No update is lost, and each naive variant beside it loses one. */
@Tag("server")
class LostUpdateTest extends TwoGrants {

    final ExecutorService threads = Executors.newCachedThreadPool();

    @BeforeAll
    static void createStamped() {
        database.execute("CREATE TABLE stamped (id int PRIMARY KEY, balance bigint, token bigint NOT NULL)");
    }

    @BeforeEach
    void accounts() {
        database.account(2, 100);
        database.execute(
                "INSERT INTO stamped VALUES (1, 100, 0) ON CONFLICT (id) DO UPDATE SET balance = 100, token = 0");
    }

    @AfterEach
    void stop() {
        threads.shutdownNow();
    }

    // A is paused after its read; B takes the lock and reads; A wakes up and writes; B writes.

    @Test
    void withoutACheckTheLateWriteIsLost() {
        long readByA = database.balance(1);
        long readByB = database.balance(1);
        database.execute("UPDATE account SET balance = " + (readByA + 10));
        database.execute("UPDATE account SET balance = " + (readByB + 20));

        assertThat(database.balance(1))
                .as("10 of A's were accepted and are gone")
                .isEqualTo(120);
    }

    @Test
    void withTheFolkloreCheckTheLateWriteIsAcceptedAndLost() {
        long readByA = database.number("SELECT balance FROM stamped");
        long readByB = database.number("SELECT balance FROM stamped");
        String write =
                "WITH w AS (UPDATE stamped SET balance = %d, token = %d WHERE id = 1 AND token <= %2$d RETURNING 1)"
                        + " SELECT count(*) FROM w";

        assertThat(database.number(String.format(write, readByA + 10, older.value())))
                .as("token >= stored admits A, since B has not written yet")
                .isEqualTo(1);
        assertThat(database.number(String.format(write, readByB + 20, newer.value())))
                .isEqualTo(1);

        assertThat(database.number("SELECT balance FROM stamped"))
                .as("10 of A's were accepted and are gone")
                .isEqualTo(120);
    }

    @Test
    void withClaimAndEqualityTheLateWriteIsRefused() throws SQLException {
        PostgresFence fence = PostgresFence.on(database.source());
        Claim<Connection> a = fence.claim(older);
        long readByA = a.inTransaction(c -> TestDatabase.read(c, 1));
        Claim<Connection> b = fence.claim(newer);
        long readByB = b.inTransaction(c -> TestDatabase.read(c, 1));

        assertThatThrownBy(() -> a.useTransaction(c -> TestDatabase.write(c, 1, readByA + 10)))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageContaining("token " + older + " is older by");
        b.useTransaction(c -> TestDatabase.write(c, 1, readByB + 20));

        assertThat(database.balance(1)).as("every accepted update").isEqualTo(120);
    }

    @Test
    void aNewerClaimWaitsForTheTransactionOfAnOlderOneAndReadsWhatItWrote() throws Exception {
        PostgresFence fence = PostgresFence.on(database.source());
        PostgresFence newcomer = PostgresFence.on(database.sourceNamed("newcomer"));
        Claim<Connection> a = fence.claim(older);
        Future<Long> read = a.inTransaction(c -> {
            long balance = TestDatabase.read(c, 1);
            Future<Long> readByB =
                    threads.submit(() -> newcomer.claim(newer).inTransaction(other -> TestDatabase.read(other, 1)));
            database.awaitLockWait("newcomer");
            TestDatabase.write(c, 1, balance + 10);
            return readByB;
        });

        assertThat(read.get(20, TimeUnit.SECONDS)).isEqualTo(110);
    }

    // Two threads under one claim: a parallel stream, a resumed request.

    @Test
    void twoTransactionsOfOneClaimLoseNothing() throws Exception {
        Claim<Connection> claim = PostgresFence.on(database.source()).claim(older);

        Race.of(8, turn -> {
            for (int i = 0; i < 25; i++) {
                JdbcWork.add(claim, 1, 1);
            }
        });

        assertThat(database.balance(1)).isEqualTo(300);
    }

    @Test
    void withAShareLockTwoTransactionsOfOneClaimLoseAnUpdate() throws Exception {
        PostgresFence.on(database.source()).claim(older);
        CountDownLatch bothHaveRead = new CountDownLatch(2);

        Race.of(2, turn -> {
            try (Connection connection = database.source().getConnection();
                    Statement statement = connection.createStatement()) {
                connection.setAutoCommit(false);
                statement.execute("SELECT 1 FROM fenceline.guard WHERE lock = '" + older.lock() + "' AND token = "
                        + older.value() + " AND holder = '" + older.holder() + "' FOR SHARE");
                long balance = TestDatabase.read(connection, 1);
                bothHaveRead.countDown();
                assertThat(bothHaveRead.await(20, TimeUnit.SECONDS)).isTrue();
                TestDatabase.write(connection, 1, balance + 10);
                connection.commit();
            }
        });

        assertThat(database.balance(1)).as("100 + 10 + 10").isEqualTo(110);
    }

    // Above READ COMMITTED the snapshot is taken before the lock is waited for: 100 moves from account 1 to account 2,
    // twice.

    @ParameterizedTest
    @CsvSource({
        "repeatable read, repeatable read",
        "read committed, repeatable read",
        "read committed, serializable",
        "repeatable read, serializable",
        "serializable, repeatable read",
        "serializable, serializable",
    })
    void aTransactionAboveReadCommittedThatWaitedForAnotherOfItsClaimIsRetried(String first, String second)
            throws Exception {
        Claim<Connection> late = PostgresFence.on(at(second, "second")).claim(older);

        assertThatThrownBy(() -> moveWhileWaiting(at(first, "first"), late).get(20, TimeUnit.SECONDS))
                .cause()
                .isInstanceOf(RetryableConflictException.class)
                .hasMessageContaining(
                        "rolled back: it could not enter: ERROR: could not serialize access due to concurrent"
                                + " update (SQLSTATE 40001). The claim is still good; run a new transaction under it");
        late.useTransaction(mine -> TestDatabase.write(mine, 2, TestDatabase.read(mine, 1) + 100));
        assertThat(database.balance(2)).isEqualTo(100);
    }

    @ParameterizedTest
    @ValueSource(strings = {"read committed", "repeatable read", "serializable"})
    void aReadCommittedTransactionThatWaitedForAnotherOfItsClaimReadsWhatItWrote(String first) throws Exception {
        Claim<Connection> late =
                PostgresFence.on(at("read committed", "second")).claim(older);

        moveWhileWaiting(at(first, "first"), late).get(20, TimeUnit.SECONDS);

        assertThat(database.balance(2)).isEqualTo(100);
    }

    private PGSimpleDataSource at(String isolation, String name) {
        var source = database.sourceNamed(name);
        source.setOptions("-c default_transaction_isolation=" + isolation.replace(" ", "\\ "));
        return source;
    }

    /** The first empties account 1; the second waits for it and copies what it reads there, plus 100, to account 2. */
    private Future<?> moveWhileWaiting(PGSimpleDataSource source, Claim<Connection> second) throws SQLException {
        return PostgresFence.on(source).resume(older).inTransaction(c -> {
            // Enters.
            assertThat(TestDatabase.read(c, 1)).isEqualTo(100);
            Future<?> other = threads.submit(() -> {
                second.useTransaction(mine -> TestDatabase.write(mine, 2, TestDatabase.read(mine, 1) + 100));
                return null;
            });
            database.awaitLockWait("second");
            TestDatabase.write(c, 1, 0);
            return other;
        });
    }

    @Test
    void withALockAloneATransactionUnderRepeatableReadWorksOnAnOldState() throws Exception {
        String lockIt = "SELECT 1 FROM fenceline.guard WHERE lock = '" + older.lock() + "' FOR NO KEY UPDATE";
        PostgresFence.on(database.source()).claim(older);
        try (Connection first = database.source().getConnection();
                Connection second = database.sourceNamed("second").getConnection()) {
            first.setAutoCommit(false);
            second.setAutoCommit(false);
            second.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            first.createStatement().execute(lockIt);
            Future<?> late = threads.submit(() -> {
                second.createStatement().execute(lockIt);
                TestDatabase.write(second, 2, TestDatabase.read(second, 1) + 100);
                second.commit();
                return null;
            });
            database.awaitLockWait("second");
            TestDatabase.write(first, 1, 0);
            first.commit();
            late.get(20, TimeUnit.SECONDS);
        }

        assertThat(database.balance(2)).as("based on a balance that was gone").isEqualTo(200);
    }
}
