package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineEvent.WriteEnded;
import dev.fenceline.FencelineEvent.WriteOutcome;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.UnfencedWriteException;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.PostgresProcess;
import dev.fenceline.testkit.PostgresSpec;
import dev.fenceline.testkit.Servers;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Work that committed by itself, and then failed, is never told that nothing happened. */
@Tag("server")
class EndedWithinTest {

    private static final String LOST_RACE = "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$";

    static PostgresProcess server;
    static TestDatabase database;

    final RecordedEvents events = new RecordedEvents();
    Claim<Connection> claim;

    @BeforeAll
    static void create() {
        server = Servers.embedded().postgres(PostgresSpec.primary().setting("max_prepared_transactions", "1"));
        database = TestDatabase.createOn(server);
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void claimed() {
        claim = PostgresFence.on(database.source()).listener(events).claim(Grants.next(Grants.freshLock()));
        database.account(1, 100);
    }

    private static void swallow(Connection connection, String sql) {
        try {
            connection.createStatement().execute(sql);
        } catch (SQLException swallowed) {
            // As many a program does.
        }
    }

    private static void terminate(Connection connection) throws SQLException {
        int pid = connection.unwrap(org.postgresql.PGConnection.class).getBackendPID();
        database.execute("SELECT pg_terminate_backend(" + pid + ")");
        TestDatabase.await(
                "session " + pid + " has ended",
                () -> database.number("SELECT count(*) FROM pg_stat_activity WHERE pid = " + pid) == 0);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE account SET balance = 7; COMMIT; SELECT 1 / 0",
                "UPDATE account SET balance = 7; COMMIT; BEGIN; SELECT 1 / 0",
                "UPDATE account SET balance = 7; COMMIT; BEGIN; " + LOST_RACE,
                "SELECT 1; ROLLBACK; BEGIN; UPDATE account SET balance = 7; COMMIT; BEGIN; SELECT 1 / 0",
            })
    void aFailureAfterAnInnerEndIsToldWithIt(String sql) {
        assertThatThrownBy(() -> claim.useTransaction(c -> swallow(c, sql)))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageContaining(" ended from within, by a COMMIT or ROLLBACK")
                .hasCauseInstanceOf(SQLException.class);
        assertThat(database.balance(1)).as("it was told truthfully").isEqualTo(7);
        assertThatThrownBy(() -> claim.useTransaction(c -> c.createStatement().execute(sql)))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageContaining(" ended from within, by a COMMIT or ROLLBACK")
                .hasCauseInstanceOf(SQLException.class);
        assertThat(events.of(WriteEnded.class))
                .extracting(WriteEnded::outcome)
                .containsExactly(WriteOutcome.UNKNOWN, WriteOutcome.UNKNOWN);
    }

    @Test
    void aFailedStringThatEndsNothingIsStillALostRace() {
        assertThatThrownBy(() -> claim.useTransaction(c -> c.createStatement().execute("SELECT 1; " + LOST_RACE)))
                .isInstanceOf(RetryableConflictException.class)
                .hasMessageContaining("The claim is still good");
    }

    @Test
    void aConnectionLostAfterAnInnerCommitIsToldWithIt() {
        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    c.createStatement().execute("UPDATE account SET balance = 7; COMMIT");
                    terminate(c);
                    TestDatabase.write(c, 1, 9);
                }))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageContaining("What the work wrote before a COMMIT is committed");
        assertThat(database.balance(1)).isEqualTo(7);
    }

    @Test
    void aCommitThroughAnUnwrappedConnectionBeforeAFailureIsFound() {
        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    TestDatabase.write(c, 1, 7);
                    c.unwrap(org.postgresql.jdbc.PgConnection.class).commit();
                    swallow(c, "SELECT 1 / 0");
                }))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageContaining("was ended from within");
        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    TestDatabase.write(c, 1, 8);
                    var raw = c.unwrap(org.postgresql.jdbc.PgConnection.class);
                    raw.commit();
                    swallow(raw, "SELECT 1 / 0");
                }))
                .as("a failure that only the last check sees")
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageContaining("was ended from within");
        assertThat(database.balance(1)).isEqualTo(8);
    }

    @Test
    void aRefusedCommitAfterAnInnerOneIsToldWithIt() {
        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    c.createStatement().execute("UPDATE account SET balance = 7; COMMIT");
                    try {
                        c.commit();
                    } catch (UnfencedWriteException swallowed) {
                        // As many a program does.
                    }
                }))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageContaining("was ended from within")
                .hasCauseInstanceOf(UnfencedWriteException.class);
    }

    @Test
    void aPreparedTransactionIsToldToBeFound() {
        String prepare = "UPDATE account SET balance = 7 WHERE id = 1; PREPARE TRANSACTION 'left'";
        String told = "It is prepared and keeps its locks, that on the mark too, until somebody ends it: find it in"
                + " pg_prepared_xacts, run ROLLBACK PREPARED or COMMIT PREPARED with its gid";

        assertThatThrownBy(() -> claim.useTransaction(c -> c.createStatement().execute(prepare)))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageContaining("was ended from within, by a PREPARE TRANSACTION in a string")
                .hasMessageContaining(told);
        database.execute("ROLLBACK PREPARED 'left'");
        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    c.createStatement().execute(prepare);
                    terminate(c);
                }))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageContaining(told);
        database.execute("ROLLBACK PREPARED 'left'");
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void withoutTheDatabaseOnlyWorkThatCannotHaveCommittedIsCertainlyRolledBack() {
        try (FaultProxy proxy =
                FaultProxy.to(database.server().host(), database.server().port())) {
            Claim<Connection> broken = PostgresFence.on(database.sourceAt(proxy.host(), proxy.port()))
                    .listener(events)
                    .resume(claim.token());
            assertThatThrownBy(() -> broken.useTransaction(c -> {
                        c.createStatement().execute("UPDATE account SET balance = 7; COMMIT");
                        proxy.refuse();
                        TestDatabase.write(c, 1, 9);
                    }))
                    .isInstanceOfSatisfying(
                            OutcomeUnknownException.class,
                            e -> assertThat(e.resolvable()).isFalse())
                    .hasMessageContaining("may be committed in part: the connection was lost (")
                    .hasMessageEndingWith(
                            "and the database does not answer. Look at the data before the work is done" + " again.");
            proxy.heal();
            assertThatThrownBy(() -> broken.useTransaction(c -> {
                        c.createStatement().execute("UPDATE account SET balance = 8; SELECT 'COMMIT'");
                        proxy.refuse();
                        TestDatabase.write(c, 1, 9);
                    }))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("Nothing of it was committed.");
        }
        assertThat(database.balance(1)).isEqualTo(7);
    }

    @Test
    void workThatTookAnotherRoleIsRolledBackLikeAnyOther() {
        database.execute("CREATE ROLE without_rights");
        var own = new IllegalStateException("of the user");

        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    TestDatabase.write(c, 1, 0);
                    c.createStatement().execute("SET ROLE without_rights");
                    throw own;
                }))
                .isSameAs(own)
                .hasNoSuppressedExceptions();
        assertThat(database.balance(1)).isEqualTo(100);
    }
}
