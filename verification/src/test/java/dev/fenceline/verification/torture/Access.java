package dev.fenceline.verification.torture;

import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.lock.RedisLocks;
import dev.fenceline.lock.Redlock;
import dev.fenceline.lock.RedlockConnector;
import io.lettuce.core.RedisURI;
import io.lettuce.core.internal.HostAndPort;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DnsResolver;
import io.lettuce.core.resource.MappingSocketAddressResolver;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * How a process reaches the servers, as one word of a command line.
 *
 * @param uris of one server, of Sentinels, of the nodes of a Cluster, or of independent masters
 * @param detours ports that are reached through another port, that of a proxy; also those that a Sentinel or a node names
 */
record Access(Kind kind, List<String> uris, Map<Integer, Integer> detours) {

    /** The size of each of Lettuce's pools, as with the resources that locks make for themselves. */
    static final int POOL = 2;

    /** A few round trips of a busy machine. */
    private static final Duration NODE_TIMEOUT = Duration.ofMillis(100);

    /** Which kind of deployment. */
    enum Kind {
        SINGLE,
        SENTINEL,
        CLUSTER,
        REDLOCK
    }

    /** The same under a name by which servers list the connections. */
    Access named(String client) {
        return new Access(kind, uris.stream().map(uri -> withName(uri, client)).toList(), detours);
    }

    private static String withName(String uri, String client) {
        int fragment = uri.indexOf('#') < 0 ? uri.length() : uri.indexOf('#');
        return uri.substring(0, fragment) + "?clientName=" + client + uri.substring(fragment);
    }

    Access through(Map<Integer, Integer> others) {
        return new Access(kind, uris, others);
    }

    String encode() {
        // Sentinels are listed in one URI with commas, so these are separated by spaces.
        return kind + "|" + String.join(" ", uris) + "|"
                + detours.entrySet().stream()
                        .map(detour -> detour.getKey() + "=" + detour.getValue())
                        .collect(Collectors.joining(","));
    }

    static Access parse(String text) {
        String[] parts = text.split("\\|", -1);
        Map<Integer, Integer> detours = new HashMap<>();
        Arrays.stream(parts[2].split(",", -1))
                .filter(detour -> !detour.isEmpty())
                .map(detour -> detour.split("=", -1))
                .forEach(ports -> detours.put(Integer.valueOf(ports[0]), Integer.valueOf(ports[1])));
        return new Access(Kind.valueOf(parts[0]), List.of(parts[1].split(" ", -1)), detours);
    }

    /** Threads and addresses for {@link #connect}; shut down after the locks. */
    ClientResources resources() {
        return ClientResources.builder()
                .ioThreadPoolSize(POOL)
                .computationThreadPoolSize(POOL)
                .socketAddressResolver(MappingSocketAddressResolver.create(DnsResolver.unresolved(), this::detour))
                .build();
    }

    private HostAndPort detour(HostAndPort address) {
        return HostAndPort.of(address.getHostText(), detours.getOrDefault(address.getPort(), address.getPort()));
    }

    Locks connect(ClientResources resources, LockOptions options) {
        return switch (kind) {
            case CLUSTER -> RedisLocks.on(resources).connectCluster(nodes(), options);
            case REDLOCK -> redlock(options).on(resources).connect();
            default -> RedisLocks.on(resources).connect(uris.get(0), options);
        };
    }

    /** As most programs connect: with resources of the locks alone. */
    Locks connect(LockOptions options) {
        return switch (kind) {
            case CLUSTER -> RedisLocks.connectCluster(nodes(), options);
            case REDLOCK -> redlock(options).connect();
            default -> RedisLocks.connect(uris.get(0), options);
        };
    }

    /** As the first of all who use these independent masters. */
    void firstStart(LockOptions options) {
        RedlockConnector unused = redlock(options).firstStart();
    }

    private RedlockConnector redlock(LockOptions options) {
        return Redlock.of(nodes()).options(options).nodeTimeout(NODE_TIMEOUT);
    }

    private List<RedisURI> nodes() {
        return uris.stream().map(RedisURI::create).toList();
    }
}
