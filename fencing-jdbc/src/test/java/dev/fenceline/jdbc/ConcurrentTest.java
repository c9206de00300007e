package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.StaleTokenException;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Transactions of one claim beside each other: newer claims stay out as before, and are not starved. */
@Tag("server")
class ConcurrentTest extends TwoGrants {

    private static final Duration LIMIT = Duration.ofSeconds(20);

    final ExecutorService threads = Executors.newCachedThreadPool();
    final List<String> order = new CopyOnWriteArrayList<>();
    PostgresFence fence;

    @BeforeEach
    void fence() {
        fence = PostgresFence.on(database.source()).concurrent();
        database.account(2, 100);
    }

    @AfterEach
    void stop() {
        threads.shutdownNow();
    }

    /** A transaction that has entered and stays open until it is let go. */
    private final class Open {

        private final CountDownLatch entered = new CountDownLatch(1);
        private final CountDownLatch letGo = new CountDownLatch(1);
        private final Future<?> ended;

        Open(String name, Claim<Connection> claim, int account) {
            ended = threads.submit(() -> {
                claim.useTransaction(c -> {
                    TestDatabase.write(c, account, 90);
                    order.add(name + " in");
                    entered.countDown();
                    await(letGo);
                    order.add(name + " out");
                });
                return null;
            });
        }

        Open isIn() {
            await(entered);
            return this;
        }

