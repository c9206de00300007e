package dev.fenceline.testkit;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import javax.sql.DataSource;

/** A PostgreSQL that this JVM started, in a directory of its own, on the loopback address. */
final class LocalPostgres implements PostgresProcess {

    private static final String HOST = "127.0.0.1";
    static final String MAINTENANCE = "postgres";
    static final Duration LIMIT = Duration.ofSeconds(30);
    private static final int PORT_TRIES = 5;

    private final PostgresSpec spec;
    private final Path directory;
    private final int port;
    private final Consumer<LocalPostgres> started;
    private final AtomicInteger databases = new AtomicInteger();
    private EmbeddedPostgres server;
    private long pid;
    private boolean closed;

    private LocalPostgres(
            PostgresSpec spec, Path directory, int port, EmbeddedPostgres server, Consumer<LocalPostgres> started) {
        this.spec = spec;
        this.directory = directory;
        this.port = port;
        this.server = server;
        this.started = started;
        this.pid = watchedPid(directory);
    }

    /**
     * Starts a server.
     *
     * @param limit how long the start may take after unpacking and initdb
     * @param started is told of this server and of each standby, so that its owner can stop them
     */
    static LocalPostgres start(PostgresSpec spec, Duration limit, Consumer<LocalPostgres> started) {
        Path directory = Workspace.newDirectory("postgres");
        DataDirectory.layFromTemplate(data(directory));
        LocalPostgres postgres = startIn(directory, spec, limit, started);
        try {
            PostgresSessions.requireDurability(postgres.dataSource(MAINTENANCE), spec);
        } catch (IllegalStateException e) {
            postgres.close();
            throw e;
        }
        return postgres;
    }

    private static LocalPostgres startIn(
            Path directory, PostgresSpec spec, Duration limit, Consumer<LocalPostgres> started) {
        for (int attempt = 1; ; attempt++) {
            int port = FreePorts.next();
            try {
                EmbeddedPostgres server = launch(spec, directory, port, limit);
                LocalPostgres postgres = new LocalPostgres(spec, directory, port, server, started);
                started.accept(postgres);
                return postgres;
            } catch (IllegalStateException e) {
                boolean portTaken = String.valueOf(e.getMessage()).contains("Address already in use");
                if (!portTaken || attempt == PORT_TRIES) {
                    Workspace.delete(directory);
                    throw e;
                }
            }
        }
    }

    private static EmbeddedPostgres launch(PostgresSpec spec, Path directory, int port, Duration limit) {
        Path log = directory.resolve("postgres.log");
        Redirect toLog = Redirect.appendTo(log.toFile());
        Optional<Long> ofACrash = postmasterPid(directory);
        EmbeddedPostgres.Builder builder = EmbeddedPostgres.builder()
                .setPgBinaryResolver(PostgresBinaries.find())
                .setOverrideWorkingDirectory(
                        Workspace.cache().resolve("postgres").toFile())
                .setDataDirectory(data(directory))
                .setCleanDataDirectory(false)
                .setRegisterShutdownHook(false)
                .setPGStartupWait(limit)
                // After initdb, if it was needed, and before the server.
                .setDataDirectoryCustomizer(made -> DataDirectory.keepAsTemplate(made.toPath()))
                .setLocaleConfig("locale", "C")
                .setErrorRedirector(toLog)
                .setOutputRedirector(toLog)
                .setPort(port)
                // A socket file in /tmp would outlive a crash and stand in the way of another user.
                .setServerConfig("unix_socket_directories", "''")
                .setServerConfig("listen_addresses", HOST);
        spec.effectiveSettings().forEach((name, value) -> builder.setServerConfig(name, shellQuoted(value)));
        try {
            return builder.start();
        } catch (IOException | RuntimeException e) {
            // The file of a crash stays where the server did not get far, and its pid may be anybody's by now.
            postmasterPid(directory)
                    .filter(pid -> !ofACrash.equals(Optional.of(pid)))
                    .flatMap(ProcessHandle::of)
                    .ifPresent(ProcessHandle::destroyForcibly);
            throw new IllegalStateException(
                    "PostgreSQL did not start in " + directory + ": " + e.getMessage() + ". Its log: "
                            + Workspace.tail(log),
                    e);
        }
    }

