package dev.fenceline.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencedLease;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.StaleTokenException;
import dev.fenceline.jdbc.Claim;
import dev.fenceline.jdbc.PostgresFence;
import dev.fenceline.lock.RedisLocks;
import dev.fenceline.migrations.FenceMigrations;
import dev.fenceline.s3.EnvelopeClaim;
import dev.fenceline.s3.EnvelopeFence;
import dev.fenceline.s3.PointerFence;
import dev.fenceline.s3.S3Content;
import dev.fenceline.s3.S3Fence;
import dev.fenceline.s3.S3Probe;
import dev.fenceline.s3.S3ProbeReport;
import dev.fenceline.testkit.PostgresServer;
import dev.fenceline.testkit.S3Server;
import dev.fenceline.testkit.SharedServers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

/** One lock over two stores: whoever is late is refused by both. */
@Tag("server")
class RowAndReportTest {

    private static S3Client s3;
    private static S3ProbeReport probed;

    private Locks locks;
    private PostgresFence rows;
    private EnvelopeFence reports;

    @BeforeAll
    static void probe() {
        S3Server store = SharedServers.s3();
        s3 = S3Client.builder()
                .endpointOverride(store.endpoint())
                .region(Region.of(store.region()))
                .forcePathStyle(true)
                .credentialsProvider(StaticCredentialsProvider.create(
                        AwsBasicCredentials.create(store.accessKey(), store.secretKey())))
                .build();
        probed = S3Probe.of(s3, store.newBucket()).run();
    }

    @AfterAll
    static void closeClient() {
        s3.close();
    }

    @BeforeEach
    void connect() throws Exception {
        PostgresServer postgres = SharedServers.postgres();
        DataSource database = postgres.dataSource(postgres.newDatabase());
        FenceMigrations.on(database).install();
        AccountTable.create(database);
        rows = PostgresFence.on(database);
        reports = S3Fence.envelope().probed(probed).on(s3, SharedServers.s3().newBucket());
        locks = RedisLocks.connect(
                SharedServers.redis().uri(),
                LockOptions.builder()
                        .keyPrefix("examples-" + UUID.randomUUID())
                        .masterClockSkew(Duration.ZERO)
                        .build());
    }

    @AfterEach
    void close() {
        locks.close();
    }

    @Test
    void theRowIsChargedAndTheReportSaysSo() throws Exception {
        assertThat(RowAndReport.charge(locks, rows, reports)).isEqualTo("charged, leaves 99900\n");
        assertThat(RowAndReport.charge(locks, rows, reports))
                .isEqualTo("charged, leaves 99900\ncharged, leaves 99800\n");
    }

    @Test
    void aReportIsGoneOnWith() throws Exception {
        String bucket = SharedServers.s3().newBucket();
        assertThat(YearReport.add("January", locks, s3, bucket)).isEqualTo("January\n");
        assertThat(YearReport.add("February", locks, s3, bucket)).isEqualTo("January\nFebruary\n");
    }

    @Test
    void twoObjectsAreReplacedTogetherAndOneIsReadAsAStream(@TempDir Path folder) throws Exception {
        Path rows = Files.writeString(folder.resolve("rows.csv"), "id;cents\n42;100\n");
        PointerFence exports =
                S3Fence.pointer().probed(probed).on(s3, SharedServers.s3().newBucket());
        assertThat(MonthlyExport.replace(rows, "1 row", locks, exports)).contains("id;cents");
        assertThat(exports.readAll("2026-11/export").get("summary.txt").text()).isEqualTo("1 row");
    }

    @Test
    void whoeverIsLateIsRefusedByBoth() throws Exception {
        Claim<Connection> row;
        EnvelopeClaim report;
        try (FencedLease lease = locks.fenced(LockName.of("account", 42)).acquire()) {
            row = rows.claim(lease);
            report = reports.claim(lease, RowAndReport.REPORT);
        }
        RowAndReport.charge(locks, rows, reports);
        assertThatThrownBy(() -> row.useTransaction(connection -> AccountTable.setBalance(connection, 42, 0)))
                .isInstanceOf(StaleTokenException.class);
        assertThatThrownBy(() -> report.write("late".getBytes(StandardCharsets.UTF_8)))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageContaining("is older by");
        assertThat(reports.read(RowAndReport.REPORT).map(S3Content::text)).contains("charged, leaves 99900\n");
    }
}
