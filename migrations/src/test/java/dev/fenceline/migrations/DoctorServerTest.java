package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.Finding;
import dev.fenceline.testkit.PostgresProcess;
import dev.fenceline.testkit.PostgresSpec;
import dev.fenceline.testkit.Servers;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A server that keeps what the fence promises yields no finding, and each unsafe setting of its own one. */
@Tag("server")
class DoctorServerTest {

    static PostgresProcess server;
    static Database database;
    static FenceMigrations migrations;

    @BeforeAll
    static void start() {
        server = Servers.embedded().postgres(PostgresSpec.primary().durable());
        database = new Database(server, server.newDatabase());
        migrations = FenceMigrations.on(database.source());
        migrations.install();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void aHealthyDatabaseYieldsNoFinding() {
        database.execute(
                "CREATE TABLE account (id int); SELECT fenceline.protect('account', 'account', '{id}', 'enforce');"
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

    @Test
    void settingsOfTheServerAreFound() {
        reload("full_page_writes", "off");
        try {
            assertThat(migrations.doctor())
                    .extracting(Finding::code, Finding::severity)
                    .containsExactly(tuple("postgres-full-page-writes", Finding.Severity.WARNING));
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

            assertThat(FenceMigrations.on(standby.dataSource(database.name())).doctor())
                    .extracting(Finding::code, Finding::severity)
                    .containsExactly(tuple("postgres-standby", Finding.Severity.ERROR));
            assertThat(migrations.doctor())
                    .extracting(Finding::toString)
                    .containsExactly("INFO postgres-asynchronous-replicas: database '" + database.name()
                            + "' has 1 replica and synchronous_standby_names is empty. A replica that is promoted may lack the newest"
                            + " claims and writes, together. Run FenceOperations.afterRestore after a promotion, or name a synchronous"
                            + " standby.");
            assertThatThrownBy(() -> FenceMigrations.on(standby.dataSource(database.name()))
                            .verify(List.of()))
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessage(
                            "Verification refused: this server is a standby, where no temporary table can be made to compare with."
                                    + " Connect to the primary.");
        }
        await(
                "the standby is gone",
                () -> database.rows("SELECT count(*) FROM pg_stat_replication").equals(List.of("0")));
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
