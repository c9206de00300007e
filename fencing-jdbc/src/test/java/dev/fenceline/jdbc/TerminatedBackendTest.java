package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineEvent.ClaimEnded;
import dev.fenceline.FencelineEvent.ClaimOutcome;
import dev.fenceline.FencelineEvent.WriteEnded;
import dev.fenceline.FencelineEvent.WriteOutcome;
import dev.fenceline.StaleTokenException;
import dev.fenceline.testkit.PostgresProcess;
import dev.fenceline.testkit.PostgresSpec;
import dev.fenceline.testkit.Servers;
import java.sql.Connection;
import java.util.Arrays;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * An administrator ends the session in the middle of a step, by {@code pg_terminate_backend}. The server is kept in that step by
 * a lock that somebody else holds, so it is certain where the session was.
 */
@Tag("server")
class TerminatedBackendTest extends TwoGrants {

    private static final String VICTIM = "victim";
    private static final int LIMIT_SECONDS = 20;

    /** A step of a transaction, and the lock that keeps it. */
    enum Step {
        ENTER("SELECT FROM fenceline.guard WHERE lock = '%s' FOR UPDATE"),
        WORK("SELECT FROM account WHERE id = 1 FOR UPDATE"),
        LEAVE("LOCK TABLE fenceline.operation IN EXCLUSIVE MODE"),
        // A deferred trigger runs inside of COMMIT.
        COMMIT("SELECT pg_advisory_xact_lock(4711)");

        private final String lock;

        Step(String lock) {
            this.lock = lock;
        }
    }

    /** Who has come meanwhile. */
    enum Successor {
        NOBODY,
        NEWER_HOLDER
    }

    final ExecutorService threads = Executors.newCachedThreadPool();
    final RecordedEvents events = new RecordedEvents();

    @BeforeAll
    static void letCommitsWait() {
        database.execute("CREATE FUNCTION wait_at_commit() RETURNS trigger LANGUAGE plpgsql AS"
                + " 'BEGIN PERFORM pg_advisory_xact_lock_shared(4711); RETURN NULL; END';"
                + " CREATE CONSTRAINT TRIGGER wait_at_commit AFTER UPDATE ON account DEFERRABLE INITIALLY DEFERRED"
                + " FOR EACH ROW EXECUTE FUNCTION wait_at_commit()");
    }

    @AfterEach
    void stop() {
        threads.shutdownNow();
    }

    static Stream<Arguments> everyStep() {
        return Arrays.stream(Step.values())
                .flatMap(step -> Arrays.stream(Successor.values()).map(successor -> Arguments.of(step, successor)));
    }

    private static Throwable failureOf(Future<?> unit) throws Exception {
        try {
            unit.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            return e.getCause();
        }
        throw new AssertionError("The unit returned normally");
    }

    @ParameterizedTest
    @MethodSource("everyStep")
    void aTransactionThatIsEndedInAStepDidNotHappenAndIsToldWhy(Step step, Successor successor) throws Exception {
        AtomicBoolean terminated = new AtomicBoolean();
        try (Connection blocker = database.source().getConnection()) {
            blocker.setAutoCommit(false);
            // The first thing that the fence does about the loss is to ask on a fresh connection: whoever comes, is
            // there by then.
            var source = new HookedSource(database.sourceNamed(VICTIM), number -> {
                if (terminated.compareAndSet(true, false)) {
                    blocker.rollback();
                    if (successor == Successor.NEWER_HOLDER) {
                        PostgresFence.on(database.source()).claim(newer);
                    }
                }
            });
            Claim<Connection> claim = PostgresFence.on(source).listener(events).claim(older);
            blocker.createStatement().execute(String.format(step.lock, older.lock()));
            Future<?> unit = threads.submit(() -> {
                claim.useTransaction(c -> TestDatabase.write(c, 1, TestDatabase.read(c, 1) + 10));
                return null;
            });
            database.awaitLockWait(VICTIM);
            terminated.set(true);
            database.terminate(VICTIM);

            Throwable told = failureOf(unit);

            String resource = "PostgreSQL guard '" + older.lock() + "'";
            if (successor == Successor.NOBODY) {
                assertThat(told)
                        .isInstanceOf(BackendUnavailableException.class)
                        .hasMessage("Transaction under token " + older + " on " + resource
                                + " failed, the connection was lost: FATAL: terminating connection due to administrator"
                                + " command (SQLSTATE 57P01). Nothing of it was committed. The mark is " + older
                                + "; run it again under the same claim.");
            } else {
                assertThat(told)
                        .isInstanceOfSatisfying(StaleTokenException.class, e -> {
                            assertThat(e.presented()).isEqualTo(older);
                            assertThat(e.newest()).isEqualTo(newer);
                            assertThat(SqlFailure.state(e.getCause())).isEqualTo("57P01");
                        })
                        .hasMessageStartingWith(
                                "Transaction on " + resource + " refused: token " + older + " is older by");
            }
            assertThat(database.balance(1)).isEqualTo(100);
            assertThat(events.of(WriteEnded.class))
                    .extracting(WriteEnded::outcome)
                    .containsExactly(successor == Successor.NOBODY ? WriteOutcome.ROLLED_BACK : WriteOutcome.STALE);
            afterwardsOnlyTheNewestWrites(claim, successor);
        }
    }

