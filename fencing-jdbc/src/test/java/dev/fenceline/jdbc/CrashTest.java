package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencingToken;
import dev.fenceline.Locks;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.OutcomeUnknownException.Resolution;
import dev.fenceline.StaleTokenException;
import dev.fenceline.jdbc.CrashClient.Step;
import dev.fenceline.jdbc.CrashingClient.Return;
import dev.fenceline.jdbc.Movements.Belief;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.PostgresProcess;
import dev.fenceline.testkit.Servers;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The server dies by SIGKILL of all its processes, with a client at every step at once, and is started again. Afterwards the
 * data is compared with what the clients were told.
 *
 * <p>The server syncs. That it must is not shown here: what a killed process has written stays with the operating system, so
 * only a crash of the machine would tell. The naive clients that lose here are the two that do not ask what became of a commit
 * without an answer: one takes it for done, the other does it again. A third one commits without waiting for the disk.
 */
@Tag("server")
class CrashTest {

    private static final int CRASHES = 3;
    private static final int ACCOUNT_OF_WRITERS = 1_000;
    private static final int ACCOUNT_WITHOUT_SYNC = 1_001;
    private static final UUID RULED_OUT = UUID.randomUUID();

    private static final Map<Step, CrashClient> AT_ONCE = new EnumMap<>(Step.class);
    private static final Map<Step, CrashClient> WHEN_IT_IS_BACK = new EnumMap<>(Step.class);
    private static final Map<CrashClient, FencingToken> MARKS = new HashMap<>();

    static EmbeddedServers servers;
    static PostgresProcess server;
    static TestDatabase database;
    static Locks locks;
    static ExecutorService threads;
    static CrashClient takesItForDone;
    static CrashClient doesItAgain;
    static Movements forgotten;

    @BeforeAll
    static void crashWithAClientAtEveryStep() throws Exception {
        servers = Servers.embedded();
        server = servers.postgres(CrashRun.server()
                // For the locks that must outlive the server.
                .setting("max_prepared_transactions", "10"));
        database = TestDatabase.createOn(server);
        Movements.createLog(database);
        // Longer than the whole: no timeout is to end a step before the server dies.
        locks = Grants.locks(Duration.ofMinutes(2));
        threads = Executors.newCachedThreadPool();
        Outage outage = new Outage();
        List<CrashClient> clients = new ArrayList<>();
        for (Step step : Step.values()) {
            AT_ONCE.put(step, client(step, Return.AT_ONCE, outage, clients));
            WHEN_IT_IS_BACK.put(step, client(step, Return.WHEN_IT_IS_BACK, outage, clients));
        }
        takesItForDone = client(Step.COMMIT_ON_ITS_WAY, Return.AT_ONCE, outage, clients);
        doesItAgain = client(Step.COMMIT_UNANSWERED, Return.AT_ONCE, outage, clients);
        assertThat(database.text("SELECT fenceline.resolve_v1('" + RULED_OUT + "', now(), 1000)"))
                .isEqualTo("never");

        for (CrashClient client : clients) {
            client.start(threads);
        }
        for (CrashClient client : clients) {
            client.awaitArrival();
        }
        // The last commit before the crash, or another one would take it to the disk with its own.
        forgotten = acknowledgeBeforeItIsOnDisk();
        outage.begin();
        server.crash();
        clients.forEach(CrashClient::loseConnection);
        for (CrashClient client : clients) {
            if (client.back == Return.AT_ONCE) {
                client.awaitEnd();
            }
        }
        server.restart();
        clients.forEach(CrashClient::unblock);
        outage.end();
        for (CrashClient client : clients) {
            if (client.back == Return.WHEN_IT_IS_BACK) {
                client.awaitEnd();
            }
        }
        clients.forEach(client -> MARKS.put(client, database.mark(client.token())));
    }

    private static CrashClient client(Step step, Return back, Outage outage, List<CrashClient> clients) {
        CrashClient client = new CrashClient(step, back, database, locks, clients.size() + 1, outage);
        clients.add(client);
        return client;
    }

