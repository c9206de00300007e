package dev.fenceline.jdbc;

import static dev.fenceline.jdbc.ProtectedBank.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineEvent.StaleRefused;
import dev.fenceline.FencingToken;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.TokenRejectedException;
import dev.fenceline.UnfencedWriteException;
import dev.fenceline.testkit.SharedServers;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.core.TransactionState;
import org.postgresql.jdbc.AutoSave;

/** A transaction that somebody else manages comes under the fence by entering first, and is spoilt by a refusal. */
@Tag("server")
class EnteringTest extends TwoGrants {

    RecordedEvents events = new RecordedEvents();
    PostgresFence fence;
    Connection connection;
    String resource;

    @BeforeEach
    void begin() throws SQLException {
        fence = PostgresFence.on(database.source()).listener(events);
        connection = database.sourceNamed("their-own").getConnection();
        connection.setAutoCommit(false);
        resource = "PostgreSQL guard '" + older.lock() + "'";
    }

    @AfterEach
    void end() throws SQLException {
        connection.close();
    }

    @Test
    void aTransactionThatEnteredFirstIsFenced() throws Exception {
        fence.claim(older);
        fence.enter(connection, older);
        TestDatabase.write(connection, 1, TestDatabase.read(connection, 1) + 10);

        ExecutorService pool = Executors.newSingleThreadExecutor();
        try {
            Future<Claim<Connection>> newcomer = pool.submit(
                    () -> PostgresFence.on(database.sourceNamed("newcomer")).claim(newer));
            database.awaitLockWait("newcomer");
            connection.commit();
            newcomer.get(20, TimeUnit.SECONDS)
                    .useTransaction(c -> assertThat(TestDatabase.read(c, 1)).isEqualTo(110));
        } finally {
            pool.shutdownNow();
        }
    }

    @Test
    void aHandleOfJdbiIsFencedLikewise() {
        JdbiFence onJdbi = JdbiFence.on(Jdbi.create(database.source()));
        Jdbi jdbi = Jdbi.create(database.source());
        onJdbi.claim(older);

        jdbi.useTransaction(handle -> {
            onJdbi.enter(handle, older);
            handle.execute("UPDATE account SET balance = balance + 10 WHERE id = 1");
        });
        assertThat(database.balance(1)).isEqualTo(110);
        onJdbi.claim(newer);
        assertThatThrownBy(() -> jdbi.useTransaction(handle -> {
                    onJdbi.enter(handle, older);
                    handle.execute("UPDATE account SET balance = 0 WHERE id = 1");
                }))
                .isInstanceOfSatisfying(
                        StaleTokenException.class, e -> assertThat(e.newest()).isEqualTo(newer));
        assertThatThrownBy(() -> jdbi.useHandle(handle -> onJdbi.enter(handle, newer)))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageContaining("the connection is in auto-commit mode");
        assertThat(database.balance(1)).isEqualTo(110);
    }

    @ParameterizedTest
    @ValueSource(ints = {Connection.TRANSACTION_READ_COMMITTED, Connection.TRANSACTION_REPEATABLE_READ})
    void whoWasOvertakenIsStaleAndWritesNothingEvenIfThatIsSwallowed(int isolation) throws SQLException {
        connection.setTransactionIsolation(isolation);
        fence.claim(older);
        fence.claim(newer);

        assertThatThrownBy(() -> fence.enter(connection, older))
                .isInstanceOfSatisfying(StaleTokenException.class, e -> {
                    assertThat(e.presented()).isEqualTo(older);
                    assertThat(e.newest()).isEqualTo(newer);
                })
                .hasMessageStartingWith("Entering on " + resource + " refused: token " + older + " is older by ");
        assertSpoilt();
        assertThat(events.of(StaleRefused.class)).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {Connection.TRANSACTION_READ_COMMITTED, Connection.TRANSACTION_REPEATABLE_READ})
    void whoIsOvertakenWhileWaitingIsStale(int isolation) throws Exception {
        // Above READ COMMITTED the server says 40001, which alone would only mean: try again.
        connection.setTransactionIsolation(isolation);
        fence.claim(older);
        ExecutorService pool = Executors.newSingleThreadExecutor();
        try (Connection newest = database.source().getConnection()) {
            newest.setAutoCommit(false);
            run(
                    newest,
                    "SELECT fenceline.claim_v1('" + newer.lock() + "', " + newer.value() + ", '" + newer.holder()
                            + "', 1000)");
            Future<?> waiting = pool.submit(() -> fence.enter(connection, older));
            database.awaitLockWait("their-own");
            newest.commit();
            assertThatThrownBy(() -> waiting.get(20, TimeUnit.SECONDS)).hasCauseInstanceOf(StaleTokenException.class);
        } finally {
            pool.shutdownNow();
        }
        assertSpoilt();
    }

