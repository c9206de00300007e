package dev.fenceline.testkit;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A redis-server that holds data: a master, a replica or a node of a Cluster. */
final class LocalRedis extends RedisDaemon implements RedisProcess {

    private static final Duration SYNC_LIMIT = Duration.ofSeconds(10);
    private static final Pattern REPLICA = Pattern.compile("slave\\d+:ip=([^,]+),port=(\\d+),state=(\\w+),.*");

    private final RedisSpec spec;

    private LocalRedis(RedisSpec spec, Running running) {
        super(running);
        this.spec = spec;
    }

    static LocalRedis start(RedisSpec spec) {
        boolean clustered = "yes".equals(spec.settings().get("cluster-enabled"));
        Launch launch = new Launch(
                clustered ? FreePorts::nextWithBus : FreePorts::next,
                (directory, port) -> configuration(spec, directory, port),
                List.of(),
                spec.passphrase());
        LocalRedis redis = new LocalRedis(spec, Running.start(launch));
        try {
            redis.awaitServing();
            return redis;
        } catch (IllegalStateException e) {
            redis.close();
            throw e;
        }
    }

    private static String configuration(RedisSpec spec, Path directory, int port) {
        Map<String, String> lines = new HashMap<>();
        lines.put("bind", HOST);
        lines.put("port", Integer.toString(port));
        lines.put("dir", '"' + directory.toString() + '"');
        lines.put("save", "\"\"");
        lines.put("appendonly", "no");
        // A replica of 7.x otherwise waits 5 s for company.
        lines.put("repl-diskless-sync-delay", "0");
        if (RedisExecutable.find().majorVersion() >= 7) {
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

    @Override
    void awaitServing() {
        if (spec.replicated().isEmpty()) {
            return;
        }
        Polling.until(
                "the replica on port " + port() + " is linked to its master",
                START_LIMIT,
                () -> ask("INFO", "replication")
                        // Sentinel may have made it the master.
                        .filter(info -> info.contains("master_link_status:up") || info.contains("role:master"))
                        .isPresent(),
                () -> "Its log: " + Workspace.tail(log()));
    }

    @Override
    public String uri() {
        return RedisCommands.uri(HOST, port(), passphrase());
    }

    @Override
    public void awaitReplicaInSync() {
        awaitReplicaInSync(SYNC_LIMIT);
    }

    void awaitReplicaInSync(Duration limit) {
        Polling.until(
                "each replica of Redis on port " + port() + " has all writes",
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
        String info = RedisCommands.run(replica.group(1), replicaPort, passphrase(), "INFO", "replication");
        return offset(info.lines().toList(), "slave_repl_offset:");
    }

    private static long offset(List<String> info, String name) {
        return info.stream()
                .filter(line -> line.startsWith(name))
                .mapToLong(line -> Long.parseLong(line.substring(name.length()).strip()))
                .findFirst()
                .orElse(-1);
    }
}
