package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencingToken;
import dev.fenceline.Locks;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.OutcomeUnknownException.Resolution;
import dev.fenceline.StaleTokenException;
import dev.fenceline.jdbc.CrashingClient.Return;
import dev.fenceline.jdbc.Movements.Belief;
import dev.fenceline.jdbc.RowCrashClient.Step;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.PostgresProcess;
import dev.fenceline.testkit.Servers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
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
 * As {@link CrashTest}, for row mode: the server dies by SIGKILL with a client at every step at once, between the claim, the write
 * and its answer, and is started again.
 *
 * <p>The naive client that loses here takes a write without an answer for not done, and does it again without reading.
 */
@Tag("server")
class RowCrashTest {

    private static final int CRASHES = 2;
    private static final int ACCOUNT_OF_WRITERS = 1_000;

    private static final Map<Step, RowCrashClient> AT_ONCE = new EnumMap<>(Step.class);
    private static final Map<Step, RowCrashClient> WHEN_IT_IS_BACK = new EnumMap<>(Step.class);
    private static final Map<RowCrashClient, FencingToken> MARKS = new HashMap<>();

    static EmbeddedServers servers;
    static PostgresProcess server;
    static TestDatabase database;
    static Locks locks;
    static ExecutorService threads;
    static RowCrashClient doesItAgain;

    @BeforeAll
    static void crashWithAClientAtEveryStep() throws Exception {
        servers = Servers.embedded();
        server = servers.postgres(CrashRun.server());
        database = TestDatabase.createOn(server);
        Movements.createLog(database);
        CrashWork.Rows.addMarks(database);
        // Longer than the whole: no timeout is to end a step before the server dies.
        locks = Grants.locks(Duration.ofMinutes(2));
        threads = Executors.newCachedThreadPool();
        Outage outage = new Outage();
        List<RowCrashClient> clients = new ArrayList<>();
        for (Step step : Step.values()) {
            AT_ONCE.put(step, client(step, Return.AT_ONCE, outage, clients));
            WHEN_IT_IS_BACK.put(step, client(step, Return.WHEN_IT_IS_BACK, outage, clients));
        }
        doesItAgain = client(Step.WRITE_UNANSWERED, Return.AT_ONCE, outage, clients);
        for (RowCrashClient client : clients) {
            client.start(threads);
        }
        for (RowCrashClient client : clients) {
            client.awaitArrival();
        }
        outage.begin();
        server.crash();
        clients.forEach(RowCrashClient::loseConnection);
        for (RowCrashClient client : clients) {
            if (client.back == Return.AT_ONCE) {
                client.awaitEnd();
            }
        }
        server.restart();
        clients.forEach(client -> MARKS.put(client, client.mark()));
        outage.end();
        for (RowCrashClient client : clients) {
            if (client.back == Return.WHEN_IT_IS_BACK) {
                client.awaitEnd();
            }
        }
    }

    private static RowCrashClient client(Step step, Return back, Outage outage, List<RowCrashClient> clients) {
        RowCrashClient client = new RowCrashClient(step, back, database, locks, clients.size() + 1, outage);
        clients.add(client);
        return client;
    }

    @AfterAll
    static void close() {
        Stream.concat(clients(), Stream.of(doesItAgain)).forEach(RowCrashClient::end);
        AT_ONCE.clear();
        WHEN_IT_IS_BACK.clear();
        MARKS.clear();
        threads.shutdownNow();
        locks.close();
        servers.close();
    }

    static Stream<RowCrashClient> clients() {
        return Stream.concat(AT_ONCE.values().stream(), WHEN_IT_IS_BACK.values().stream());
    }

    private static String resource(RowCrashClient client) {
        return "PostgreSQL row '" + client.lock + "' of \"account\"";
    }

    private static Throwable told(RowCrashClient client) {
        return client.failure().orElseThrow(() -> new AssertionError("Nothing was told to " + client));
    }

    @ParameterizedTest
    @EnumSource
    void whoAsksWhileTheServerIsDownIsToldNoMoreThanIsCertain(Step step) {
        RowCrashClient client = AT_ONCE.get(step);
        switch (step) {
            case CLAIM_ON_ITS_WAY, CLAIM_UNANSWERED, ABSENCE_CLAIM_UNANSWERED ->
                assertThat(told(client))
                        .isInstanceOf(BackendUnavailableException.class)
                        .hasMessageStartingWith("Claim of token " + client.token() + " on " + resource(client)
                                + " failed, the connection was lost: ")
                        .hasMessageContaining("No answer came, so the mark may have been raised, which does no harm");
            case CLAIMED, ABSENCE_CLAIMED ->
                assertThat(told(client))
                        .isInstanceOf(BackendUnavailableException.class)
                        .hasMessageContaining(" on " + resource(client) + " failed, no connection: ");
            case WRITTEN_IN_A_TRANSACTION ->
                assertThat(told(client))
                        .isInstanceOf(BackendUnavailableException.class)
                        .hasMessageStartingWith("Update under token " + client.token() + " on " + resource(client)
                                + " failed, the connection was lost: ");
            case WRITE_ON_ITS_WAY, WRITE_UNANSWERED, DELETION_UNANSWERED -> isUnknown(client);
            case RECORDED_WRITE_ON_ITS_WAY, RECORDED_WRITE_UNANSWERED ->
                assertThat(told(client))
                        .isInstanceOfSatisfying(
                                OutcomeUnknownException.class,
                                e -> assertThat(e.resolvable()).isTrue())
                        .hasMessageContaining("the answer was lost, and asking did not settle it: ");
        }
    }