    @Test
    void whoWaitedWithAnOldSnapshotForAnotherTransactionOfTheSameClaimTriesAgain() throws Exception {
        connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        fence.claim(older);
        ExecutorService pool = Executors.newSingleThreadExecutor();
        try (Connection sibling = database.source().getConnection()) {
            sibling.setAutoCommit(false);
            fence.enter(sibling, older);
            Future<?> waiting = pool.submit(() -> fence.enter(connection, older));
            database.awaitLockWait("their-own");
            sibling.commit();
            assertThatThrownBy(() -> waiting.get(20, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOf(RetryableConflictException.class)
                    .hasMessageStartingWith("Entering under token " + older + " on " + resource
                            + " rolled back: it could not" + " enter: ERROR: could not serialize access")
                    .hasMessageEndingWith(
                            "(SQLSTATE 40001). The claim is still good; run a new transaction under it, from its"
                                    + " first read on.");
        } finally {
            pool.shutdownNow();
        }
        assertSpoilt();
        fence.enter(connection, older);
        connection.rollback();
    }

    @Test
    void whoWaitsForTooLongIsToldWhoBlocks() throws SQLException {
        fence.claim(older);
        // Like every timeout of the session that is shorter than ours, it is kept.
        run(connection, "SET lock_timeout = 100");
        connection.commit();
        try (Connection holder = database.sourceNamed("the-holder").getConnection()) {
            holder.setAutoCommit(false);
            fence.enter(holder, older);
            assertThatThrownBy(() -> fence.enter(connection, older))
                    .isInstanceOf(RetryableConflictException.class)
                    .hasMessageContaining("(SQLSTATE 55P03), blocked by pid ")
                    .hasMessageContaining("application_name 'the-holder'. The claim is still good");
        }
        assertSpoilt();
    }

    @Test
    void aTokenThatWasNeverClaimedIsRejected() throws SQLException {
        assertThatThrownBy(() -> fence.enter(connection, older))
                .isInstanceOfSatisfying(
                        TokenRejectedException.class,
                        e -> assertThat(e.reason()).isEqualTo(TokenRejectedException.Reason.NOT_CLAIMED))
                .hasMessageContaining("whose mark is not set: this token was never claimed here");
        assertSpoilt();
    }

    @Test
    void autoCommitIsRefusedBeforeAnythingIsSent() throws SQLException {
        connection.setAutoCommit(true);
        assertThatThrownBy(() -> fence.enter(connection, older))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessage("Entering under token " + older + " on " + resource
                        + " refused: the connection is in auto-commit"
                        + " mode, so entering would end with its own statement. Begin a transaction first"
                        + " (setAutoCommit(false), Jdbi's inTransaction), enter, then read and write.");
    }

    @Test
    void aTransactionThatHasReadIsRefusedAndTheTablesAreNamed() throws SQLException {
        fence.claim(older);
        TestDatabase.read(connection, 1);

        assertThatThrownBy(() -> fence.enter(connection, older))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessage("Entering under token " + older + " on " + resource
                        + " refused: this transaction has used public.account"
                        + " already, and what it has read may be older than the claim. It can only be rolled back now. Enter first"
                        + " in the transaction; settings may come before.");
        assertSpoilt();
    }

    @Test
    void readingBeforeEnteringLosesAnUpdate() throws Exception {
        // The naive order, which enter and the fence refuse: by what they call when they have looked.
        fence.claim(older);
        long read = TestDatabase.read(connection, 1);
        JdbcWork.add(fence.resume(older), 1, 10);
        TestDatabase.enter(connection, older);
        TestDatabase.write(connection, 1, read + 10);
        connection.commit();

        assertThat(database.balance(1)).as("100 + 10 + 10").isEqualTo(110);
    }

    @Test
    void settingsMayComeBeforeAndAnotherLockToo() throws SQLException {
        FencingToken other = Grants.next(Grants.freshLock());
        fence.claim(older);
        fence.claim(other);
        run(connection, "SET LOCAL search_path = public");
        run(connection, "SELECT set_config('app.tenant', '7', true)");
        run(connection, "SELECT relname FROM pg_class LIMIT 1");

        fence.enter(connection, older);
        fence.enter(connection, other);
        TestDatabase.write(connection, 1, 7);
        connection.commit();

        assertThat(database.balance(1)).isEqualTo(7);
    }

    @Test
    void aDriverThatTakesBackEachFailureIsRefusedBeforeAnythingIsSent() throws SQLException {
        fence.claim(older);
        var source = database.sourceNamed("autosaving");
        source.setAutosave(AutoSave.ALWAYS);
        try (Connection autosaving = source.getConnection()) {
            autosaving.setAutoCommit(false);
            assertThatThrownBy(() -> fence.enter(autosaving, older))
                    .isInstanceOf(UnfencedWriteException.class)
                    .hasMessage("Entering under token " + older + " on " + resource
                            + " refused: the driver's autosave=always sets a savepoint before each statement and goes"
                            + " back to it when one fails, so no refusal could end this transaction. Nothing was sent;"
                            + " set autosave=never, or use Claim.inTransaction.");
            assertThat(Session.transactionState(autosaving)).isEqualTo(TransactionState.IDLE);
        }
        JdbcWork.add(PostgresFence.on(source).listener(events).resume(older), 1, 10);
        assertThat(database.balance(1))
                .as("a unit watches over its failures by itself")
                .isEqualTo(110);
    }

    @Test
    void aSavepointFromBeforeIsRefusedAndOneFromAfterIsFine() throws SQLException {
        fence.claim(older);
        Savepoint before = connection.setSavepoint();
        assertThatThrownBy(() -> fence.enter(connection, older))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageStartingWith("Entering under token " + older + " on " + resource
                        + " refused: a savepoint was set" + " before it in this transaction")
                .hasMessageEndingWith("Enter first, then set savepoints.");
        assertThatThrownBy(() -> connection.rollback(before))
                .as("what would heal the transaction for a caller that goes on")
                .isInstanceOf(SQLException.class);
        assertSpoilt();

        fence.enter(connection, older);
        Savepoint after = connection.setSavepoint();
        TestDatabase.write(connection, 1, 0);
        connection.rollback(after);
        TestDatabase.write(connection, 1, 7);
        connection.commit();
        assertThat(database.balance(1)).isEqualTo(7);
    }

    @Test
    void enteringUnderASavepointLosesAnUpdateWhenThatIsRolledBack() throws Exception {
        // The naive order on a table that is not protected, again by what looks at nothing.
        fence.claim(older);
        Savepoint before = connection.setSavepoint();
        TestDatabase.enter(connection, older);
        long read = TestDatabase.read(connection, 1);
        connection.rollback(before);
        JdbcWork.add(fence.claim(newer), 1, 10);
        TestDatabase.write(connection, 1, read + 10);
        connection.commit();

        assertThat(database.balance(1)).as("100 + 10 + 10").isEqualTo(110);
    }

    @Test
    void aTransactionThatHasFailedAlreadyIsRefused() {
        fence.claim(older);
        assertThatThrownBy(() -> run(connection, "SELECT 1 / 0")).isInstanceOf(SQLException.class);

        assertThatThrownBy(() -> fence.enter(connection, older))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessage("Entering under token " + older + " on " + resource
                        + " refused: the transaction has failed already,"
                        + " and nothing can be done in it. Roll it back, and enter first in a new one.");
    }

    @Test
    void severalLocksAreEnteredInOneOrderWhateverTheCallersOrder() throws Exception {
        FencingToken other = Grants.next(Grants.freshLock());
        fence.claim(older);
        fence.claim(other);

        Race.of(2, turn -> {
            try (Connection mine = database.source().getConnection()) {
                mine.setAutoCommit(false);
                for (int i = 0; i < 50; i++) {
                    if (turn == 0) {
                        fence.enter(mine, older, other);
                    } else {
                        fence.enter(mine, other, older);
                    }
                    TestDatabase.write(mine, 1, TestDatabase.read(mine, 1) + 1);
                    mine.commit();
                }
            }
        });

        assertThat(database.balance(1)).isEqualTo(200);
        assertThatThrownBy(() -> fence.enter(connection, older, other, newer))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Two tokens of lock '" + older.lock()
                        + "' given: a claim has one of each lock, and the newer has ended the older.");
    }

    @Test
    void ofSeveralLocksTheOneThatIsStaleIsNamed() throws SQLException {
        FencingToken other = Grants.next(Grants.freshLock());
        fence.claim(older);
        fence.claim(other);
        fence.claim(newer);

        assertThatThrownBy(() -> fence.enter(connection, other, older))
                .isInstanceOfSatisfying(
                        StaleTokenException.class,
                        e -> assertThat(e.presented()).isEqualTo(older))
                .hasMessageContaining("Entering on " + resource + " refused");
        assertSpoilt();
    }

    @Test
    void timeoutsHoldForTheTransactionAndTheNetworkIsLimitedForEnteringOnly() throws SQLException {
        fence.claim(older);
        connection.setNetworkTimeout(Runnable::run, 60_000);

        fence.enter(connection, older);

        assertThat(setting("idle_in_transaction_session_timeout")).isEqualTo("10s");
        assertThat(setting("lock_timeout")).isEqualTo("10s");
        assertThat(connection.getNetworkTimeout()).isEqualTo(60_000);
        connection.commit();
        assertThat(setting("idle_in_transaction_session_timeout")).isEqualTo("0");
    }

    @Test
    void theNetworkIsGivenAsMuchTimeAsAllLocksTogetherMayBeWaitedFor() throws SQLException {
        FencingToken other = Grants.next(Grants.freshLock());
        FencingToken third = Grants.next(Grants.freshLock());
        Claim<Connection> claim = fence.claim(List.of(older, other, third));
        List<Integer> limits = new ArrayList<>();
        Connection watched = watched(limits);

        fence.enter(watched, older, other, third);
        assertThat(limits).as("three times 10 s, and 5 s").first().isEqualTo(35_000);
        connection.commit();
        Claim<Connection> unit =
                PostgresFence.on(new BoundSource(watched).source()).resume(claim.tokens());
        limits.clear();
        unit.useTransaction(c -> TestDatabase.read(c, 1));
        assertThat(limits).first().isEqualTo(35_000);
    }

    private Connection watched(List<Integer> limits) {
        return (Connection) Proxy.newProxyInstance(
                EnteringTest.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, args) -> {
                    if (method.getName().equals("setNetworkTimeout")) {
                        limits.add((Integer) args[1]);
                    }
                    return method.invoke(connection, args);
                });
    }