        void end() throws Exception {
            letGo.countDown();
            ended.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void transactionsOfOneClaimThatTouchDifferentRowsRunBesideEachOther() throws Exception {
        Claim<Connection> claim = fence.claim(older);
        CountDownLatch bothAreIn = new CountDownLatch(2);

        Race.of(
                2,
                turn -> claim.useTransaction(c -> {
                    TestDatabase.write(c, turn + 1, 110);
                    bothAreIn.countDown();
                    await(bothAreIn);
                }));

        assertThat(database.balance(1)).isEqualTo(110);
        assertThat(database.balance(2)).isEqualTo(110);
    }

    @Test
    void twoThreadsOfTheHolderThatReadBeforeTheyWriteLoseAnUpdate() throws Exception {
        // What concurrent() says that it does not do.
        Claim<Connection> claim = fence.claim(older);
        CountDownLatch bothHaveRead = new CountDownLatch(2);

        Race.of(
                2,
                turn -> claim.useTransaction(c -> {
                    long balance = TestDatabase.read(c, 1);
                    bothHaveRead.countDown();
                    await(bothHaveRead);
                    TestDatabase.write(c, 1, balance + 10);
                }));

        assertThat(database.balance(1)).as("100 + 10 + 10").isEqualTo(110);
    }

    @Test
    void aNewerClaimWaitsForThoseUnderWayAndForNoneThatComesAfterIt() throws Exception {
        Claim<Connection> claim = fence.claim(older);
        Claim<Connection> late =
                PostgresFence.on(database.sourceNamed("late")).concurrent().resume(older);
        PostgresFence newcomer = PostgresFence.on(database.sourceNamed("newcomer"));
        // Three that overlap: each enters before the one before has ended.
        Open first = new Open("first", claim, 2).isIn();
        Claim<Connection> beside = fence.resume(older);
        CountDownLatch secondWrites = new CountDownLatch(1);
        Future<?> second = threads.submit(() -> {
            beside.useTransaction(c -> {
                assertThat(TestDatabase.read(c, 1)).isEqualTo(100);
                order.add("second in");
                await(secondWrites);
                order.add("second out");
            });
            return null;
        });
        TestDatabase.await("the second is in", () -> order.contains("second in"));

        Future<Long> claimed = threads.submit(() -> {
            newcomer.claim(newer);
            order.add("claimed");
            return System.nanoTime();
        });
        database.awaitLockWait("newcomer");
        Future<?> third = threads.submit(() -> {
            late.useTransaction(c -> {
                TestDatabase.write(c, 1, 0);
                order.add("third in");
            });
            return null;
        });
        database.awaitLockWait("late");
        first.end();
        assertThat(claimed.isDone()).as("the second is under way").isFalse();
        long released = System.nanoTime();
        secondWrites.countDown();
        second.get(20, TimeUnit.SECONDS);
        long claimedAt = claimed.get(20, TimeUnit.SECONDS);

        assertThatThrownBy(() -> third.get(20, TimeUnit.SECONDS)).cause().isInstanceOf(StaleTokenException.class);
        assertThat(order).containsExactly("first in", "second in", "first out", "second out", "claimed");
        assertThat(database.balance(1)).isEqualTo(100);
        System.out.println("The new claim was admitted "
                + Duration.ofNanos(claimedAt - released).toMillis()
                + " ms after the longest transaction was told to end");
    }

    @Test
    void aClaimFromSqlLetsNoneThatComesAfterItInFrontOfItEither() throws Exception {
        Claim<Connection> claim = fence.claim(older);
        Claim<Connection> late =
                PostgresFence.on(database.sourceNamed("late")).concurrent().resume(older);
        Open first = new Open("first", claim, 2).isIn();
        Future<?> claimed = threads.submit(() -> {
            try (Connection connection = database.sourceNamed("psql").getConnection()) {
                return connection
                        .createStatement()
                        .execute("CALL fenceline.claim('" + newer.lock() + "', " + newer.value() + ", '"
                                + newer.holder() + "')");
            }
        });
        database.awaitLockWait("psql");
        Future<?> third = threads.submit(() -> {
            late.useTransaction(c -> TestDatabase.write(c, 1, 0));
            return null;
        });
        database.awaitLockWait("late");
        first.end();

        claimed.get(20, TimeUnit.SECONDS);
        assertThatThrownBy(() -> third.get(20, TimeUnit.SECONDS)).cause().isInstanceOf(StaleTokenException.class);
    }

    @Test
    void withAShareLockAloneLaterTransactionsGetInFrontOfAWaitingClaim() throws Exception {
        // The control: FOR SHARE without the turn in front of it, and a claim that takes no turn.
        fence.claim(older);
        String share = "SELECT 1 FROM fenceline.guard WHERE lock = '" + older.lock() + "' AND token = " + older.value()
                + " FOR SHARE";
        try (Connection first = database.source().getConnection();
                Connection newcomer = database.sourceNamed("naive").getConnection();
                Connection late = database.source().getConnection()) {
            first.setAutoCommit(false);
            late.setAutoCommit(false);
            first.createStatement().execute(share);
            Future<?> claimed = threads.submit(() -> newcomer.createStatement()
                    .executeQuery("SELECT * FROM fenceline.claim_v1('" + newer.lock() + "', " + newer.value() + ", '"
                            + newer.holder() + "', 20000)"));
            database.awaitLockWait("naive");

            try (var row = late.createStatement().executeQuery(share)) {
                assertThat(row.next()).as("who came after the claim is in").isTrue();
            }
            first.commit();
            assertThat(claimed.isDone()).as("and so on, for ever").isFalse();
            late.commit();
            claimed.get(20, TimeUnit.SECONDS);
        }
    }

    @Test
    void aSingleStatementSharesToo() throws Exception {
        Claim<Connection> claim = fence.claim(older);
        Open other = new Open("other", claim, 2).isIn();

        assertThat(claim.update("UPDATE account SET balance = balance + ? WHERE id = 1", 10))
                .isEqualTo(1);
        other.end();
        assertThat(database.balance(1)).isEqualTo(110);
        fence.claim(newer);
        assertThatThrownBy(() -> claim.update("UPDATE account SET balance = 0"))
                .isInstanceOf(StaleTokenException.class);
        assertThat(database.balance(1)).isEqualTo(110);
    }

    @Test
    void aTransactionThatIsNotConcurrentWaitsForThoseThatAre() throws Exception {
        Claim<Connection> claim = fence.claim(older);
        Claim<Connection> alone =
                PostgresFence.on(database.sourceNamed("alone")).resume(older);
        Open other = new Open("other", claim, 2).isIn();

        Future<Long> read = threads.submit(() -> alone.inTransaction(c -> TestDatabase.read(c, 2)));
        database.awaitLockWait("alone");
        other.end();
        assertThat(read.get(20, TimeUnit.SECONDS)).isEqualTo(90);
    }

    @Test
    void ofSeveralLocksAllAreSharedAndAllKeepAClaimOut() throws Exception {
        var second = Grants.next(Grants.freshLock());
        Claim<Connection> claim = fence.claim(List.of(older, second));
        PostgresFence newcomer = PostgresFence.on(database.sourceNamed("newcomer"));
        Open one = new Open("one", claim, 1).isIn();
        Open other = new Open("other", fence.resume(second), 2).isIn();

        Future<?> claimed = threads.submit(() -> newcomer.claim(Grants.next(second.lock())));
        database.awaitLockWait("newcomer");
        one.end();
        assertThat(claimed.isDone()).isFalse();
        other.end();
        claimed.get(20, TimeUnit.SECONDS);
    }
}
