package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineEvent.UnsafeSetting;
import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
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
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A table, a database or a role that is not set up for row mode is told what to do. */
@Tag("server")
class RowSetupTest extends OneRow {

    private static final String REFUSED = "Row mode on table \"thing\" refused: ";

    private void claim(DataSource source) throws SQLException {
        on(source).claim(older, id, VALUE);
    }

    private static void createThing(TestDatabase at) {
        at.execute("CREATE TABLE thing (id bigint PRIMARY KEY, value bigint, fence_token bigint NOT NULL DEFAULT 0,"
                + " fence_holder uuid)");
    }

    @Test
    void columnsThatAreDroppedLaterAreNoticedToo() throws SQLException {
        database.execute(
                "CREATE TABLE changing (id bigint PRIMARY KEY, value bigint, fence_token bigint NOT NULL DEFAULT 0,"
                        + " fence_holder uuid); INSERT INTO changing VALUES (" + id + ", 5)");
        FencedTable<Long> changing = FencedTable.of("changing").key("id", key -> LockName.of("thing", key));
        PostgresRows<Long> onChanging =
                PostgresRows.on(database.source(), changing).listener(events);
        RowClaim<Long> claim = onChanging.claim(older, id, VALUE);
        database.execute("ALTER TABLE changing DROP COLUMN fence_holder");

        assertThatThrownBy(() -> claim.update(value(1)))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageContaining("ADD COLUMN fence_holder uuid");
        assertThatThrownBy(claim::read).isInstanceOf(BackendMisconfiguredException.class);
        assertThatThrownBy(() -> onChanging.claim(newer, id, VALUE)).isInstanceOf(BackendMisconfiguredException.class);
    }

    @Test
    void noSuchTableNoSchemaAndAnOlderSchemaAreToldApart() {
        FencedTable<Long> nowhere = FencedTable.of("nowhere").key("id", key -> LockName.of("thing", key));
        assertThatThrownBy(() -> PostgresRows.on(database.source(), nowhere).claim(older, id, VALUE))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessage(
                        "Row mode on table \"nowhere\" refused: there is no such table for this role. Check its name, and that"
                                + " of its schema. Nothing happened.");
        TestDatabase bare = TestDatabase.withoutSchemaOn(SharedServers.postgres());
        createThing(bare);
        assertThatThrownBy(() -> claim(bare.source()))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessage(REFUSED + "this database has no fence schema. Run FenceMigrations.on(owner).install() once."
                        + " Nothing happened.");
        FenceMigrations.on(bare.source()).install();
        bare.execute("DROP FUNCTION fenceline.check_claim_v1");
        assertThatThrownBy(() -> claim(bare.source()))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessage(REFUSED + "the fence schema of this database is older than row mode. Run"
                        + " FenceMigrations.on(owner).install() once. Nothing happened.");
    }

    @Test
    void onAProtectedTableRowModeIsUnfencedAndNotToBeRetried() throws SQLException {
        RowClaim<Long> claim = on(database.source()).claim(older, id, VALUE);
        database.execute("SELECT fenceline.protect('thing', 'thing', '{id}', 'enforce')");
        try {
            assertThatThrownBy(() -> claim.update(value(2)))
                    .isInstanceOf(UnfencedWriteException.class)
                    .hasMessageContaining(
                            "under token " + older + " refused: its table is protected, and row mode does not enter: ")
                    .hasMessageContaining("under a claim of PostgresFence or JdbiFence");
            assertThatThrownBy(() -> on(database.source()).claim(newer, id, VALUE))
                    .isInstanceOf(UnfencedWriteException.class)
                    .hasMessageStartingWith("Claim of ");
            assertThatThrownBy(() -> on(database.source()).blind(newer, id).update(value(3)))
                    .isInstanceOf(UnfencedWriteException.class);
        } finally {
            database.execute("SELECT fenceline.unprotect('thing')");
        }
        claim.update(value(4));
    }

