package dev.fenceline.testkit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;

/** A Redis in a container. */
final class ContainerRedis implements RedisServer {

    private static final DockerImageName IMAGE = DockerImageName.parse("redis:7");
    private static final int PORT = 6379;
    private static final Pattern LOCAL_ADDRESS = Pattern.compile(" laddr=(.+):" + PORT + " ");
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final RedisSpec spec;
    private final GenericContainer<?> container;

    private ContainerRedis(RedisSpec spec, GenericContainer<?> container) {
        this.spec = spec;
        this.container = container;
    }

    static ContainerRedis start(RedisSpec spec) {
        GenericContainer<?> container = new GenericContainer<>(IMAGE)
                .withExposedPorts(PORT)
                .withCommand(command(spec).toArray(String[]::new));
        container.start();
        ContainerRedis redis = new ContainerRedis(spec, container);
        String linked = spec.replicated().isPresent() ? "master_link_status:up" : "role:master";
        try {
            Polling.until("Redis in a container says " + linked, LIMIT, () -> redis.says(linked), container::getLogs);
        } catch (IllegalStateException e) {
            redis.close();
            throw e;
        }
        return redis;
    }

    private boolean says(String line) {
        try {
            return command("INFO", "replication").contains(line);
        } catch (IllegalStateException e) {
            return false; // not there yet, or still loading
        }
    }

    private static List<String> command(RedisSpec spec) {
        Map<String, String> settings = new LinkedHashMap<>();
        // The container's network is the world to it; the published port is on this machine.
        settings.put("bind", "0.0.0.0");
        settings.put("protected-mode", "no");
        settings.put("repl-diskless-sync-delay", "0");
        settings.put("save", "");
        boolean persistent = spec.persistence() == RedisSpec.Persistence.EVERY_WRITE;
        settings.put("appendonly", persistent ? "yes" : "no");
        settings.put("appendfsync", "always");
        spec.passphrase().ifPresent(password -> {
            settings.put("requirepass", password);
            settings.put("masterauth", password);
        });
        settings.putAll(spec.settings());
        List<String> command = new ArrayList<>(List.of("redis-server"));
        settings.forEach((name, value) -> {
            command.add("--" + name);
            command.add(value);
        });
        spec.replicated()
                .ifPresent(master -> command.addAll(List.of("--replicaof", address(master), Integer.toString(PORT))));
        return command;
    }

    /** Containers reach each other by their addresses inside, not by published ports; the master sees its own as it is called. */
    private static String address(RedisServer master) {
        if (!(master instanceof ContainerRedis)) {
            throw new IllegalArgumentException("A replica in a container cannot reach the master " + master
                    + ": take both from the same ContainerServers.");
        }
        String client = master.command("CLIENT", "INFO");
        Matcher address = LOCAL_ADDRESS.matcher(client);
        if (!address.find()) {
            throw new IllegalStateException("Redis does not tell its own address: " + client);
        }
        return address.group(1);
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
    public String uri() {
        return RedisCommands.uri(host(), port(), spec.passphrase());
    }

    @Override
    public String command(String... words) {
        return RedisCommands.run(host(), port(), spec.passphrase(), words);
    }

    @Override
    public void close() {
        container.stop();
    }

    @Override
    public String toString() {
        return "Redis in container " + container.getContainerId();
    }
}
