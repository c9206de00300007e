package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineEvent.WriteEnded;
import dev.fenceline.FencelineEvent.WriteOutcome;
import dev.fenceline.FencingToken;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.UnfencedWriteException;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.FaultProxy.Cut;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.spi.JdbiPlugin;
import org.jdbi.v3.core.statement.UnableToExecuteStatementException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.jdbc.PreferQueryMode;

/** One statement in one round trip is fenced like a transaction. */
@Tag("server")
class SingleStatementTest extends TwoGrants {

    private static final String ADD = "UPDATE account SET balance = balance + ? WHERE id = ?";

    final ExecutorService threads = Executors.newCachedThreadPool();
    final RecordedEvents events = new RecordedEvents();
    PostgresFence fence;

    @BeforeEach
    void fence() {
        fence = PostgresFence.on(database.source()).listener(events);
        database.account(2, 100);
    }

    @AfterEach
    void stop() {
        threads.shutdownNow();
    }

    private WriteOutcome outcome() {
        var ended = events.of(WriteEnded.class);
        assertThat(ended).isNotEmpty();
        return ended.get(ended.size() - 1).outcome();
    }

    @Test
    void itAppliesAndCountsWhatItChanged() throws SQLException {
        Claim<Connection> claim = fence.claim(older);

        assertThat(claim.update(ADD, 10, 1)).isEqualTo(1);
        assertThat(claim.update("UPDATE account SET balance = balance + 1 WHERE id IN (1, 2);"))
                .isEqualTo(2);
        assertThat(claim.update(ADD, 10, 999)).isZero();
        assertThat(claim.update(
                        "WITH x AS (SELECT 5 AS n) UPDATE account SET balance = balance + n FROM x WHERE id = ?"
                                + " -- and a comment, RETURNING nothing",
                        1))
                .isEqualTo(1);
        assertThat(claim.update("INSERT INTO account VALUES (?, ?) ON CONFLICT (id) DO NOTHING", 1, 0))
                .isZero();
        assertThat(claim.update("INSERT INTO account VALUES (?, ?)", 77, 7)).isEqualTo(1);
        assertThat(outcome()).isEqualTo(WriteOutcome.APPLIED);
        String merge = "MERGE INTO account a USING (VALUES (77)) v(id) ON a.id = v.id WHEN MATCHED THEN DELETE";
        if (database.number("SHOW server_version_num") >= 170000) {
            assertThat(claim.update(merge)).isEqualTo(1);
        } else {
            assertThatThrownBy(() -> claim.update(merge))
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("42601"));
        }
        assertThat(database.balance(1)).isEqualTo(116);
    }

    @Test
    void aStaleOneChangesNothingAndIsToldWithBothTokens() {
        Claim<Connection> claim = fence.claim(older);
        fence.claim(newer);

        for (int attempt = 0; attempt < 2; attempt++) {
            assertThatThrownBy(() -> claim.update(ADD, 10, 1)).isInstanceOfSatisfying(StaleTokenException.class, e -> {
                assertThat(e.presented()).isEqualTo(older);
                assertThat(e.newest()).isEqualTo(newer);
            });
        }
        assertThat(database.balance(1)).isEqualTo(100);
        assertThat(outcome()).isEqualTo(WriteOutcome.STALE);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void ofTwoStatementsInOneStringTheSecondIsCommittedThoughTheFirstRefuses(boolean fenced) throws Exception {
        // Simple query mode, as poolers ask for: the control sends the check and the write as one string.
        var simple = database.sourceNamed("simple");
        simple.setPreferQueryMode(PreferQueryMode.SIMPLE);
        Claim<Connection> claim = PostgresFence.on(simple).claim(older);
        fence.claim(newer);

        if (fenced) {
            assertThatThrownBy(() -> claim.update(ADD, 10, 1)).isInstanceOf(StaleTokenException.class);
        } else {
            try (Connection connection = simple.getConnection()) {
                String check = "SELECT 1 / count(*) FROM fenceline.guard WHERE token = ?";
                var both =
                        connection.prepareStatement(check + "; UPDATE account SET balance = balance + 10 WHERE id = 1");
                both.setLong(1, older.value());
                assertThatThrownBy(both::execute)
                        .isInstanceOf(SQLException.class)
                        .hasMessageContaining("division by zero");
            }
        }
        assertThat(database.balance(1)).isEqualTo(fenced ? 100 : 110);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void behindAnotherTransactionOfItsClaimItSeesWhatThatOneWrote(boolean ofTwoLocks) throws Exception {
        Claim<Connection> claim = fence.claim(older);
        List<FencingToken> tokens = new ArrayList<>(List.of(older));
        if (ofTwoLocks) {
            tokens.add(Grants.next(Grants.freshLock()));
            fence.claim(tokens);
        }
        Claim<Connection> late = PostgresFence.on(database.sourceNamed("late")).resume(tokens);
        String copy = "UPDATE account SET balance = (SELECT balance FROM account WHERE id = 1) + 100 WHERE id = 2";

        Future<Long> copied = claim.inTransaction(c -> {
            TestDatabase.write(c, 1, 0);
            Future<Long> waiting = threads.submit(() -> late.update(copy));
            database.awaitLockWait("late");
            return waiting;
        });

        assertThat(copied.get(20, TimeUnit.SECONDS)).isEqualTo(1);
        assertThat(database.balance(2)).as("0 + 100").isEqualTo(100);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT 1 FROM fenceline.guard g WHERE OF_MARK FOR NO KEY UPDATE",
                // As the fence does it, but for the version that the statement sees.
                "UPDATE fenceline.holding_v1 g SET claimed_at = g.claimed_at WHERE OF_MARK RETURNING 1"
            })
    void withALockAloneTheStatementWorksOnAnOldState(String lock) throws Exception {
        // The control: the same statement, which locks the mark and does not look whether it was written meanwhile.
        Claim<Connection> claim = fence.claim(older);
        String ofMark = "g.lock = '" + older.lock() + "' AND g.token = " + older.value() + " AND g.holder = '"
                + older.holder() + "'";
        String naive = "WITH g AS MATERIALIZED (" + lock.replace("OF_MARK", ofMark)
                + "), w AS (UPDATE account SET balance ="
                + " (SELECT balance FROM account WHERE id = 1) + 100 WHERE id = 2 RETURNING 1)"
                + " SELECT CASE WHEN EXISTS (SELECT 1 FROM g) THEN (SELECT count(*) FROM w) END";

        Future<Integer> copied = claim.inTransaction(c -> {
            TestDatabase.write(c, 1, 0);
            Future<Integer> waiting = threads.submit(() -> {
                try (Connection other = database.sourceNamed("naive").getConnection();
                        var row = other.createStatement().executeQuery(naive)) {
                    row.next();
                    return row.getInt(1);
                }
            });
            database.awaitLockWait("naive");
            return waiting;
        });

        assertThat(copied.get(20, TimeUnit.SECONDS)).isEqualTo(1);
        assertThat(database.balance(2)).as("based on a balance that was gone").isEqualTo(200);
    }

    @Test
    void aStaleOneThatWaitsBehindANewerClaimIsRefused() throws Exception {
        Claim<Connection> claim = PostgresFence.on(database.sourceNamed("late")).claim(older);
        try (Connection newcomer = database.source().getConnection()) {
            newcomer.setAutoCommit(false);
            GuardSql.claim(newcomer, Tokens.of(newer), Duration.ofSeconds(20));
            Future<Long> waiting = threads.submit(() -> claim.update(ADD, 10, 1));
            database.awaitLockWait("late");
            newcomer.commit();

            assertThatThrownBy(() -> waiting.get(20, TimeUnit.SECONDS)).cause().isInstanceOf(StaleTokenException.class);
        }
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void manyThreadsOfOneClaimLoseNothing() throws Exception {
        Claim<Connection> claim = fence.claim(older);
        String chain = "UPDATE account SET balance = (SELECT sum(balance) FROM account WHERE id = 1) + ? WHERE id = 1";

        Race.of(4, turn -> {
            for (int i = 0; i < 10; i++) {
                boolean applied = false;
                while (!applied) {
                    try {
                        applied = claim.update(chain, 1) == 1;
                    } catch (RetryableConflictException again) {
                        assertThat(again).hasMessageContaining("run a new transaction under it");
                    }
                }
            }
        });

        assertThat(database.balance(1)).isEqualTo(140);
    }

    @Test
    void whatTheDatabaseRefusesComesOutAsTheDriversException() {
        Claim<Connection> claim = fence.claim(older);

        assertThatThrownBy(() -> claim.update("INSERT INTO account VALUES (1, 1)"))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("23505"));
        assertThatThrownBy(() -> claim.update("UPDATE nowhere SET x = 1"))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("42P01"));
        assertThat(database.balance(1)).isEqualTo(100);
        assertThat(outcome()).isEqualTo(WriteOutcome.ROLLED_BACK);
    }

    @Test
    void whatIsNotOneStatementIsRefusedBeforeAnythingIsSent() {
        var source = new HookedSource(database.source(), number -> {});
        Claim<Connection> claim = PostgresFence.on(source).claim(older);

        assertThatThrownBy(() -> claim.update("UPDATE account SET balance = 1; DELETE FROM account"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "This SQL cannot run as one fenced statement: it is several statements, of which some could commit"
                                + " and others not. Nothing was sent. Give it one INSERT, UPDATE, DELETE or MERGE, or use"
                                + " inTransaction of the claim.");
        assertThat(source.opened()).as("the claim's connection alone").isEqualTo(1);
    }

    @Test
    void anotherNumberOfValuesThanParametersIsRefusedBeforeAnythingIsSent() throws SQLException {
        var source = new HookedSource(database.source(), number -> {});
        Claim<Connection> claim = PostgresFence.on(source).claim(older);
        Claim<Connection> serializable =
                PostgresFence.on(source).isolation(Isolation.SERIALIZABLE).resume(older);
        int opened = source.opened();

        for (Claim<Connection> each : List.of(claim, serializable)) {
            assertThatThrownBy(() -> each.update(ADD, 10))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("Statement on PostgreSQL guard '" + older.lock()
                            + "' refused: it has 2 parameters (?), and 1 value was given: " + ADD
                            + ". Nothing was sent. Give one value for each ?, and write ?? for an operator with a question"
                            + " mark.");
            assertThatThrownBy(() -> each.update("DELETE FROM account WHERE note = 'secret ?' OR id = ?", 1, 2, 3))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(
                            "refused: it has 1 parameter (?), and 3 values were given: DELETE FROM account WHERE"
                                    + " note = '…' OR id = ?. Nothing was sent.");
        }
        assertThat(source.opened()).isEqualTo(opened);

        String quoted =
                "UPDATE account SET balance = balance + ? /* ? */ WHERE id = ? AND '?' = $$?$$ AND NOT '{}'::jsonb ?? 'x'"
                        + " -- ?";
        assertThat(claim.update(quoted, 10, 1)).isEqualTo(1);
    }

    @Test
    void insideATransactionOfItsLockItIsRefusedInsteadOfWaitingForIt() throws SQLException {
        Claim<Connection> claim = fence.claim(older);
        claim.useTransaction(c -> {
            TestDatabase.write(c, 1, 90);
            assertThatThrownBy(() -> claim.update(ADD, 10, 1))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining(
                            "this thread is inside a transaction under token " + older + " of the same lock");
        });
        assertThat(database.balance(1)).isEqualTo(90);
    }

    @Test
    void whoeverBlocksTheMarkForTooLongIsNamed() throws SQLException {
        var source = database.sourceNamed("hurried");
        source.setOptions("-c lock_timeout=50");
        Claim<Connection> hurried = PostgresFence.on(source).claim(older);

        PostgresFence.on(database.sourceNamed("the-holder")).resume(older).useTransaction(c -> {
            TestDatabase.write(c, 2, 90);
            assertThatThrownBy(() -> hurried.update(ADD, 10, 1))
                    .isInstanceOf(RetryableConflictException.class)
                    .hasMessageContaining("lock timeout (SQLSTATE 55P03); the mark is blocked by pid ")
                    .hasMessageContaining("application_name 'the-holder'. The claim is still good");
        });
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void whoeverBlocksARowIsNotTakenForWhoBlocksTheMark() throws SQLException {
        var source = database.sourceNamed("hurried");
        source.setOptions("-c lock_timeout=50");
        Claim<Connection> hurried = PostgresFence.on(source).claim(older);
        try (Connection unfenced = database.source().getConnection()) {
            unfenced.setAutoCommit(false);
            TestDatabase.write(unfenced, 1, 90);

            assertThatThrownBy(() -> hurried.update(ADD, 10, 1))
                    .isInstanceOf(RetryableConflictException.class)
                    .hasMessageContaining("lock timeout (SQLSTATE 55P03). The claim is still good");
            unfenced.rollback();
        }
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void aHostileSearchPathOfTheSessionChangesNothingOfTheFence() throws SQLException {
        database.execute("CREATE SCHEMA evil;"
                + " CREATE FUNCTION evil.refuse(pg_catalog.text) RETURNS boolean LANGUAGE plpgsql"
                + " AS 'BEGIN RAISE EXCEPTION ''hostile''; END';"
                + " CREATE DOMAIN evil.text AS pg_catalog.text CHECK (evil.refuse(VALUE));"
                + " CREATE DOMAIN evil.uuid AS pg_catalog.uuid CHECK (evil.refuse(VALUE::pg_catalog.text));"
                + " CREATE DOMAIN evil.timestamptz AS pg_catalog.timestamptz CHECK (evil.refuse(VALUE::pg_catalog.text));"
                + " CREATE FUNCTION evil.same(bigint, bigint) RETURNS boolean LANGUAGE sql AS 'SELECT true';"
                + " CREATE OPERATOR evil.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = evil.same)");
        var hostile = database.sourceNamed("hostile");
        hostile.setOptions("-c search_path=evil,pg_catalog");
        String add = "UPDATE public.account SET balance = balance + 10 WHERE id OPERATOR(pg_catalog.=) 1";
        Claim<Connection> claim = PostgresFence.on(hostile).claim(older);
        Claim<Connection> recorded = PostgresFence.on(hostile).recorded().resume(older);

        assertThat(claim.update(add)).isEqualTo(1);
        assertThat(recorded.update(add)).isEqualTo(1);
        fence.claim(newer);

        assertThatThrownBy(() -> claim.update(add)).isInstanceOf(StaleTokenException.class);
        assertThatThrownBy(() -> recorded.update(add)).isInstanceOf(StaleTokenException.class);
        assertThat(database.balance(1)).isEqualTo(120);
    }

    @Test
    void withAnIsolationItIsATransactionOfItsOwn() throws SQLException {
        Claim<Connection> claim = fence.isolation(Isolation.SERIALIZABLE).claim(older);

        assertThat(claim.update(
                        "UPDATE account SET balance = CASE current_setting('transaction_isolation')"
                                + " WHEN 'serializable' THEN 110 ELSE 0 END WHERE id = ?",
                        1))
                .isEqualTo(1);
        assertThat(database.balance(1)).isEqualTo(110);
    }

    // The answer is lost.

    @ParameterizedTest
    @EnumSource(Cut.class)
    void withoutARecordALostAnswerLeavesTheOutcomeUnknown(Cut cut) {
        try (FaultProxy proxy = proxy()) {
            Claim<Connection> claim = over(proxy, fence).claim(older);
            proxy.onRequest("holding_v1").loseReply(cut);

            assertThatThrownBy(() -> claim.update(ADD, 10, 1))
                    .isInstanceOfSatisfying(
                            OutcomeUnknownException.class,
                            e -> assertThat(e.resolvable()).isFalse())
                    .hasMessageStartingWith("Statement on PostgreSQL guard '" + older.lock() + "' under token " + older
                            + " may have happened: the answer was lost (")
                    .hasMessageEndingWith("Look at the data before it is done again, or use a fence with recorded().");
        }
        assertThat(database.balance(1)).isEqualTo(110);
    }

    @ParameterizedTest
    @EnumSource(Cut.class)
    void withARecordALostAnswerIsSettledWithItsCount(Cut cut) throws SQLException {
        try (FaultProxy proxy = proxy()) {
            Claim<Connection> claim =
                    over(proxy, fence.recorded().listener(events)).claim(older);
            proxy.onRequest("holding_v1").loseReply(cut);
            assertThat(claim.update("UPDATE account SET balance = balance + ? WHERE id IN (1, 2)", 10))
                    .isEqualTo(2);
            assertThat(outcome()).isEqualTo(WriteOutcome.APPLIED);
            assertThat(database.balance(1)).isEqualTo(110);

            proxy.onRequest("holding_v1").dropRequest(cut);
            assertThatThrownBy(() -> claim.update(ADD, 10, 1))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("Nothing of it was committed. The mark is " + older);
        }
        assertThat(database.balance(1)).isEqualTo(110);
    }

    @Test
    void aRecordIsWrittenInTheSameStatementAndAVerdictUndoesIt() throws SQLException {
        TestDatabase own = TestDatabase.create();
        own.account(1, 100);
        Claim<Connection> claim = PostgresFence.on(own.source()).recorded().claim(older);
        claim.update(ADD, 10, 1);
        assertThat(own.text("SELECT outcome || ' ' || changed FROM fenceline.operation"))
                .isEqualTo("applied 1");

        // As if a resolver had been faster.
        own.execute("CREATE FUNCTION rule() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO fenceline.operation"
                + " VALUES (NEW.id, NEW.entered_at, ''never''); RETURN NEW; END';"
                + " CREATE TRIGGER rule BEFORE INSERT ON fenceline.operation FOR EACH ROW WHEN (NEW.outcome = 'applied')"
                + " EXECUTE FUNCTION rule()");
        assertThatThrownBy(() -> claim.update(ADD, 10, 1))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("23505"));
        assertThat(own.balance(1)).isEqualTo(110);
    }

    @Test
    void aClaimThatHeardNothingForLongRecordsFromNowOn() throws SQLException {
        Claim<Connection> claim = fence.recorded().claim(older);
        claim.answered(OffsetDateTime.now(java.time.ZoneOffset.UTC).minusDays(30));

        assertThat(claim.update(ADD, 10, 1)).isEqualTo(1);
        assertThat(claim.lastAnswer())
                .isAfter(OffsetDateTime.now(java.time.ZoneOffset.UTC).minusDays(1));
        assertThat(database.balance(1)).isEqualTo(110);
    }

    private static FaultProxy proxy() {
        return FaultProxy.to(database.server().host(), database.server().port());
    }

    private PostgresFence over(FaultProxy proxy, PostgresFence like) {
        PostgresFence through =
                PostgresFence.on(database.sourceAt(proxy.host(), proxy.port())).listener(events);
        return like.settings().has(FenceSettings.Choice.RECORDED) ? through.recorded() : through;
    }

    // Jdbi binds and renders.

    @Test
    void jdbiBindsInItsOwnWay() {
        JdbiFence jdbi = JdbiFence.on(Jdbi.create(database.source()).define("column", "balance"));
        Claim<Handle> claim = jdbi.recorded().claim(older);

        assertThat(jdbi.update(
                        claim,
                        "UPDATE account SET <column> = <column> + :amount WHERE id IN (<ids>)",
                        update -> update.bind("amount", 10).bindList("ids", List.of(1, 2))))
                .isEqualTo(2);
        assertThat(jdbi.update(claim, ADD, update -> update.bind(0, 5).bind(1, 1)))
                .isEqualTo(1);
        assertThat(jdbi.update(claim, "DELETE FROM account WHERE id = :id", update -> update.bind("id", 999)))
                .isZero();
        assertThat(database.balance(1)).isEqualTo(115);
        assertThat(database.number("SELECT count(*) FROM fenceline.operation WHERE changed = 2"))
                .isPositive();
    }

    @Test
    void whatAPluginOfJdbiRunsWhenItOpensAHandleIsItsOwnAffair() {
        Jdbi customised = Jdbi.create(database.source());
        customised.installPlugin(new JdbiPlugin() {
            @Override
            public Handle customizeHandle(Handle handle) {
                handle.execute("SET application_name = 'customised'");
                return handle;
            }
        });
        JdbiFence jdbi = JdbiFence.on(customised);

        assertThat(jdbi.update(
                        jdbi.claim(older),
                        "UPDATE account SET balance = length(current_setting('application_name')) WHERE id = :id",
                        update -> update.bind("id", 1)))
                .isEqualTo(1);
        assertThat(database.balance(1)).isEqualTo("customised".length());
    }

    @Test
    void jdbiIsToldOfStaleOnesOfMisuseAndOfWhatTheDatabaseRefuses() throws SQLException {
        JdbiFence jdbi = JdbiFence.on(Jdbi.create(database.source()));
        Claim<Handle> claim = jdbi.claim(older);
        assertThat(claim.update(ADD, 1, 1)).isEqualTo(1);
        assertThatThrownBy(() -> jdbi.update(claim, "SELECT :x", update -> update.bind("x", 1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("it is a SELECT, which changes nothing")
                .hasMessageEndingWith("or use readOnly of the claim.");
        assertThatThrownBy(() -> jdbi.update(claim, "INSERT INTO account VALUES (1, 1)", update -> {}))
                .isInstanceOf(UnableToExecuteStatementException.class)
                .hasMessageContaining("duplicate key");
        assertThatThrownBy(() -> jdbi.update(
                        claim,
                        "DELETE FROM account WHERE id = 1",
                        update -> update.getHandle()
                                .createScript("DELETE FROM account")
                                .execute()))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessage("createStatement() in a fenced statement on PostgreSQL guard '" + older.lock()
                        + "' refused before it was sent: it would be outside of the fence. One statement is all that runs here;"
                        + " use inTransaction for more.");
        assertThat(jdbi.isolation(Isolation.REPEATABLE_READ)
                        .update(
                                jdbi.isolation(Isolation.REPEATABLE_READ).claim(older),
                                "UPDATE account SET balance = :b WHERE id = 1",
                                update -> update.bind("b", 7)))
                .isEqualTo(1);
        fence.claim(newer);

        assertThatThrownBy(() ->
                        jdbi.update(claim, ADD, update -> update.bind(0, 5).bind(1, 1)))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageContaining("token " + older + " is older by");
        assertThat(database.balance(1)).isEqualTo(7);
    }
}