    private static Movements acknowledgeBeforeItIsOnDisk() throws Exception {
        Movements movements = new Movements(database, ACCOUNT_WITHOUT_SYNC);
        FencingToken token = Grants.next(Grants.freshLock());
        Claim<Connection> claim = PostgresFence.on(database.source()).claim(token);
        // It writes such commits out, now and then.
        long walWriter = database.number("SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'");
        assertThat(new ProcessBuilder("sh", "-c", "kill -s STOP " + walWriter)
                        .start()
                        .waitFor())
                .isZero();
        UUID operation = UUID.randomUUID();
        claim.useTransaction(c -> {
            c.createStatement().execute("SET LOCAL synchronous_commit = off");
            movements.move(c, token, operation, 10);
        });
        movements.believe(operation, Belief.APPLIED);
        return movements;
    }

    @AfterAll
    static void close() {
        Stream.of(AT_ONCE.values(), WHEN_IT_IS_BACK.values(), List.of(takesItForDone, doesItAgain))
                .flatMap(Collection::stream)
                .forEach(CrashClient::end);
        AT_ONCE.clear();
        WHEN_IT_IS_BACK.clear();
        MARKS.clear();
        threads.shutdownNow();
        locks.close();
        servers.close();
    }

    static Stream<CrashClient> clients() {
        return Stream.concat(AT_ONCE.values().stream(), WHEN_IT_IS_BACK.values().stream());
    }

    private static String resource(CrashClient client) {
        return "PostgreSQL guard '" + client.token().lock() + "'";
    }

    @ParameterizedTest
    @EnumSource(Step.class)
    void whoAsksWhileTheServerIsDownIsToldNoMoreThanIsCertain(Step step) {
        CrashClient client = AT_ONCE.get(step);
        Throwable told = client.failure().orElseThrow(() -> new AssertionError("nobody was there to answer"));
        switch (step) {
            case CLAIM_ON_ITS_WAY, CLAIM_WAITS, CLAIM_UNANSWERED ->
                assertThat(told)
                        .isInstanceOf(BackendUnavailableException.class)
                        .hasMessageStartingWith("Claim of token " + client.token() + " on " + resource(client)
                                + " failed, the connection was lost: ")
                        .hasMessageEndingWith(
                                "No answer came, so the mark may have been raised, which does no harm: a claim"
                                        + " is repeated with the same token while its lease runs, or the lock is acquired anew.");
            case CLAIMED ->
                assertThat(told)
                        .isInstanceOf(BackendUnavailableException.class)
                        .hasMessageStartingWith("Transaction on " + resource(client) + " failed, no connection: ")
                        .hasMessageEndingWith("Check that the server runs and is reachable from here, then try again.");
            case ENTER_WAITS, ENTER_UNANSWERED, WRITTEN, LEAVE_UNANSWERED ->
                assertThat(told)
                        .isInstanceOf(BackendUnavailableException.class)
                        .hasMessageStartingWith("Transaction under token " + client.token() + " on " + resource(client)
                                + " failed, the connection was lost: ")
                        .hasMessageEndingWith("Nothing of it was committed. Run it again under the same claim when the"
                                + " database answers.");
            case COMMIT_ON_ITS_WAY, COMMIT_UNANSWERED ->
                assertThat(told)
                        .isInstanceOfSatisfying(
                                OutcomeUnknownException.class,
                                e -> assertThat(e.resolvable()).isTrue())
                        .hasMessageStartingWith("Commit of operation ")
                        .hasMessageContaining(" on " + resource(client) + " under token " + client.token()
                                + " may have happened: the answer was lost, and asking did not settle it: ")
                        .hasMessageEndingWith("Call resolve() later before the work is done again.");
        }
    }