    /** The options go through pg_ctl and a shell. */
    private static String shellQuoted(String value) {
        return "'" + value.replace("'", "'\\''") + "'";
    }

    private static Path data(Path directory) {
        return directory.resolve("data");
    }

    private static long watchedPid(Path directory) {
        long pid = postmasterPid(directory)
                .orElseThrow(() -> new IllegalStateException("PostgreSQL in " + directory + " has no postmaster.pid."));
        // SIGQUIT ends its children too and gives back the shared memory, which SIGKILL does not.
        Reaper.watch(pid, "QUIT", directory);
        return pid;
    }

    private static Optional<Long> postmasterPid(Path directory) {
        try (Stream<String> lines = Files.lines(data(directory).resolve("postmaster.pid"))) {
            return lines.findFirst().map(line -> Long.parseLong(line.strip()));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    @Override
    public String host() {
        return HOST;
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public synchronized long pid() {
        return pid;
    }

    @Override
    public String superuser() {
        return PostgresSessions.SUPERUSER;
    }

    @Override
    public String jdbcUrl(String database) {
        return PostgresSessions.jdbcUrl(HOST, port, database);
    }

    @Override
    public DataSource dataSource(String database) {
        return dataSource(database, superuser());
    }

    @Override
    public DataSource dataSource(String database, String user) {
        return PostgresSessions.dataSource(HOST, port, database, user);
    }

    @Override
    public int majorVersion() {
        return PostgresSessions.majorVersion(dataSource(MAINTENANCE));
    }

    @Override
    public String newDatabase() {
        String name = "test_" + databases.incrementAndGet();
        PostgresSessions.execute(dataSource(MAINTENANCE), "CREATE DATABASE " + name);
        return name;
    }

    @Override
    public synchronized void crash() {
        // A backend would notice the end of the postmaster only when it next waits, and could still commit until then;
        // and it keeps the
        // shared memory, without which the server does not come up again.
        ProcessTable.killWithDescendants(pid);
        stop();
    }

    @Override
    public void restart() {
        restart(LIMIT);
    }

    synchronized void restart(Duration limit) {
        stop();
        server = launch(spec, directory, port, limit);
        pid = watchedPid(directory);
    }

    /** Also after a crash, to give back the lock on the directory. Stopping what has stopped only writes to the log. */
    private void stop() {
        try {
            server.close();
        } catch (IOException e) {
            throw new UncheckedIOException("PostgreSQL on port " + port + " was not stopped.", e);
        }
        ProcessTable.awaitGone(pid);
        Reaper.forget(pid);
    }

    @Override
    public PostgresProcess standby() {
        Path copy = Workspace.newDirectory("standby");
        PostgresBackup.take(dataSource(MAINTENANCE), data(directory), data(copy));
        Workspace.write(data(copy).resolve("standby.signal"), "");
        Workspace.append(
                data(copy).resolve("postgresql.auto.conf"),
                "primary_conninfo = 'host=" + HOST + " port=" + port + " user=" + superuser() + "'\n");
        LocalPostgres standby = startIn(copy, spec, LIMIT, started);
        Polling.until(
                "the standby on port " + standby.port + " streams from port " + port,
                LIMIT,
                () -> "streaming"
                        .equals(PostgresSessions.query(
                                standby.dataSource(MAINTENANCE), "SELECT status FROM pg_stat_wal_receiver")),
                () -> "Its log: " + Workspace.tail(copy.resolve("postgres.log")));
        return standby;
    }

    @Override
    public void awaitStandbyInSync() {
        DataSource dataSource = dataSource(MAINTENANCE);
        String written = PostgresSessions.query(dataSource, "SELECT pg_current_wal_insert_lsn()");
        Polling.until(
                "each standby of PostgreSQL on port " + port + " shows all commits",
                LIMIT,
                () -> "t"
                        .equals(PostgresSessions.query(
                                dataSource,
                                "SELECT count(*) > 0 AND coalesce(bool_and(replay_lsn >= '" + written
                                        + "'), false) FROM pg_stat_replication")));
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            stop();
            Workspace.delete(directory);
        }
    }

    @Override
    public String toString() {
        return "PostgreSQL on port " + port + ", pid " + pid();
    }
}
