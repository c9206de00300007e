package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.Finding;
import dev.fenceline.testkit.PostgresProcess;
import dev.fenceline.testkit.PostgresSpec;
import dev.fenceline.testkit.Servers;
import java.io.IOException;
import java.net.ServerSocket;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.postgresql.ds.PGSimpleDataSource;

/** A server that keeps what the fence promises yields no finding, and each unsafe setting one. */
@Tag("server")
class DoctorTest {

    static PostgresProcess server;
    static String template;

    Database database;
    FenceMigrations migrations;

    @BeforeAll
    static void start() {
        server = Servers.embedded().postgres(PostgresSpec.primary().durable().setting("wal_level", "logical"));
        template = server.newDatabase();
        FenceMigrations.on(server.dataSource(template)).install();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void prepare() {
        String name = server.newDatabase();
        Database.execute(
                server.dataSource("postgres"), "DROP DATABASE " + name);
        Database.execute(server.dataSource("postgres"), "CREATE DATABASE " + name + " TEMPLATE " + template);
        database = new Database(server, name);
        migrations = FenceMigrations.on(database.source());
    }

    @Test
    void aHealthyDatabaseYieldsNoFinding() {
        database.execute("CREATE TABLE account (id int); SELECT fenceline.protect('account', 'account', '{id}', 'enforce');"
                + " CREATE TABLE parted (id int) PARTITION BY RANGE (id); CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (1);"
                + " SELECT fenceline.protect('parted', 'parted', '{id}', 'observe');"
                + " CREATE TABLE marked (id int, fence_token bigint NOT NULL DEFAULT 0, fence_holder uuid);"
                + " SELECT fenceline.keep_marks_v1('marked', 'marked', 'id')");
        String role = database.newRole("app_");
        migrations.grantTo(role);
        migrations.grantRowsTo(role);
        migrations.grantProtectionTo(role);
        migrations.grantOperationsTo(role);
        migrations.grantBypassTo(role);

        assertThat(migrations.doctor()).isEmpty();
        assertThat(FenceMigrations.on(database.as(role)).doctor()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ALTER DATABASE %1$s SET synchronous_commit = off | postgres-synchronous-commit | ERROR"
                        + "| database '%1$s' sets synchronous_commit = off for its sessions",
                "ALTER ROLE %2$s SET synchronous_commit = off | postgres-synchronous-commit | ERROR"
                        + "| role '%2$s' sets synchronous_commit = off for its sessions",
                "ALTER ROLE %2$s IN DATABASE %1$s SET synchronous_commit = off | postgres-synchronous-commit | ERROR"
                        + "| role '%2$s' in database '%1$s' sets synchronous_commit = off for its sessions",
                "ALTER ROLE %2$s SET session_replication_role = replica | postgres-replication-role | WARNING"
                        + "| role '%2$s' sets session_replication_role = replica for its sessions",
                "ALTER ROLE %2$s SET default_transaction_read_only = on | postgres-read-only | WARNING"
                        + "| role '%2$s' sets default_transaction_read_only = on for its sessions",
                "ALTER TABLE fenceline.guard ENABLE TRIGGER keep_row | postgres-trigger-state | WARNING"
                        + "| table fenceline.guard has a trigger keep_row that does not fire under session_replication_role = replica",
                "ALTER TABLE fenceline.guard DISABLE TRIGGER keep_mark | postgres-trigger-state | ERROR"
                        + "| table fenceline.guard has a trigger keep_mark that is disabled",
                "DROP TRIGGER keep_table ON fenceline.guard | postgres-trigger-missing | ERROR"
                        + "| table fenceline.guard lacks the triggers [keep_table], so that marks can fall or vanish",
                "ALTER TABLE fenceline.guard SET UNLOGGED | postgres-guard-unlogged | ERROR"
                        + "| table fenceline.guard is unlogged, so that a crash of the server removes all marks",
                "DROP SCHEMA fenceline CASCADE | postgres-schema-missing | ERROR | database '%1$s' has no fence schema",
                "CREATE OR REPLACE FUNCTION fenceline.version_v1() RETURNS integer LANGUAGE sql AS 'SELECT 4'"
                        + "| postgres-schema-old | ERROR"
                        + "| database '%1$s' has version 4 of the fence schema, and this release calls version 5",
                "CREATE OR REPLACE FUNCTION fenceline.version_v1() RETURNS integer LANGUAGE sql AS 'SELECT 6'"
                        + "| postgres-schema-new | WARNING"
                        + "| database '%1$s' has version 6 of the fence schema, and this release knows version 5",
            },
            quoteCharacter = '~')
    void anUnsafeStateIsFound(String change, String code, Finding.Severity severity, String sentence) {
        String role = database.newRole("set_");
        database.execute(String.format(change, database.name(), role));

        assertThat(migrations.doctor()).singleElement().satisfies(finding -> {
            assertThat(finding.code()).isEqualTo(code);
            assertThat(finding.severity()).isEqualTo(severity);
            assertThat(finding.subject() + " " + finding.found())
                    .isEqualTo(String.format(sentence, database.name(), role));
        });
        database.execute("DROP ROLE " + role);
    }

    @Test
    void whatAnotherDatabaseSetsIsNotOurs() {
        database.execute("ALTER DATABASE " + template + " SET synchronous_commit = off");
        try {
            assertThat(migrations.doctor()).isEmpty();
        } finally {
            database.execute("ALTER DATABASE " + template + " RESET synchronous_commit");
        }
    }

    @Test
    void aSessionWithAsynchronousCommitIsFoundAndWhereItComesFrom() {
        PGSimpleDataSource unsafe = new PGSimpleDataSource();
        unsafe.setUrl(server.jdbcUrl(database.name()));
        unsafe.setOptions("-c synchronous_commit=off");

        assertThat(FenceMigrations.on(unsafe).doctor())
                .extracting(Finding::toString)
                .containsExactly("ERROR postgres-synchronous-commit: database '" + database.name()
                        + "' gives this session synchronous_commit = off (from: client). Claims are refused with it, since a crash"
                        + " could forget a mark that was acknowledged. Set it on there.");
    }

    @Test
    void triggersOfTablesThatDoNotFireAreFound() {
        database.execute("CREATE TABLE account (id int); SELECT fenceline.protect('account', 'account', '{id}', 'enforce');"
                + " ALTER TABLE account DISABLE TRIGGER fenceline_update, ENABLE TRIGGER fenceline_insert;"
                + " CREATE TABLE marked (id int, fence_token bigint NOT NULL DEFAULT 0, fence_holder uuid);"
                + " SELECT fenceline.keep_marks_v1('marked', 'marked', 'id'); ALTER TABLE marked DISABLE TRIGGER USER");

        assertThat(migrations.doctor())
                .extracting(Finding::severity, finding -> finding.subject() + " " + finding.found())
                .containsExactly(
                        tuple(
                                Finding.Severity.ERROR, "table public.account has a trigger fenceline_update that is disabled"),
                        tuple(
                                Finding.Severity.ERROR, "table public.marked has a trigger fenceline_keep_mark that is disabled"),
                        tuple(
                                Finding.Severity.WARNING,
                                "table public.account has a trigger fenceline_insert that does not fire under"
                                        + " session_replication_role = replica"));
    }

    @Test
    void aChildAndAPartitionThatGoAroundAreFound() {
        database.execute("CREATE TABLE ancestor (id int); SELECT fenceline.protect('ancestor', 'ancestor', '{id}', 'enforce');"
                + " CREATE TABLE descendant () INHERITS (ancestor);"
                + " CREATE TABLE parted (id int) PARTITION BY RANGE (id); SELECT fenceline.protect('parted', 'parted', '{id}', 'enforce');"
                + " CREATE TABLE later PARTITION OF parted FOR VALUES FROM (0) TO (1)");

        assertThat(migrations.doctor())
                .extracting(Finding::code, finding -> finding.subject() + " " + finding.found())
                .containsExactly(
                        tuple(
                                "postgres-child-open",
                                "table public.descendant inherits from the protected public.ancestor and is not protected itself"),
                        tuple(
                                "postgres-partition-open",
                                "table public.later is a partition of the protected public.parted and can be truncated by itself"));
    }

    @Test
    void aTableThatASubscriptionFillsIsFoundWhileItsTriggersStopTheWorker() {
        database.execute("CREATE TABLE account (id int PRIMARY KEY); SELECT fenceline.protect('account', 'account', '{id}', 'enforce')");
        // A subscription that is never enabled needs no publisher.
        database.execute("CREATE SUBSCRIPTION copies CONNECTION 'host=127.0.0.1 port=1' PUBLICATION p"
                + " WITH (connect = false, slot_name = NONE, enabled = false, create_slot = false)");
        database.execute("INSERT INTO pg_subscription_rel (srsubid, srrelid, srsubstate)"
                + " SELECT oid, 'account'::regclass, 'r' FROM pg_subscription WHERE subname = 'copies'"
                + " AND set_config('allow_system_table_mods', 'on', false) = 'on'");
        try {
            assertThat(migrations.doctor())
                    .extracting(Finding::code, Finding::subject)
                    .containsExactly(tuple("postgres-subscriber", "table public.account"));
            database.execute("ALTER TABLE account ENABLE TRIGGER USER");
            assertThat(migrations.doctor()).isEmpty();
        } finally {
            database.execute("DROP SUBSCRIPTION copies");
        }
    }

    @Test
    void aGrantThatAnUpgradeLeftInPartIsFound() {
        String role = database.newRole("app_");
        migrations.grantTo(role);
        database.execute("REVOKE EXECUTE ON FUNCTION fenceline.marks_v1(text[]) FROM " + role + ";"
                + " REVOKE EXECUTE ON PROCEDURE fenceline.claim(text, bigint, uuid, integer) FROM " + role);

        assertThat(migrations.doctor())
                .extracting(Finding::toString)
                .containsExactly("ERROR postgres-grant: role '" + role + "' may call claim_v1 and lacks EXECUTE on claim, marks_v1 of"
                        + " schema fenceline. It was granted by an earlier release, or in part. Run"
                        + " FenceMigrations.on(owner).grantTo(\"" + role + "\") again.");
        migrations.grantTo(role);
        assertThat(migrations.doctor()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"7, WARNING, behind", "-7, WARNING, ahead of", "90000, ERROR, behind", "-90000, ERROR, ahead of"})
    void clocksThatDisagreeAreFound(long seconds, Finding.Severity severity, String direction) {
        assertThat(migrations.doctor(() -> Instant.now().plusSeconds(seconds)))
                .singleElement()
                .satisfies(finding -> {
                    assertThat(finding.code()).isEqualTo("postgres-clock");
                    assertThat(finding.severity()).isEqualTo(severity);
                    assertThat(finding.found()).matches("has a clock that is \\d+ s " + direction + " ours");
                });
    }

    @Test
    void aDatabaseInAnotherEncodingIsFound() {
        String latin = database.name() + "_latin";
        Database.execute(
                server.dataSource("postgres"),
                "CREATE DATABASE " + latin + " ENCODING LATIN1 LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
        FenceMigrations inLatin = FenceMigrations.on(server.dataSource(latin));
        inLatin.install();

        assertThat(inLatin.doctor()).extracting(Finding::code).containsExactly("postgres-encoding");
    }

    @Test
    void settingsOfTheServerAreFound() {
        reload("full_page_writes", "off");
        try {
            assertThat(migrations.doctor())
                    .extracting(Finding::code, Finding::severity)
                    .containsExactly(tuple(
                            "postgres-full-page-writes", Finding.Severity.WARNING));
        } finally {
            reload("full_page_writes", "on");
        }
        assertThat(FenceMigrations.on(Database.prepared().source()).doctor())
                .extracting(Finding::code, Finding::severity)
                .containsExactly(tuple("postgres-fsync", Finding.Severity.ERROR));
    }

    @Test
    void aStandbyIsFoundAndItsPrimaryIsToldWhatAPromotionMeans() {
        try (PostgresProcess standby = server.standby()) {
            server.awaitStandbyInSync();

            assertThat(FenceMigrations.on(standby.dataSource(template)).doctor())
                    .extracting(Finding::code, Finding::severity)
                    .containsExactly(tuple("postgres-standby", Finding.Severity.ERROR));
            assertThat(migrations.doctor())
                    .extracting(Finding::toString)
                    .containsExactly("INFO postgres-asynchronous-replicas: database '" + database.name()
                            + "' has 1 replica and synchronous_standby_names is empty. A replica that is promoted may lack the newest"
                            + " claims and writes, together. Run FenceOperations.afterRestore after a promotion, or name a synchronous"
                            + " standby.");
            assertThatThrownBy(() -> FenceMigrations.on(standby.dataSource(template)).verify(List.of()))
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessage("Verification refused: this server is a standby, where no temporary table can be made to compare with."
                            + " Connect to the primary.");
        }
        await("the standby is gone", () -> database.rows("SELECT count(*) FROM pg_stat_replication").equals(List.of("0")));
    }

    /** No test can start one that old. */
    @Test
    void aReleaseThatIsTooOldIsFound() throws SQLException {
        try (Connection connection = database.source().getConnection()) {
            List<Finding> found = Doctor.judged(
                    connection,
                    new Doctor.Server(
                            "shop", 130_011, "13.11", false, "on", "on", "on", "default", "", 0, "UTF8", Instant.now()));

            assertThat(found)
                    .extracting(Finding::toString)
                    .containsExactly("ERROR postgres-version: database 'shop' is served by PostgreSQL 13.11. The fence needs 14 or later."
                            + " Upgrade the server.");
        }
    }

    @Test
    void noServerIsToldAsSuch() throws IOException {
        PGSimpleDataSource nowhere = new PGSimpleDataSource();
        try (ServerSocket free = new ServerSocket(0)) {
            nowhere.setPortNumbers(new int[] {free.getLocalPort()});
        }

        assertThatThrownBy(() -> FenceMigrations.on(nowhere).doctor())
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageStartingWith("Looking at the database failed: the database cannot be reached (Connection to localhost:");
    }

    private void reload(String setting, String value) {
        database.execute("ALTER SYSTEM SET " + setting + " = " + value);
        database.execute("SELECT pg_reload_conf()");
        await(setting + " is " + value, () -> database.rows("SHOW " + setting).equals(List.of(value)));
    }

    private static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("Within 20 s it did not come true that " + what);
            }
            Thread.onSpinWait();
        }
    }
}