    @Test
    void aProtectedTableAcceptsWhatEnteredAndNothingAfterTheCommit() throws SQLException {
        ProtectedBank bank = ProtectedBank.create();
        bank.fill();
        FencingToken one = bank.claimed("vault", 1);
        FencingToken two = bank.claimed("vault", 2);
        try (Connection own = bank.source().getConnection()) {
            own.setAutoCommit(false);
            PostgresFence.on(bank.source()).enter(own, one, two);
            run(own, "UPDATE vault SET balance = balance + 50 - 100 * (id - 1)");
            own.commit();
            assertThatThrownBy(() -> run(own, "UPDATE vault SET balance = 0"))
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("FL001"));
        }
        assertThat(bank.contents()).startsWith("(1,150) (2,150) | ");
    }

    @Test
    void aMissingSchemaAndALostConnectionAreTold() throws SQLException {
        TestDatabase bare = TestDatabase.withoutSchemaOn(SharedServers.postgres());
        bare.account(1, 100);
        try (Connection own = bare.source().getConnection()) {
            own.setAutoCommit(false);
            assertThatThrownBy(() -> PostgresFence.on(bare.source()).enter(own, older))
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessageStartingWith("Entering under token " + older + " on " + resource
                            + " refused: ERROR: schema \"fenceline\" does not exist (SQLSTATE 3F000).")
                    .hasMessageContaining("This database has no fence schema");
            assertThatThrownBy(() -> TestDatabase.write(own, 1, 0))
                    .hasMessageContaining("current transaction is aborted");
        }
        fence.claim(older);
        run(connection, "SET LOCAL application_name = 'to-be-ended'");
        database.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'to-be-ended'");
        assertThatThrownBy(() -> fence.enter(connection, older))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining(
                        "Entering under token " + older + " on " + resource + " failed, the connection was lost: ")
                .hasMessageContaining("Nothing of the transaction was committed. Run it again under the same claim.");
    }

    /** Nothing is written by a caller that takes no notice of the refusal, and a rollback makes the connection usable. */
    private void assertSpoilt() throws SQLException {
        assertThatThrownBy(() -> TestDatabase.write(connection, 1, 0))
                .hasMessageContaining("current transaction is aborted");
        connection.commit();
        assertThat(database.balance(1)).isEqualTo(100);
        connection.rollback();
        assertThat(TestDatabase.read(connection, 1)).isEqualTo(100);
        connection.rollback();
    }

    private String setting(String name) throws SQLException {
        try (var statement = connection.createStatement();
                var row = statement.executeQuery("SHOW " + name)) {
            row.next();
            return row.getString(1);
        }
    }
}
