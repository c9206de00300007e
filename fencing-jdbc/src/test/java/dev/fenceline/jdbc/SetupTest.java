package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencingToken;
import dev.fenceline.StaleTokenException;
import dev.fenceline.UnfencedWriteException;
import dev.fenceline.migrations.FenceMigrations;
import dev.fenceline.testkit.PostgresProcess;
import dev.fenceline.testkit.PostgresSpec;
import dev.fenceline.testkit.Servers;
import dev.fenceline.testkit.SharedServers;
import java.io.IOException;
import java.net.ServerSocket;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.postgresql.ds.PGSimpleDataSource;

/** What is set up wrong is refused, with what to set. */
@Tag("server")
class SetupTest {

    static TestDatabase database;

    FencingToken token;
    String resource;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
    }

    @BeforeEach
    void grant() {
        token = Grants.next(Grants.freshLock());
        resource = "PostgreSQL guard '" + token.lock() + "'";
        database.account(1, 100);
    }

    @Test
    void aSessionInWhichABackslashHidesTheEndOfTextIsRefused() {
        FencingToken token = Grants.next(Grants.freshLock());
        TestDatabase database = TestDatabase.create();
        var lax = database.sourceNamed("lax");
        lax.setOptions("-c standard_conforming_strings=off");
        String refused =
                "A session with standard_conforming_strings = off refused: a backslash could hide the end of quoted text,"
                        + " and with it what a statement does. Set it on for this role or database, and write E'…' where a backslash is"
                        + " meant.";
        assertThatThrownBy(() -> PostgresFence.on(lax).claim(token))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessage(refused);

        Claim<Connection> claim = PostgresFence.on(database.source()).claim(token);
        database.account(1, 100);
        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    ProtectedBank.run(c, "UPDATE account SET balance = 0");
                    ProtectedBank.run(c, "SET standard_conforming_strings = off");
                    // One statement to the server, and two to whoever reads it by the standard.
                    ProtectedBank.run(c, "SELECT '\\'; COMMIT; --'");
                }))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessage(refused);
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void aStandbyIsRefusedForClaimsAndForResuming() {
        try (PostgresProcess primary = Servers.embedded().postgres(PostgresSpec.primary());
                PostgresProcess standby = primary.standby()) {
            TestDatabase main = TestDatabase.createOn(primary);
            PostgresFence.on(main.source()).claim(token);
            primary.awaitStandbyInSync();
            PostgresFence onStandby = PostgresFence.on(standby.dataSource(main.name()));

            String refusal = " on " + resource + " refused: ERROR: %s refused: this server is a standby"
                    + " (pg_is_in_recovery() is true) (SQLSTATE FL002). A standby lags behind, and its marks with it; connect"
                    + " to the primary (targetServerType=primary).";
            assertThatThrownBy(() -> onStandby.claim(token))
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessage("Claim" + String.format(refusal, "Claim"));
            assertThatThrownBy(() -> onStandby.resume(token))
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessage("Resuming" + String.format(refusal, "Reading a mark"));
            Claim<Connection> moved = new Claim<>(onStandby.source(), FenceSettings.defaults(), Tokens.of(token), null);
            assertThatThrownBy(() -> moved.useTransaction(c -> TestDatabase.write(c, 1, 0)))
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessage("Transaction" + String.format(refusal, "Fenced transaction"));
            assertThatThrownBy(() -> moved.readOnly(c -> TestDatabase.read(c, 1)))
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessage("Transaction" + String.format(refusal, "Fenced transaction"));
            assertThatThrownBy(() -> moved.update("UPDATE account SET balance = 0"))
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessage("Statement" + String.format(refusal, "Reading a mark"));
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "synchronous_commit=off | synchronous_commit is off, so a crash could forget the mark after it was acknowledged"
                        + " (SQLSTATE FL003). Set synchronous_commit = on for this role or database.",
                "default_transaction_read_only=on | (SQLSTATE 25006). The session is read-only; set"
                        + " default_transaction_read_only = off for this role, and readOnly=false in the data source.",
            })
    void anUnsafeSessionIsRefusedAndTheSettingNamed(String option, String message) {
        PGSimpleDataSource unsafe = database.sourceNamed("unsafe");
        unsafe.setOptions("-c " + option);

        assertThatThrownBy(() -> PostgresFence.on(unsafe).claim(token))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageStartingWith("Claim on " + resource + " refused: ")
                .hasMessageEndingWith(message);
    }

    @Test
    void aDatabaseWithoutTheSchemaIsToldWhatToRun() {
        TestDatabase bare = TestDatabase.withoutSchemaOn(SharedServers.postgres());

        assertThatThrownBy(() -> PostgresFence.on(bare.source()).claim(token))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessage("Claim on " + resource
                        + " refused: ERROR: schema \"fenceline\" does not exist (SQLSTATE 3F000)."
                        + " This database has no fence schema; run FenceMigrations.on(owner).install() of this release"
                        + " once.");
    }

    @Test
    void aSchemaOfAnotherVersionIsToldWithBothVersions() {
        TestDatabase other = TestDatabase.create();
        other.execute("DROP FUNCTION fenceline.claim_v2; DROP FUNCTION fenceline.enter_v2;"
                + " CREATE OR REPLACE FUNCTION fenceline.version_v1() RETURNS integer LANGUAGE sql AS 'SELECT 1'");

        String message = "The fence schema of this database has version 1, and this release calls version 4;"
                + " run FenceMigrations.on(owner).install() of this release once.";
        assertThatThrownBy(() -> PostgresFence.on(other.source()).claim(token))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageStartingWith("Claim on " + resource + " refused: ERROR: function fenceline.claim_v2(")
                .hasMessageEndingWith("(SQLSTATE 42883). " + message);
        Claim<Connection> claim = new Claim<>(
                PostgresFence.on(other.source()).source(), FenceSettings.defaults(), Tokens.of(token), null);
        assertThatThrownBy(() -> claim.useTransaction(c -> TestDatabase.write(c, 1, 0)))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageEndingWith("(SQLSTATE 42883). " + message);
    }

    @Test
    void aRoleWithoutRightsIsToldWhatToGrantAndThenWorksWithNothingMore() throws SQLException {
        String role = "least_" + database.name();
        database.execute("CREATE ROLE " + role + " LOGIN; GRANT SELECT, UPDATE ON account TO " + role);
        PostgresFence fence = PostgresFence.on(database.server().dataSource(database.name(), role));

        assertThatThrownBy(() -> fence.claim(token))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessage("Claim on " + resource
                        + " refused: ERROR: permission denied for schema fenceline (SQLSTATE 42501)."
                        + " The role '" + role + "' may not use the fence schema; run"
                        + " FenceMigrations.on(owner).grantTo(\"" + role + "\") as the owner of the schema.");

        FenceMigrations.on(database.source()).grantTo(role);
        Claim<Connection> claim = fence.claim(token);
        JdbcWork.add(claim, 1, 10);
        JdbcWork.add(fence.concurrent().resume(token), 1, 5);
        assertThat(fence.recorded().resume(token).update("UPDATE account SET balance = balance + ? WHERE id = 1", 5))
                .isEqualTo(1);
        assertThat((long) claim.readOnly(c -> TestDatabase.read(c, 1))).isEqualTo(120);
        assertThat(database.balance(1)).isEqualTo(120);
        fence.claim(Grants.next(token.lock()));
        assertThatThrownBy(() -> claim.useTransaction(c -> TestDatabase.write(c, 1, 0)))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageContaining("A newer holder has taken over");
    }

    @Test
    void aWrongPasswordAWrongDatabaseAndNoServerAreToldApart() throws IOException {
        try (PostgresProcess server = Servers.embedded().postgres(PostgresSpec.primary())) {
            TestDatabase guarded = TestDatabase.createOn(server);
            guarded.execute("CREATE ROLE secretive LOGIN PASSWORD 'right'");
            // The embedded server trusts its loopback; a server that asks for passwords is what users have.
            guarded.execute(
                    "COPY (SELECT 'host all secretive all scram-sha-256' UNION ALL SELECT 'host all all all trust') TO '"
                            + guarded.text("SHOW hba_file") + "'");
            guarded.execute("SELECT pg_reload_conf()");
            TestDatabase.await(
                    "the rules for passwords are in force",
                    () -> guarded.number("SELECT count(*) FROM pg_hba_file_rules WHERE 'secretive' = ANY (user_name)")
                            == 1);
            PGSimpleDataSource wrong = guarded.sourceNamed("wrong");
            wrong.setUser("secretive");
            wrong.setPassword("hunter2");
            assertThatThrownBy(() -> PostgresFence.on(wrong).claim(token))
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessage("Claim on " + resource + " failed: PostgreSQL refuses the connection: FATAL: password"
                            + " authentication failed for user \"secretive\" (SQLSTATE 28P01). Check the user and the password"
                            + " of the data source.");

            PGSimpleDataSource nowhere = guarded.sourceNamed("nowhere");
            nowhere.setDatabaseName("nowhere");
            assertThatThrownBy(() -> PostgresFence.on(nowhere).resume(token))
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessage(
                            "Resuming on " + resource + " failed: FATAL: database \"nowhere\" does not exist (SQLSTATE"
                                    + " 3D000). Check the database name of the data source.");
        }
        PGSimpleDataSource none = new PGSimpleDataSource();
        try (ServerSocket free = new ServerSocket(0)) {
            none.setPortNumbers(new int[] {free.getLocalPort()});
        }
        assertThatThrownBy(() -> PostgresFence.on(none).claim(token))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageStartingWith("Claim on " + resource + " failed, no connection: Connection to localhost:")
                .hasMessageEndingWith(
                        "(SQLSTATE 08001). Check that the server runs and is reachable from here, then try"
                                + " again.");
    }

    @Test
    void aConnectionInsideASurroundingTransactionIsRefused() throws SQLException {
        try (Connection ambient = database.source().getConnection()) {
            ambient.setAutoCommit(false);
            TestDatabase.write(ambient, 1, 55);
            DataSource bound = new BoundSource(ambient).source();

            String message =
                    "A connection with a transaction already OPEN refused: what it has read may be older than the"
                            + " claim, and the claim could not commit by itself. Give the fence a data source outside of the"
                            + " surrounding transaction.";
            assertThatThrownBy(() -> PostgresFence.on(bound).claim(token))
                    .isInstanceOf(UnfencedWriteException.class)
                    .hasMessage(message);
            Claim<Connection> claim =
                    new Claim<>(PostgresFence.on(bound).source(), FenceSettings.defaults(), Tokens.of(token), null);
            assertThatThrownBy(() -> claim.useTransaction(c -> TestDatabase.write(c, 1, 0)))
                    .isInstanceOf(UnfencedWriteException.class)
                    .hasMessage(message);
            ambient.commit();
        }
        assertThat(database.balance(1))
                .as("the surrounding transaction is untouched")
                .isEqualTo(55);
    }

    @Test
    void aConnectionOfAnotherDriverIsRefused() throws SQLException {
        try (Connection real = database.source().getConnection()) {
            DataSource foreign = new BoundSource(real).withoutUnwrapping();

            assertThatThrownBy(() -> PostgresFence.on(foreign).claim(token))
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessage(
                            "A connection of PostgreSQL JDBC Driver refused: this fence knows the PostgreSQL JDBC driver"
                                    + " only. Give it a data source of org.postgresql, pooled or not.");
        }
    }

    @Test
    void aCrashOfTheServerBetweenClaimAndWriteKeepsTheClaim() {
        try (PostgresProcess server =
                Servers.embedded().postgres(PostgresSpec.primary().durable())) {
            TestDatabase durable = TestDatabase.createOn(server);
            durable.account(1, 100);
            FencingToken newer = Grants.next(token.lock());
            PostgresFence fence = PostgresFence.on(durable.source());
            Claim<Connection> old = fence.claim(token);
            Claim<Connection> current = fence.claim(newer);
            server.crash();
            server.restart();

            assertThatThrownBy(() -> old.useTransaction(c -> TestDatabase.write(c, 1, 0)))
                    .isInstanceOfSatisfying(
                            StaleTokenException.class,
                            e -> assertThat(e.newest()).isEqualTo(newer))
                    .hasMessageContaining("token " + token + " is older by");
            JdbcWork.add(current, 1, 10);
            assertThat(durable.balance(1)).isEqualTo(110);
        }
    }
}
