package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.Finding;
import dev.fenceline.testkit.SharedServers;
import java.io.IOException;
import java.net.ServerSocket;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Each unsafe state of a database yields a finding; that a healthy one yields none is {@link DoctorServerTest}'s. */
@Tag("server")
class DoctorTest {

    /** Of the server that all tests share; what is found besides is a test's own. */
    private static final String FAST = "postgres-fsync";

    Database database;
    FenceMigrations migrations;

    @BeforeEach
    void prepare() {
        database = Database.prepared();
        migrations = FenceMigrations.on(database.source());
        assertThat(found(migrations)).isEmpty();
    }

    private static List<Finding> found(FenceMigrations migrations) {
        return migrations.doctor().stream()
                .filter(finding -> !finding.code().equals(FAST))
                .toList();
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
                "GRANT EXECUTE ON FUNCTION fenceline.bypass(text) TO PUBLIC | postgres-public | ERROR"
                        + "| schema fenceline gives PUBLIC EXECUTE on function fenceline.bypass",
                "DROP TRIGGER keep_table ON fenceline.guard | postgres-trigger-missing | ERROR"
                        + "| table fenceline.guard lacks the triggers [keep_table], so that marks can fall or vanish",
                "ALTER TABLE fenceline.guard SET UNLOGGED | postgres-guard-unlogged | ERROR"
                        + "| table fenceline.guard is unlogged, so that a crash of the server removes all marks",
                "ALTER TABLE fenceline.operation SET UNLOGGED | postgres-operations-unlogged | ERROR"
                        + "| table fenceline.operation is unlogged, so that after a crash of the server work that was committed is said"
                        + " never to have happened",
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
        migrations.grantTo(role);
        try {
            database.execute(String.format(change, database.name(), role));

            assertThat(found(migrations)).singleElement().satisfies(finding -> {
                assertThat(finding.code()).isEqualTo(code);
                assertThat(finding.severity()).isEqualTo(severity);
                assertThat(finding.subject() + " " + finding.found())
                        .isEqualTo(String.format(sentence, database.name(), role));
            });
        } finally {
            // What a role sets is found in every database of the server.
            database.execute("DROP OWNED BY " + role + "; DROP ROLE " + role);
        }
    }

    @Test
    void whatARoleSetsThatMayNotUseTheFenceIsNoFault() {
        String role = database.newRole("reports_");
        try {
            database.execute("ALTER ROLE " + role + " SET default_transaction_read_only = on; ALTER ROLE " + role
                    + " SET synchronous_commit = off");
            assertThat(found(migrations)).isEmpty();

            migrations.grantTo(role);
            assertThat(found(migrations))
                    .extracting(Finding::code)
                    .containsExactly("postgres-synchronous-commit", "postgres-read-only");
        } finally {
            database.execute("DROP OWNED BY " + role + "; DROP ROLE " + role);
        }
    }

    @Test
    void whatAnotherDatabaseSetsIsNotOurs() {
        String other = SharedServers.postgres().newDatabase();
        database.execute("ALTER DATABASE " + other + " SET synchronous_commit = off");
        try {
            assertThat(found(migrations)).isEmpty();
        } finally {
            database.execute("ALTER DATABASE " + other + " RESET synchronous_commit");
        }
    }

    @Test
    void aSessionWithAsynchronousCommitIsFoundAndWhereItComesFrom() {
        PGSimpleDataSource unsafe = new PGSimpleDataSource();
        unsafe.setUrl(SharedServers.postgres().jdbcUrl(database.name()));
        unsafe.setOptions("-c synchronous_commit=off");

        assertThat(found(FenceMigrations.on(unsafe)))
                .extracting(Finding::toString)
                .containsExactly("ERROR postgres-synchronous-commit: database '" + database.name()
                        + "' gives this session synchronous_commit = off (from: client). Claims are refused with it, since a crash"
                        + " could forget a mark that was acknowledged. Set it on there.");
    }