    private static void isUnknown(RowCrashClient client) {
        assertThat(told(client))
                .isInstanceOfSatisfying(
                        OutcomeUnknownException.class,
                        e -> assertThat(e.resolvable()).isFalse())
                .hasMessageContaining(" of " + resource(client) + " under token " + client.token()
                        + " may have happened: the connection was lost (")
                .hasMessageContaining("), and nothing recorded it. Read the row under its claim");
    }

    @ParameterizedTest
    @EnumSource
    void whoAsksWhenItIsBackLearnsWhatHappenedIfItWasRecorded(Step step) {
        RowCrashClient client = WHEN_IT_IS_BACK.get(step);
        switch (step) {
            case CLAIM_ON_ITS_WAY, CLAIM_UNANSWERED, CLAIMED, RECORDED_WRITE_UNANSWERED -> {
                assertThat(client.failure())
                        .as("a claim is repeated, a record found")
                        .isEmpty();
                assertThat(client.movements.holds(client.operation)).isTrue();
            }
            case ABSENCE_CLAIM_UNANSWERED, ABSENCE_CLAIMED -> {
                assertThat(client.failure()).isEmpty();
                assertThat(database.balance(client.account)).isEqualTo(7);
            }
            case RECORDED_WRITE_ON_ITS_WAY, WRITTEN_IN_A_TRANSACTION -> {
                assertThat(told(client))
                        .isInstanceOf(BackendUnavailableException.class)
                        .hasMessageEndingWith("Nothing of it happened; try again under the same claim.");
                assertThat(client.movements.holds(client.operation)).isFalse();
            }
            case WRITE_ON_ITS_WAY, WRITE_UNANSWERED, DELETION_UNANSWERED -> isUnknown(client);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"RECORDED_WRITE_ON_ITS_WAY", "RECORDED_WRITE_UNANSWERED"})
    void anUnknownOutcomeIsResolvedAsTheRowSays(Step step) {
        AT_ONCE.get(step)
                .assertResolvedAs(
                        step == Step.RECORDED_WRITE_UNANSWERED ? Resolution.APPLIED : Resolution.NEVER_APPLIED);
    }

    @ParameterizedTest
    @EnumSource(names = {"WRITE_ON_ITS_WAY", "WRITE_UNANSWERED"})
    void whereNothingWasRecordedTheRowTellsUnderItsClaim(Step step) throws Exception {
        for (RowCrashClient client : List.of(AT_ONCE.get(step), WHEN_IT_IS_BACK.get(step))) {
            long found = client.claim(client.token()).row().orElseThrow();

            assertThat(found - 100)
                    .as("%s: the 10 are there, or can no longer come", client)
                    .isIn(client.movements.holds(client.operation) ? List.of(10L, 11L) : List.of(0L, 1L));
            assertThat(client.movements.holds(client.operation)).isEqualTo(step == Step.WRITE_UNANSWERED);
        }
    }

    @ParameterizedTest
    @MethodSource("clients")
    void noAcknowledgedClaimOrWriteIsLostAndNothingElseAppears(RowCrashClient client) {
        boolean carriedOut = client.claim().isPresent()
                || Arrays.asList(Step.CLAIM_UNANSWERED, Step.ABSENCE_CLAIM_UNANSWERED)
                        .contains(client.step);
        if (client.step != Step.CLAIM_ON_ITS_WAY) {
            assertThat(carriedOut).isTrue();
            assertThat(MARKS.get(client)).isEqualTo(client.token());
        } else {
            assertThat(MARKS.get(client)).isEqualTo(client.older);
        }
        client.settle();
        boolean untold = client.failure()
                .filter(OutcomeUnknownException.class::isInstance)
                .map(OutcomeUnknownException.class::cast)
                .filter(e -> !e.resolvable())
                .isPresent();
        if (untold) {
            client.movements.believe(
                    client.operation, client.movements.holds(client.operation) ? Belief.APPLIED : Belief.NEVER_APPLIED);
        }
        if (!client.step.isOfNoRow() && client.step != Step.DELETION_UNANSWERED) {
            assertThat(client.movements.violations()).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("clients")
    void theClaimGoesOnAfterTheCrashAndWhoeverWasOvertakenStaysSo(RowCrashClient client) throws Exception {
        RowClaim<Long> claim = client.claim(client.token());

        claim.upsert(RowValues.of("balance", claim.row().orElse(0L)));

        assertThatThrownBy(
                        () -> client.rows().blind(client.older, client.account).upsert(RowValues.of("balance", 0)))
                .isInstanceOfSatisfying(
                        StaleTokenException.class, e -> assertThat(e.newest()).isEqualTo(client.token()))
                .hasMessageContaining("token " + client.older + " is older by");
    }

    @Test
    void whoTakesALostAnswerForNotDoneAppliesTheWorkTwice() throws Exception {
        RowCrashClient client = doesItAgain;
        isUnknown(client);
        RowClaim<Long> claim = client.claim().orElseThrow();

        client.rows()
                .claim(claim.token(), client.account, row -> row.getLong("balance"))
                .update(RowValues.ofSql("balance", "balance + ?", 10)
                        .and("operation", client.operation)
                        .andSql("read", "balance"));
        client.movements.believe(client.operation, Belief.APPLIED);

        assertThat(client.movements.violations())
                .containsExactly("operation " + client.operation + " was applied 2 times");
        assertThat(client.movements.holds(UUID.randomUUID())).isFalse();
    }

    @Test
    void twoWritersThroughSeveralCrashesLoseNothingAndDoNothingTwice() throws Exception {
        try (CrashRun run = CrashRun.ofRows(server, database, ACCOUNT_OF_WRITERS)) {
            for (int i = 0; i < CRASHES; i++) {
                run.crash();
            }
            run.finish();
            run.verify();
        }
    }
}
