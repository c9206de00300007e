package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.FencelineEvent.WriteEnded;
import dev.fenceline.FencelineEvent.WriteOutcome;
import dev.fenceline.Locks;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.OutcomeUnknownException.Resolution;
import dev.fenceline.StaleTokenException;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.FaultProxy.Armed;
import dev.fenceline.testkit.FaultProxy.Cut;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The answer to COMMIT is lost: what happened is told rightly, and stays so. */
@Tag("server")
class CommitReplyTest extends TwoGrants {

    private static final Duration LIMIT = Duration.ofSeconds(20);

    final ExecutorService threads = Executors.newCachedThreadPool();
    final RecordedEvents events = new RecordedEvents();
    FaultProxy proxy;
    DataSource throughProxy;

    @BeforeEach
    void open() {
        proxy = FaultProxy.to(database.server().host(), database.server().port());
        throughProxy = database.sourceAt(proxy.host(), proxy.port());
        database.account(1, 100);
    }

    @AfterEach
    void close() {
        proxy.close();
        threads.shutdownNow();
    }

    private Claim<Connection> claim(DataSource source) {
        return PostgresFence.on(source).listener(events).claim(older);
    }

    private WriteOutcome outcome() {
        var ended = events.of(WriteEnded.class);
        assertThat(ended).hasSize(1);
        return ended.get(0).outcome();
    }

    @ParameterizedTest
    @EnumSource(Cut.class)
    void aCommitThatHappenedReturnsNormallyAlthoughItsReplyWasLost(Cut cut) throws SQLException {
        Claim<Connection> claim = claim(throughProxy);

        String result = claim.inTransaction(c -> {
            TestDatabase.write(c, 1, 110);
            proxy.onRequest("COMMIT").loseReply(cut);
            return "done";
        });

        assertThat(result).isEqualTo("done");
        assertThat(database.balance(1)).isEqualTo(110);
        assertThat(outcome()).isEqualTo(WriteOutcome.APPLIED);
    }