    @Test
    void triggersOfTablesThatDoNotFireAreFound() {
        database.execute(
                "CREATE TABLE account (id int); SELECT fenceline.protect('account', 'account', '{id}', 'enforce');"
                        + " ALTER TABLE account DISABLE TRIGGER fenceline_update, ENABLE TRIGGER fenceline_insert;"
                        + " CREATE TABLE marked (id int, fence_token bigint NOT NULL DEFAULT 0, fence_holder uuid);"
                        + " SELECT fenceline.keep_marks_v1('marked', 'marked', 'id'); ALTER TABLE marked DISABLE TRIGGER USER");

        assertThat(found(migrations))
                .extracting(Finding::severity, finding -> finding.subject() + " " + finding.found())
                .containsExactly(
                        tuple(
                                Finding.Severity.ERROR,
                                "table public.account has a trigger fenceline_update that is disabled"),
                        tuple(
                                Finding.Severity.ERROR,
                                "table public.marked has a trigger fenceline_keep_mark that is disabled"),
                        tuple(
                                Finding.Severity.WARNING,
                                "table public.account has a trigger fenceline_insert that does not fire under"
                                        + " session_replication_role = replica"));
    }

    @Test
    void aChildAndAPartitionThatGoAroundAreFound() {
        database.execute(
                "CREATE TABLE ancestor (id int); SELECT fenceline.protect('ancestor', 'ancestor', '{id}', 'enforce');"
                        + " CREATE TABLE descendant () INHERITS (ancestor);"
                        + " CREATE TABLE parted (id int) PARTITION BY RANGE (id); SELECT fenceline.protect('parted', 'parted', '{id}', 'enforce');"
                        + " CREATE TABLE later PARTITION OF parted FOR VALUES FROM (0) TO (1)");

        assertThat(found(migrations))
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
        database.execute(
                "CREATE TABLE account (id int PRIMARY KEY); SELECT fenceline.protect('account', 'account', '{id}', 'enforce')");
        // A subscription that is never enabled needs no publisher.
        database.execute("CREATE SUBSCRIPTION copies CONNECTION 'host=127.0.0.1 port=1' PUBLICATION p"
                + " WITH (connect = false, slot_name = NONE, enabled = false, create_slot = false)");
        database.execute("INSERT INTO pg_subscription_rel (srsubid, srrelid, srsubstate)"
                + " SELECT oid, 'account'::regclass, 'r' FROM pg_subscription WHERE subname = 'copies'"
                + " AND set_config('allow_system_table_mods', 'on', false) = 'on'");
        try {
            assertThat(found(migrations))
                    .extracting(Finding::code, Finding::subject)
                    .containsExactly(tuple("postgres-subscriber", "table public.account"));
            database.execute("ALTER TABLE account ENABLE TRIGGER USER");
            assertThat(found(migrations)).isEmpty();
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

        assertThat(found(migrations))
                .extracting(Finding::toString)
                .containsExactly("ERROR postgres-grant: role '" + role
                        + "' may call claim_v1 and lacks EXECUTE on claim, marks_v1 of"
                        + " schema fenceline. It was granted by an earlier release, or in part. Run"
                        + " FenceMigrations.on(owner).grantTo(\"" + role + "\") again.");
        migrations.grantTo(role);
        assertThat(found(migrations)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"7, WARNING, behind", "-7, WARNING, ahead of", "90000, ERROR, behind", "-90000, ERROR, ahead of"})
    void clocksThatDisagreeAreFound(long seconds, Finding.Severity severity, String direction) {
        assertThat(migrations.doctor(() -> Instant.now().plusSeconds(seconds)))
                .filteredOn(finding -> !finding.code().equals(FAST))
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
                SharedServers.postgres().dataSource("postgres"),
                "CREATE DATABASE " + latin + " ENCODING LATIN1 LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
        FenceMigrations inLatin = FenceMigrations.on(SharedServers.postgres().dataSource(latin));
        inLatin.install();

        assertThat(found(inLatin)).extracting(Finding::code).containsExactly("postgres-encoding");
    }

    /** No test can start one that old. */
    @Test
    void aReleaseThatIsTooOldIsFound() throws SQLException {
        try (Connection connection = database.source().getConnection()) {
            List<Finding> found = Doctor.judged(
                    connection,
                    new Doctor.Server(
                            "shop",
                            130_011,
                            "13.11",
                            false,
                            "on",
                            "on",
                            "on",
                            "default",
                            "",
                            0,
                            "UTF8",
                            Instant.now()));

            assertThat(found)
                    .extracting(Finding::toString)
                    .containsExactly(
                            "ERROR postgres-version: database 'shop' is served by PostgreSQL 13.11. The fence needs 14 or later."
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
                .hasMessageStartingWith(
                        "Looking at the database failed: the database cannot be reached (Connection to localhost:");
    }
}
