package dev.fenceline.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("server")
class EmbeddedPostgresTest {

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
