package dev.fenceline.testkit;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A redis-server that this JVM started, in a directory of its own, on the loopback address. */
final class LocalRedis implements RedisProcess {

    static final String HOST = "127.0.0.1";

    private static final Duration START_LIMIT = Duration.ofSeconds(30);
    private static final Duration SYNC_LIMIT = Duration.ofSeconds(10);
    private static final int PORT_TRIES = 5;
    private static final Pattern REPLICA = Pattern.compile("slave\\d+:ip=([^,]+),port=(\\d+),state=(\\w+),.*");

    private final RedisSpec spec;
    private final Path directory;
    private final int port;
    private Process process;

    private LocalRedis(RedisSpec spec, Path directory, int port, Process process) {
        this.spec = spec;
        this.directory = directory;
        this.port = port;
        this.process = process;
    }

    static LocalRedis start(RedisSpec spec) {
        RedisExecutable executable = RedisExecutable.find(); // fails before anything needs clearing up
        for (int attempt = 1; ; attempt++) {
            Path directory = Workspace.newDirectory("redis");
            int port = FreePorts.next();
            Workspace.write(directory.resolve("redis.conf"), configuration(spec, executable, directory, port));
            LocalRedis redis = new LocalRedis(spec, directory, port, launch(directory));
            try {
                redis.awaitReady();
                return redis;
            } catch (IllegalStateException e) {
                boolean portTaken = Workspace.tail(redis.log()).contains("Address already in use");
                redis.close();
                if (!portTaken || attempt == PORT_TRIES) {
                    throw e;
                }
            }
        }
    }

    private static String configuration(RedisSpec spec, RedisExecutable executable, Path directory, int port) {
        Map<String, String> lines = new HashMap<>();
        lines.put("bind", HOST);
        lines.put("port", Integer.toString(port));
        lines.put("dir", '"' + directory.toString() + '"');
        lines.put("save", "\"\"");
        lines.put("appendonly", "no");
        // A replica of 7.x otherwise waits 5 s for company.
        lines.put("repl-diskless-sync-delay", "0");
        if (executable.majorVersion() >= 7) {
            lines.put("enable-debug-command", "yes");
        }
        if (spec.persistence() == RedisSpec.Persistence.EVERY_WRITE) {
            lines.put("appendonly", "yes");
            lines.put("appendfsync", "always");
        }
        spec.replicated().ifPresent(master -> lines.put("replicaof", master.host() + " " + master.port()));
        spec.passphrase().ifPresent(password -> {
            lines.put("requirepass", password);
            lines.put("masterauth", password);
        });
        lines.putAll(spec.settings());
        StringBuilder text = new StringBuilder();
        lines.forEach(
                (name, value) -> text.append(name).append(' ').append(value).append('\n'));
        return text.toString();
    }

    private static Process launch(Path directory) {
        try {
            Process process = new ProcessBuilder(
                            RedisExecutable.find().path().toString(),
                            directory.resolve("redis.conf").toString())
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(
                            directory.resolve("redis.log").toFile()))
                    .start();
            Reaper.watch(process.pid(), "KILL", directory);
            return process;
        } catch (IOException e) {
            throw new IllegalStateException("Cannot start redis-server in " + directory + ".", e);
        }
    }

    private void awaitReady() {
        Polling.until(
                "Redis on port " + port + " answers PING",
                START_LIMIT,
                () -> {
                    if (!process.isAlive()) {
                        throw new IllegalStateException("redis-server on port " + port + " ended with "
                                + process.exitValue() + ". Its log: " + Workspace.tail(log()));
                    }
                    return ask("PING").filter("PONG"::equals).isPresent();
                },
                () -> "Its log: " + Workspace.tail(log()));
        if (spec.replicated().isPresent()) {
            Polling.until(
                    "the replica on port " + port + " is linked to its master",
                    START_LIMIT,
                    () -> ask("INFO", "replication")
                            .filter(info -> info.contains("master_link_status:up"))
                            .isPresent(),
                    () -> "Its log: " + Workspace.tail(log()));
        }
    }

    private Path log() {
        return directory.resolve("redis.log");
    }

    private Optional<String> ask(String... words) {
        try {
            return Optional.of(command(words));
        } catch (IllegalStateException e) {
            return Optional.empty(); // not there yet, or still loading
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
    public String uri() {
        return RedisCommands.uri(HOST, port, spec.passphrase());
    }

    @Override
    public synchronized long pid() {
        return process.pid();
    }

    @Override
    public String command(String... words) {
        return RedisCommands.run(HOST, port, spec.passphrase(), words);
    }

    @Override
    public synchronized void kill() {
        long pid = process.pid();
        process.destroyForcibly();
        ProcessTable.awaitGone(pid);
        Reaper.forget(pid);
    }

    @Override
    public synchronized void restart() {
        kill();
        process = launch(directory);
        awaitReady();
    }

    @Override
    public synchronized void pause() {
        ProcessTable.stop(process.pid());
    }

    @Override
    public synchronized void resume() {
        ProcessTable.resume(process.pid());
    }

    @Override
    public void awaitReplicaInSync() {
        awaitReplicaInSync(SYNC_LIMIT);
    }

    void awaitReplicaInSync(Duration limit) {
        Polling.until(
                "each replica of Redis on port " + port + " has all writes",
                limit,
                this::replicasInSync,
                () -> "INFO replication: " + command("INFO", "replication"));
    }

    private boolean replicasInSync() {
        List<String> info = command("INFO", "replication").lines().toList();
        long written = offset(info, "master_repl_offset:");
        List<Matcher> replicas =
                info.stream().map(REPLICA::matcher).filter(Matcher::matches).toList();
        // The offsets in the master's list are up to a second old, so each replica is asked itself.
        return !replicas.isEmpty()
                && replicas.stream()
                        .allMatch(replica -> "online".equals(replica.group(3)) && offsetOf(replica) >= written);
    }

    private long offsetOf(Matcher replica) {
        int replicaPort = Integer.parseInt(replica.group(2));
        String info = RedisCommands.run(replica.group(1), replicaPort, spec.passphrase(), "INFO", "replication");
        return offset(info.lines().toList(), "slave_repl_offset:");
    }

    private static long offset(List<String> info, String name) {
        return info.stream()
                .filter(line -> line.startsWith(name))
                .mapToLong(line -> Long.parseLong(line.substring(name.length()).strip()))
                .findFirst()
                .orElse(-1);
    }

    @Override
    public synchronized void close() {
        kill();
        Workspace.delete(directory);
    }

    @Override
    public String toString() {
        return "Redis on port " + port + ", pid " + pid();
    }
}