    private void afterwardsOnlyTheNewestWrites(Claim<Connection> claim, Successor successor) {
        if (successor == Successor.NOBODY) {
            JdbcWork.add(claim, 1, 10);
        } else {
            assertThatThrownBy(() -> JdbcWork.add(claim, 1, 10)).isInstanceOf(StaleTokenException.class);
            JdbcWork.add(PostgresFence.on(database.source()).resume(newer), 1, 10);
        }
        assertThat(database.balance(1)).isEqualTo(110);
        TestDatabase.await(
                "no session is left",
                () -> database.number("SELECT count(*) FROM pg_stat_activity WHERE datname = '" + database.name()
                                + "' AND application_name = '" + VICTIM + "'")
                        == 0);
    }

    @Test
    void aClaimThatIsEndedWhileItWaitsIsSentAgain() throws Exception {
        Claim<Connection> holder = PostgresFence.on(database.source()).claim(older);
        var source = new HookedSource(database.sourceNamed(VICTIM), number -> {});
        PostgresFence fence = PostgresFence.on(source).listener(events);
        Future<Claim<Connection>> claim = holder.inTransaction(c -> {
            TestDatabase.write(c, 1, 105);
            Future<Claim<Connection>> waiting = threads.submit(() -> fence.claim(newer));
            database.awaitLockWait(VICTIM);
            database.terminate(VICTIM);
            database.awaitLockWait(VICTIM);
            return waiting;
        });

        JdbcWork.add(claim.get(LIMIT_SECONDS, TimeUnit.SECONDS), 1, 10);

        assertThat(source.opened())
                .as("two connections for the claim, one for the unit")
                .isEqualTo(3);
        assertThat(database.mark(newer)).isEqualTo(newer);
        assertThat(database.balance(1)).isEqualTo(115);
        assertThat(events.of(ClaimEnded.class)).extracting(ClaimEnded::outcome).containsExactly(ClaimOutcome.ADMITTED);
    }

    @Test
    void aClaimThatIsEndedEachTimeIsUnavailableAndDoesNoHarm() throws Exception {
        Claim<Connection> holder = PostgresFence.on(database.source()).claim(older);
        PostgresFence fence = PostgresFence.on(database.sourceNamed(VICTIM)).listener(events);
        holder.useTransaction(c -> {
            TestDatabase.write(c, 1, 105);
            Future<?> waiting = threads.submit(() -> fence.claim(newer));
            for (int connections = 1; connections <= 3; connections++) {
                database.awaitLockWait(VICTIM);
                database.terminate(VICTIM);
            }
            assertThat(failureOf(waiting))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessage("Claim of token " + newer + " on PostgreSQL guard '" + newer.lock()
                            + "' failed, the connection was lost: FATAL: terminating connection due to administrator command"
                            + " (SQLSTATE 57P01). No answer came, so the mark may have been raised, which does no harm: a claim"
                            + " is repeated with the same token while its lease runs, or the lock is acquired anew.");
        });

        assertThat(database.mark(newer)).as("the holder was not disturbed").isEqualTo(older);
        assertThat(events.of(ClaimEnded.class)).extracting(ClaimEnded::outcome).containsExactly(ClaimOutcome.FAILED);
        JdbcWork.add(fence.claim(newer), 1, 10);
        assertThat(database.balance(1)).isEqualTo(115);
    }

    @Test
    void aSessionThatIsEndedBehindItsCommitIsRecognisedAsApplied() throws Exception {
        // A commit that is to be synchronous is there first, and then waits for a standby that never comes.
        PostgresSpec lonely = PostgresSpec.primary()
                .setting("synchronous_standby_names", "nobody")
                .setting("synchronous_commit", "local");
        try (PostgresProcess server = Servers.embedded().postgres(lonely)) {
            TestDatabase waiting = TestDatabase.createOn(server);
            waiting.account(1, 100);
            Claim<Connection> claim = PostgresFence.on(waiting.sourceNamed(VICTIM))
                    .listener(events)
                    .claim(older);
            Future<?> unit = threads.submit(() -> {
                claim.useTransaction(c -> {
                    c.createStatement().execute("SET LOCAL synchronous_commit = on");
                    TestDatabase.write(c, 1, 110);
                });
                return null;
            });
            TestDatabase.await(
                    "the commit waits for a standby",
                    () -> waiting.number("SELECT count(*) FROM pg_stat_activity WHERE application_name = '" + VICTIM
                                    + "' AND wait_event = 'SyncRep'")
                            == 1);
            waiting.terminate(VICTIM);

            unit.get(LIMIT_SECONDS, TimeUnit.SECONDS);

            assertThat(waiting.balance(1)).isEqualTo(110);
            assertThat(events.of(WriteEnded.class))
                    .extracting(WriteEnded::outcome)
                    .containsExactly(WriteOutcome.APPLIED);
            JdbcWork.add(claim, 1, 10);
            assertThat(waiting.balance(1)).isEqualTo(120);
        }
    }
}
