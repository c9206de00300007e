package dev.fenceline.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("server")
class EmbeddedPostgresTest {

    private static final int CLIENTS = 4;

    private static EmbeddedServers servers;
    private static PostgresProcess postgres;

    @BeforeAll
    static void start() {
        servers = Servers.embedded();
        postgres = servers.postgres(PostgresSpec.primary().setting("max_prepared_transactions", "7"));
    }

    @AfterAll
    static void stop() {
        servers.close();
    }

    @Test
    void aNewDatabaseIsEmptyAndNobodyElseHasIt() throws SQLException {
        String first = postgres.newDatabase();
        String second = postgres.newDatabase();
        assertThat(first).isNotEqualTo(second);
        PostgresSessions.execute(postgres.dataSource(first), "CREATE TABLE t (a int)");
        PostgresSessions.execute(postgres.dataSource(second), "CREATE TABLE t (a int)");
        try (Connection connection = DriverManager.getConnection(postgres.jdbcUrl(first))) {
            assertThat(connection.getCatalog()).isEqualTo(first);
            assertThat(connection.getMetaData().getUserName()).isEqualTo(postgres.superuser());
        }
    }

    @Test
    void anyRoleConnectsWithoutAPassword() {
        PostgresSessions.execute(postgres.dataSource("postgres"), "CREATE ROLE clerk LOGIN");
        assertThat(PostgresSessions.query(postgres.dataSource("postgres", "clerk"), "SELECT current_user"))
                .isEqualTo("clerk");
    }

    @Test
    void theServerTellsItsMajorVersion() {
        assertThat(PostgresSessions.query(postgres.dataSource("postgres"), "SELECT version()"))
                .startsWith("PostgreSQL " + postgres.majorVersion() + ".");
    }

    @Test
    void settingsReachTheServerAndCommitsAreSynchronous() {
        DataSource dataSource = postgres.dataSource("postgres");
        assertThat(PostgresSessions.query(dataSource, "SHOW max_prepared_transactions"))
                .isEqualTo("7");
        assertThat(PostgresSessions.query(dataSource, "SHOW max_connections")).isEqualTo("200");
        assertThat(PostgresSessions.query(dataSource, "SHOW synchronous_commit"))
                .isEqualTo("on");
        assertThat(PostgresSessions.query(dataSource, "SHOW fsync")).isEqualTo("off");
        assertThat(PostgresSessions.query(dataSource, "SHOW listen_addresses")).isEqualTo("127.0.0.1");
    }

    @Test
    void aDurableServerSyncsAndACrashKeepsCommitsAndDropsTheRest() throws SQLException {
        PostgresProcess durable = servers.postgres(PostgresSpec.primary().durable());
        DataSource dataSource = durable.dataSource("postgres");
        assertThat(PostgresSessions.query(dataSource, "SHOW fsync")).isEqualTo("on");
        PostgresSessions.execute(dataSource, "CREATE TABLE t (a int)");
        long pid = durable.pid();
        int port = durable.port();
        try (Connection open = dataSource.getConnection();
                Statement statement = open.createStatement()) {
            open.setAutoCommit(false);
            statement.execute("INSERT INTO t VALUES (1)");
            open.commit();
            statement.execute("INSERT INTO t VALUES (2)");

            durable.crash();

            assertThat(ProcessTable.gone(pid)).isTrue();
            assertThatExceptionOfType(SQLException.class).isThrownBy(() -> statement.execute("SELECT 1"));
        }
        durable.restart();
        assertThat(durable.port()).isEqualTo(port);
        assertThat(durable.pid()).isNotEqualTo(pid);
        assertThat(PostgresSessions.query(dataSource, "SELECT sum(a) FROM t")).isEqualTo("1");
        durable.close();
    }

    /**
     * A backend that is made between counting and killing goes on, could commit, and holds the shared memory, so that the server does not come
     * up again. These wait for a program, and so do not notice that the postmaster has gone.
     */
    @Test
    void aCrashLeavesNoProcessThoughClientsGoOnConnecting() throws Exception {
        AtomicBoolean crashed = new AtomicBoolean();
        ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
        try (PostgresProcess busy = servers.postgres(PostgresSpec.primary().setting("max_connections", "400"))) {
            Path data = Path.of(PostgresSessions.query(busy.dataSource("postgres"), "SHOW data_directory"));
            CountDownLatch served = new CountDownLatch(20 * CLIENTS);
            for (int i = 0; i < CLIENTS; i++) {
                clients.execute(() -> {
                    while (!crashed.get()) {
                        leaveABackendThatWaitsForAProgram(busy);
                        served.countDown();
                    }
                });
            }
            assertThat(served.await(60, TimeUnit.SECONDS)).isTrue();
            // Only Linux tells where a process works; elsewhere the restart has to do.
            assertThat(processesIn(data).isEmpty()).isEqualTo(!Files.isReadable(Path.of("/proc/self/cwd")));
            busy.crash();
            assertThat(processesIn(data))
                    .as("processes that still run in %s", data)
                    .isEmpty();
            crashed.set(true);
            busy.restart();
            assertThat(PostgresSessions.query(busy.dataSource("postgres"), "SELECT 1"))
                    .isEqualTo("1");
        } finally {
            crashed.set(true);
            clients.shutdownNow();
        }
    }