    @ParameterizedTest
    @EnumSource(Cut.class)
    void aCommitThatNeverArrivedIsReportedAsNotHappened(Cut cut) {
        Claim<Connection> claim = claim(throughProxy);

        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    TestDatabase.write(c, 1, 110);
                    proxy.onRequest("COMMIT").dropRequest(cut);
                }))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageStartingWith("Transaction under token " + older + " on PostgreSQL guard '" + older.lock()
                        + "' failed, the connection was lost: ")
                .hasMessageEndingWith(
                        "Nothing of it was committed. The mark is " + older + "; run it again under the same claim.")
                .hasCauseInstanceOf(SQLException.class);
        assertThat(database.balance(1)).isEqualTo(100);
        assertThat(outcome()).isEqualTo(WriteOutcome.ROLLED_BACK);

        JdbcWork.add(claim, 1, 10);
        assertThat(database.balance(1)).isEqualTo(110);
    }

    @Test
    void aCommitThatNeverArrivedAndWasOvertakenIsStale() {
        PostgresFence other = PostgresFence.on(database.source());
        // The claim and the transaction take two connections, the resolver the third and the mark the fourth.
        Claim<Connection> claim = claim(new HookedSource(throughProxy, number -> {
            if (number == 4) {
                other.claim(newer);
            }
        }));

        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    TestDatabase.write(c, 1, 110);
                    proxy.onRequest("COMMIT").dropRequest(Cut.RST);
                }))
                .isInstanceOfSatisfying(
                        StaleTokenException.class, e -> assertThat(e.newest()).isEqualTo(newer))
                .hasMessageContaining("refused: token " + older + " is older by");
        assertThat(database.balance(1)).isEqualTo(100);
        assertThat(outcome()).isEqualTo(WriteOutcome.STALE);
    }

    @Test
    void aCommitThatComesAfterTheVerdictFails() throws Exception {
        // The server ends the idle session when what was left of the lease has passed, and the resolver waits for that.
        try (Locks locks = Grants.locks(Duration.ofSeconds(3));
                FencedLease lease = locks.fenced(Grants.freshLock()).acquire()) {
            Claim<Connection> claim =
                    PostgresFence.on(throughProxy).listener(events).claim(lease);
            AtomicReference<Armed> held = new AtomicReference<>();

            assertThatThrownBy(() -> claim.useTransaction(c -> {
                        TestDatabase.write(c, 1, 110);
                        Armed commit = proxy.onRequest("COMMIT").holdRequest();
                        held.set(commit);
                        threads.execute(() -> {
                            commit.awaitFired(LIMIT);
                            proxy.cutAll(Cut.RST);
                        });
                    }))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("Nothing of it was committed.");
            assertThat(held.get().fired()).as("COMMIT is still on its way").isTrue();
            held.get().letGo();
        }
        TestDatabase.await(
                "no session is left behind the proxy",
                () -> database.number("SELECT count(*) FROM pg_stat_activity WHERE datname = '" + database.name()
                                + "' AND application_name = 'through-proxy'")
                        == 0);
        assertThat(database.balance(1)).isEqualTo(100);
        assertThat(database.text("SELECT outcome FROM fenceline.operation ORDER BY entered_at DESC LIMIT 1"))
                .isEqualTo("never");
    }

    @Test
    void aResolverThatOnlyLooksTellsALie() throws Exception {
        // The control: the same held COMMIT, and somebody who looks for its record.
        UUID operation = UUID.randomUUID();
        PostgresFence.on(database.source()).claim(older);
        try (Connection connection = throughProxy.getConnection()) {
            connection.setAutoCommit(false);
            GuardSql.Entered entered = TestDatabase.enter(connection, older);
            TestDatabase.write(connection, 1, 110);
            GuardSql.leave(connection, operation, entered);
            Armed held = proxy.onRequest("COMMIT").holdRequest();
            Future<?> commit = threads.submit(() -> {
                connection.commit();
                return null;
            });
            held.awaitFired(LIMIT);

            long seen = database.number("SELECT count(*) FROM fenceline.operation WHERE id = '" + operation + "'");
            held.letGo();
            commit.get(20, TimeUnit.SECONDS);

            assertThat(seen).as("it looks as if it had not happened").isZero();
        }
        assertThat(database.balance(1)).as("and then it happens").isEqualTo(110);
    }

    @Test
    void aTransactionThatLeavesAfterTheVerdictRollsBack() throws SQLException {
        UUID operation = UUID.randomUUID();
        PostgresFence.on(database.source()).claim(older);
        try (Connection connection = database.source().getConnection()) {
            connection.setAutoCommit(false);
            GuardSql.Entered entered = TestDatabase.enter(connection, older);
            TestDatabase.write(connection, 1, 110);
            assertThat(resolver(database.source(), operation, entered).resolve())
                    .isEqualTo(Resolution.NEVER_APPLIED);

            assertThatThrownBy(() -> GuardSql.leave(connection, operation, entered))
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("23505"));
            connection.commit();
            assertThat(resolver(database.source(), operation, entered).resolve())
                    .isEqualTo(Resolution.NEVER_APPLIED);
        }
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void anOperationThatIgnoresTheVerdictCommitsAfterIt() throws SQLException {
        // The control: the own record written ON CONFLICT DO NOTHING.
        UUID operation = UUID.randomUUID();
        PostgresFence.on(database.source()).claim(older);
        try (Connection connection = database.source().getConnection()) {
            connection.setAutoCommit(false);
            GuardSql.Entered entered = TestDatabase.enter(connection, older);
            TestDatabase.write(connection, 1, 110);
            assertThat(resolver(database.source(), operation, entered).resolve())
                    .isEqualTo(Resolution.NEVER_APPLIED);

            connection
                    .createStatement()
                    .execute("INSERT INTO fenceline.operation VALUES ('" + operation
                            + "', now(), 'applied') ON CONFLICT DO NOTHING");
            connection.commit();
        }
        assertThat(database.balance(1)).as("ruled out, and committed").isEqualTo(110);
    }

    @ParameterizedTest
    @EnumSource(Resolution.class)
    void anOutcomeThatCannotBeAskedForIsUnknownAndResolvedLater(Resolution truth) {
        AtomicBoolean reachable = new AtomicBoolean(true);
        Claim<Connection> claim = claim(new HookedSource(throughProxy, number -> {
            if (!reachable.get()) {
                throw new SQLException("The database is not reachable", "08001");
            }
        }));

        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    TestDatabase.write(c, 1, 110);
                    if (truth == Resolution.APPLIED) {
                        proxy.onRequest("COMMIT").loseReply(Cut.FIN);
                    } else {
                        proxy.onRequest("COMMIT").dropRequest(Cut.FIN);
                    }
                    reachable.set(false);
                }))
                .isInstanceOfSatisfying(OutcomeUnknownException.class, e -> {
                    assertThat(e.resolvable()).isTrue();
                    assertThatThrownBy(e::resolve)
                            .isInstanceOf(OutcomeUnknownException.class)
                            .hasMessageContaining("asking did not settle it");
                    reachable.set(true);
                    assertThat(e.resolve()).isEqualTo(truth);
                    assertThat(e.resolve()).as("for good").isEqualTo(truth);
                })
                .hasMessageStartingWith("Commit of operation ")
                .hasMessageContaining(" on PostgreSQL guard '" + older.lock() + "' under token " + older
                        + " may have happened: the answer was lost, and asking did not settle it: ")
                .hasMessageEndingWith("Call resolve() later before the work is done again.");
        assertThat(database.balance(1)).isEqualTo(truth == Resolution.APPLIED ? 110 : 100);
        assertThat(outcome()).isEqualTo(WriteOutcome.UNKNOWN);
    }

    @Test
    void anOperationWhoseRecordIsTooOldIsNotResolvable() throws SQLException {
        OffsetDateTime then = OffsetDateTime.parse("2020-01-01T00:00:00Z");
        GuardSql.Entered longAgo = new GuardSql.Entered(Optional.of("1"), then, then, false);

        assertThatThrownBy(() ->
                        resolver(database.source(), UUID.randomUUID(), longAgo).resolve())
                .isInstanceOfSatisfying(
                        OutcomeUnknownException.class,
                        e -> assertThat(e.resolvable()).isFalse())
                .hasMessageContaining(
                        "it entered more than 7 days ago, and records are not kept for longer. Look at the data"
                                + " before the work is done again.");
    }

    private CommitResolver<Connection> resolver(DataSource source, UUID operation, GuardSql.Entered entered) {
        return new CommitResolver<>(
                PostgresFence.on(source).source(), Tokens.of(older), operation, entered.at(), Duration.ofSeconds(5));
    }

    @ParameterizedTest
    @ValueSource(strings = {"repeatable read", "serializable"})
    void aResolverThatWaitsForTheTransactionFindsItUnderEveryDefaultIsolation(String isolation) throws Exception {
        UUID operation = UUID.randomUUID();
        PostgresFence.on(database.source()).claim(older);
        var strict = database.sourceNamed("resolver");
        strict.setOptions("-c default_transaction_isolation=" + isolation.replace(" ", "\\ "));
        try (Connection connection = database.source().getConnection()) {
            connection.setAutoCommit(false);
            GuardSql.Entered entered = TestDatabase.enter(connection, older);
            TestDatabase.write(connection, 1, 110);
            GuardSql.leave(connection, operation, entered);
            Future<Resolution> verdict =
                    threads.submit(() -> resolver(strict, operation, entered).resolve());
            database.awaitLockWait("resolver");
            connection.commit();

            assertThat(verdict.get(20, TimeUnit.SECONDS)).isEqualTo(Resolution.APPLIED);
        }
        assertThat(database.balance(1)).isEqualTo(110);
    }

    @Test
    void aMarkIsReadAtReadCommittedUnderEveryDefaultIsolation() throws SQLException {
        TestDatabase strict = TestDatabase.create();
        PostgresFence.on(strict.source()).claim(older);
        // A mark read at a stricter level could be as old as a snapshot, or fail with 40001.
        strict.execute("CREATE OR REPLACE FUNCTION fenceline.marks_v1(p_locks text[])"
                + " RETURNS TABLE (newest_token bigint, newest_holder uuid, read_at timestamptz) LANGUAGE sql AS"
                + " 'SELECT token, holder, now() FROM fenceline.guard WHERE lock = p_locks[1]"
                + " AND current_setting(''transaction_isolation'') = ''read committed''" + "'");
        var source = strict.sourceNamed("strict");
        source.setOptions("-c default_transaction_isolation=serializable");
        try (Connection connection = source.getConnection()) {
            assertThat(GuardSql.marks(connection, Tokens.of(older))
                            .inOrder()
                            .get(0)
                            .newest())
                    .contains(older);
        }
    }
}