    @ParameterizedTest
    @EnumSource(Step.class)
    void whoAsksWhenItIsBackLearnsWhatHappened(Step step) {
        CrashClient client = WHEN_IT_IS_BACK.get(step);
        switch (step) {
            case CLAIM_ON_ITS_WAY, CLAIM_WAITS, CLAIM_UNANSWERED, CLAIMED, COMMIT_UNANSWERED -> {
                assertThat(client.failure())
                        .as("a claim is repeated, a commit recognised")
                        .isEmpty();
                assertThat(client.movements.holds(client.operation)).isTrue();
            }
            case ENTER_WAITS, ENTER_UNANSWERED, WRITTEN, LEAVE_UNANSWERED, COMMIT_ON_ITS_WAY -> {
                assertThat(client.failure().orElseThrow())
                        .isInstanceOf(BackendUnavailableException.class)
                        .hasMessageStartingWith("Transaction under token " + client.token() + " on " + resource(client)
                                + " failed, the connection was lost: ")
                        .hasMessageEndingWith("Nothing of it was committed. The mark is " + client.token()
                                + "; run it again under the same claim.");
                assertThat(client.movements.holds(client.operation)).isFalse();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"COMMIT_ON_ITS_WAY", "COMMIT_UNANSWERED"})
    void anUnknownOutcomeIsResolvedAsTheDataSays(Step step) {
        AT_ONCE.get(step)
                .assertResolvedAs(step == Step.COMMIT_UNANSWERED ? Resolution.APPLIED : Resolution.NEVER_APPLIED);
    }

    @ParameterizedTest
    @MethodSource("clients")
    void noAcknowledgedClaimOrWriteIsLostAndNothingElseAppears(CrashClient client) {
        client.settle();

        assertThat(client.movements.violations()).isEmpty();
        boolean carriedOut = client.claim().isPresent() || client.step == Step.CLAIM_UNANSWERED;
        assertThat(MARKS.get(client)).isEqualTo(carriedOut ? client.token() : client.older);
    }

    @ParameterizedTest
    @MethodSource("clients")
    void theClaimGoesOnAfterTheCrashAndWhoeverWasOvertakenStaysSo(CrashClient client) throws SQLException {
        PostgresFence fence = PostgresFence.on(database.source());
        client.settle();
        Claim<Connection> claim = client.claim().orElseGet(() -> fence.claim(client.lease));
        UUID next = UUID.randomUUID();

        claim.useTransaction(c -> client.movements.move(c, client.token(), next, 1));

        client.movements.believe(next, Belief.APPLIED);
        assertThat(client.movements.violations()).isEmpty();
        assertThatThrownBy(() -> fence.resume(client.older))
                .isInstanceOfSatisfying(
                        StaleTokenException.class, e -> assertThat(e.newest()).isEqualTo(client.token()))
                .hasMessageContaining("token " + client.older + " is older by");
    }

    @Test
    void aVerdictThatAnOperationNeverHappenedOutlivesTheCrash() {
        assertThat(database.text("SELECT outcome FROM fenceline.operation WHERE id = '" + RULED_OUT + "'"))
                .isEqualTo("never");
    }

    @Test
    void whoTakesALostReplyForNotDoneAppliesTheWorkTwice() throws SQLException {
        CrashClient client = doesItAgain;
        assertThat(client.failure().orElseThrow()).isInstanceOf(OutcomeUnknownException.class);

        client.claim()
                .orElseThrow()
                .useTransaction(c -> client.movements.move(c, client.token(), client.operation, 10));
        client.movements.believe(client.operation, Belief.APPLIED);

        assertThat(client.movements.violations())
                .containsExactly("operation " + client.operation + " was applied 2 times");
    }

    @Test
    void whoTakesALostReplyForDoneLosesTheWork() {
        CrashClient client = takesItForDone;
        assertThat(client.failure().orElseThrow()).isInstanceOf(OutcomeUnknownException.class);

        client.movements.believe(client.operation, Belief.APPLIED);

        assertThat(client.movements.violations())
                .containsExactly("operation " + client.operation + " was acknowledged, and is lost");
    }

    @Test
    void aWriteThatSwitchedSynchronousCommitOffIsAcknowledgedAndLost() {
        assertThat(forgotten.violations())
                .singleElement()
                .asString()
                .startsWith("operation ")
                .endsWith(" was acknowledged, and is lost");
    }

    @Test
    void twoWritersThroughSeveralCrashesLoseNothingAndDoNothingTwice() throws Exception {
        try (CrashRun run = CrashRun.ofUnits(server, database, ACCOUNT_OF_WRITERS)) {
            for (int i = 0; i < CRASHES; i++) {
                run.crash();
            }
            run.finish();
            run.verify();
        }
    }
}
