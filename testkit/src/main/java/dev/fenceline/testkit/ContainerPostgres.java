package dev.fenceline.testkit;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.testcontainers.postgresql.PostgreSQLContainer;
import org.testcontainers.utility.DockerImageName;

/** A PostgreSQL in a container. */
final class ContainerPostgres implements PostgresServer {

    private static final DockerImageName IMAGE = DockerImageName.parse("postgres:17-alpine");
    private static final int PORT = 5432;

    private final PostgreSQLContainer container;
    private final AtomicInteger databases = new AtomicInteger();

    private ContainerPostgres(PostgreSQLContainer container) {
        this.container = container;
    }

    static ContainerPostgres start(PostgresSpec spec) {
        String password = UUID.randomUUID().toString();
        List<String> command = new ArrayList<>(List.of("postgres"));
        spec.effectiveSettings().forEach((name, value) -> command.addAll(List.of("-c", name + "=" + value)));
        PostgreSQLContainer container = new PostgreSQLContainer(IMAGE)
                .withDatabaseName("postgres")
                .withUsername(PostgresSessions.SUPERUSER)
                .withPassword(password);
        container.setCommand(command.toArray(String[]::new));
        container.start();
        ContainerPostgres postgres = new ContainerPostgres(container);
        try {
            postgres.trustEveryRole(password);
            PostgresSessions.requireDurability(postgres.dataSource("postgres"), spec);
            return postgres;
        } catch (IllegalStateException e) {
            postgres.close();
            throw e;
        }
    }

    /** The roles of a test have no passwords; the image cannot be told so in a way that all its look-alikes know. */
    private void trustEveryRole(String password) {
        PGSimpleDataSource superuser =
                PostgresSessions.dataSource(host(), port(), "postgres", PostgresSessions.SUPERUSER);
        superuser.setPassword(password);
        String file = PostgresSessions.query(superuser, "SHOW hba_file");
        PostgresSessions.execute(superuser, "COPY (SELECT 'host all all all trust') TO '" + file + "'");
        PostgresSessions.query(superuser, "SELECT pg_reload_conf()");
        Polling.until("PostgreSQL in a container trusts every role", LocalPostgres.LIMIT, () -> {
            try {
                return "1".equals(PostgresSessions.query(dataSource("postgres"), "SELECT 1"));
            } catch (IllegalStateException e) {
                return false; // not read again yet
            }
        });
    }

    @Override
    public String host() {
        return container.getHost();
    }

    @Override
    public int port() {
        return container.getMappedPort(PORT);
    }

    @Override
    public String superuser() {
        return PostgresSessions.SUPERUSER;
    }

    @Override
    public String jdbcUrl(String database) {
        return PostgresSessions.jdbcUrl(host(), port(), database);
    }

    @Override
    public DataSource dataSource(String database) {
        return dataSource(database, superuser());
    }

    @Override
    public DataSource dataSource(String database, String user) {
        return PostgresSessions.dataSource(host(), port(), database, user);
    }

    @Override
    public int majorVersion() {
        return PostgresSessions.majorVersion(dataSource("postgres"));
    }

    @Override
    public String newDatabase() {
        String name = "test_" + databases.incrementAndGet();
        PostgresSessions.execute(dataSource("postgres"), "CREATE DATABASE " + name);
        return name;
    }

    @Override
    public void close() {
        container.stop();
    }

    @Override
    public String toString() {
        return "PostgreSQL in container " + container.getContainerId();
    }
}