    private static void leaveABackendThatWaitsForAProgram(PostgresProcess server) {
        try (Connection connection = DriverManager.getConnection(server.jdbcUrl("postgres"));
                Statement statement = connection.createStatement()) {
            connection.setNetworkTimeout(Runnable::run, 30);
            statement.execute("COPY (SELECT 1) TO PROGRAM 'sleep 2; cat'");
        } catch (SQLException leftOrDown) {
            // We have left, or it was full, or down.
        }
    }

    /** The servers and backends that work in this data directory, as they all do. */
    private static List<Long> processesIn(Path directory) {
        return ProcessHandle.allProcesses()
                .filter(process -> process.info().command().orElse("").endsWith("/postgres"))
                .map(ProcessHandle::pid)
                .filter(pid -> {
                    try {
                        return Files.readSymbolicLink(Path.of("/proc", Long.toString(pid), "cwd"))
                                .equals(directory);
                    } catch (IOException | UnsupportedOperationException gone) {
                        return false;
                    }
                })
                .toList();
    }

    @Test
    void whyAServerDoesNotComeUpAgainAfterACrashIsTold() {
        LocalPostgres damaged = LocalPostgres.start(PostgresSpec.primary(), LocalPostgres.LIMIT, started -> {});
        try (damaged) {
            String data = PostgresSessions.query(damaged.dataSource("postgres"), "SHOW data_directory");
            damaged.crash();
            Workspace.append(Path.of(data, "postgresql.auto.conf"), "nonsense = 1\n");
            assertThatIllegalStateException()
                    .isThrownBy(() -> damaged.restart(Duration.ofSeconds(2)))
                    .withMessageContaining("PostgreSQL did not start in ")
                    .withMessageContaining("nonsense");
        }
    }

    @Test
    void aDurableServerWhoseSettingsSayOtherwiseIsRefused() {
        assertThatIllegalStateException()
                .isThrownBy(
                        () -> servers.postgres(PostgresSpec.primary().durable().setting("fsync", "off")))
                .withMessageContaining("was to be durable, but fsync is off");
    }

    @Test
    void aSettingThatPostgresDoesNotKnowIsReportedWithItsLog() {
        assertThatIllegalStateException()
                .isThrownBy(() -> LocalPostgres.start(
                        PostgresSpec.primary().setting("no_such_setting", "1"), Duration.ofSeconds(2), server -> {}))
                .withMessageContaining("PostgreSQL did not start")
                .withMessageContaining("unrecognized configuration parameter \"no_such_setting\"");
    }

    @Test
    void aStandbyFollowsItsPrimaryWithoutDisturbingItsSessions() throws SQLException {
        PostgresProcess primary = servers.postgres(PostgresSpec.primary());
        DataSource dataSource = primary.dataSource("postgres");
        try (Connection open = dataSource.getConnection();
                Statement statement = open.createStatement()) {
            statement.execute("CREATE TABLE t (a int)");
            statement.execute("INSERT INTO t VALUES (1)");
            PostgresProcess standby = primary.standby();
            statement.execute("INSERT INTO t VALUES (10)");
            primary.awaitStandbyInSync();

            DataSource copy = standby.dataSource("postgres");
            assertThat(PostgresSessions.query(copy, "SELECT pg_is_in_recovery()"))
                    .isEqualTo("t");
            assertThat(PostgresSessions.query(copy, "SELECT sum(a) FROM t")).isEqualTo("11");
            assertThatIllegalStateException()
                    .isThrownBy(() -> PostgresSessions.execute(copy, "INSERT INTO t VALUES (100)"))
                    .withMessageContaining("read-only transaction");

            primary.crash();
            assertThat(PostgresSessions.query(copy, "SELECT pg_promote()")).isEqualTo("t");
            PostgresSessions.execute(copy, "INSERT INTO t VALUES (100)");
            standby.close();
        }
        primary.close();
    }

    @Test
    void closedServersAreGoneAndSoAreTheirFiles() {
        PostgresProcess closed = servers.postgres(PostgresSpec.primary());
        String data = PostgresSessions.query(closed.dataSource("postgres"), "SHOW data_directory");
        long pid = closed.pid();
        closed.close();
        closed.close();
        assertThat(ProcessTable.gone(pid)).isTrue();
        assertThat(Path.of(data).getParent()).doesNotExist();
    }
}