    @Test
    void aRoleIsToldWhatToGrantAndThenDoesAllOfRowModeAndLowersNoMark() throws SQLException {
        String role = "rows_" + database.name();
        database.execute("CREATE ROLE " + role + " LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON thing TO " + role);
        DataSource least = database.server().dataSource(database.name(), role);
        assertThatThrownBy(() -> claim(least))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessage(REFUSED + "the role '" + role + "' may not use row mode. Run"
                        + " FenceMigrations.on(owner).grantRowsTo(\"" + role
                        + "\") as the owner of the schema. Nothing happened.");
        FenceMigrations.on(database.source()).grantTo(role);
        assertThatThrownBy(() -> claim(least)).isInstanceOf(BackendMisconfiguredException.class);

        FenceMigrations.on(database.source()).grantRowsTo(role);
        PostgresRows<Long> asRole = on(least).recorded();
        RowClaim<Long> claim = asRole.claim(older, id, VALUE);
        claim.update(value(1));
        claim.upsert(value(2));
        claim.delete();
        claim.insert(value(3));
        asRole.updateAll(Map.of(claim, value(4)));
        asRole.blind(older, id).update(value(5));
        try (Connection connection = transaction(least)) {
            claim.in(connection).update(value(6));
            connection.commit();
        }
        asRole.claim(newer, id, VALUE);
        assertThatThrownBy(() -> claim.update(value(7))).isInstanceOf(StaleTokenException.class);
        assertThat(stored()).isEqualTo("6");

        for (String attempt : new String[] {
            "UPDATE fenceline.guard SET token = 1",
            "DELETE FROM fenceline.guard",
            "TRUNCATE fenceline.guard",
            "SET session_replication_role = replica",
            "ALTER TABLE fenceline.guard DISABLE TRIGGER ALL"
        }) {
            assertThatThrownBy(() -> {
                        try (Connection connection = least.getConnection();
                                Statement statement = connection.createStatement()) {
                            statement.execute(attempt);
                        }
                    })
                    .as(attempt)
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isIn("FL005", "42501"));
        }
    }

    @Test
    void aSchemaThatTheRoleMayNotUseIsAnErrorOfTheSetup() {
        String role = "outside_" + database.name();
        database.execute("CREATE ROLE " + role + " LOGIN; CREATE SCHEMA closed");
        FenceMigrations.on(database.source()).grantRowsTo(role);
        FencedTable<Long> closed = FencedTable.of("closed", "thing").key("id", key -> LockName.of("thing", key));

        assertThatThrownBy(() -> PostgresRows.on(database.server().dataSource(database.name(), role), closed)
                        .claim(older, id, VALUE))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessage("Row mode on table \"closed\".\"thing\" refused: ERROR: permission denied for schema closed"
                        + " (SQLSTATE 42501). Grant the role what it lacks. Nothing happened.");
    }

    @Test
    void aStandbyAndAnUnsafeServerAreTold() {
        try (PostgresProcess primary = Servers.embedded().postgres(PostgresSpec.primary());
                PostgresProcess standby = primary.standby()) {
            TestDatabase main = TestDatabase.createOn(primary);
            createThing(main);
            primary.awaitStandbyInSync();

            assertThatThrownBy(() -> claim(standby.dataSource(main.name())))
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessage(REFUSED
                            + "this server is a standby (pg_is_in_recovery() is true), which lags behind, and its"
                            + " marks with it. Connect to the primary (targetServerType=primary). Nothing happened.");
        }
    }

    @Test
    void aReadOnlySessionIsToldWhatToSet() {
        var readOnly = database.sourceNamed("read-only");
        readOnly.setOptions("-c default_transaction_read_only=on");

        assertThatThrownBy(() -> claim(readOnly))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageStartingWith("Claim on " + resource + " refused: ")
                .hasMessageEndingWith(
                        "The session is read-only; set default_transaction_read_only = off for this role, and"
                                + " readOnly=false in the data source.");
    }

    @Test
    void anUnsafeSettingIsToldOnceAndNoServerIsUnavailable() throws SQLException, IOException {
        boolean unsafe = database.text("SHOW fsync").equals("off");
        PostgresRows<Long> told = on(database.source());
        told.claim(older, id, VALUE);
        told.claimTimeout(Duration.ofSeconds(1)).claim(older, id, VALUE);
        assertThat(events.of(UnsafeSetting.class)).hasSize(unsafe ? 1 : 0);

        int free;
        try (var socket = new ServerSocket(0)) {
            free = socket.getLocalPort();
        }
        FencingToken token = older;
        assertThatThrownBy(() -> on(database.sourceAt("localhost", free)).claim(token, id, VALUE))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageStartingWith("Claim on " + resource + " failed, no connection: ");
    }
}
