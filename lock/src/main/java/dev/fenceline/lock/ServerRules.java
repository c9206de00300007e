package dev.fenceline.lock;

import dev.fenceline.LockOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Judges what a server says of itself: whether what we promise can hold there. */
final class ServerRules {

    private static final Pattern VERSION = Pattern.compile("([0-9]+)\\.([0-9]+).*");

    /** How a server runs, as it says itself. */
    enum Mode {
        STANDALONE,
        CLUSTER;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private final KeySpace keys;
    private final Mode mode;
    private final int leastReplicas;

    ServerRules(LockOptions options, Mode mode, int leastReplicas) {
        this.keys = new KeySpace(options.keyPrefix());
        this.mode = mode;
        this.leastReplicas = leastReplicas;
    }

    Mode mode() {
        return mode;
    }

    /** All three sections of INFO that the probe returned, in one text. */
    static String info(List<String> reply) {
        return reply.get(0) + "\n" + reply.get(1) + "\n" + reply.get(2);
    }

    /**
     * Looks at what the probe returned.
     *
     * @param missing the grants that are known to be missing already; those that the probe missed are added
     * @return what is wrong, first what would make the rest misleading
     */
    List<Fault> faults(List<String> reply, Set<String> missing) {
        List<Fault> faults = new ArrayList<>();
        String info = info(reply);
        boolean replica = info.contains("role:slave");
        if (replica) {
            faults.add(Fault.misconfigured(
                    "redis-replica",
                    "is a replica (role:slave): what is locked there is not locked at its master",
                    "Connect to the master.",
                    new ReplicaFound()));
        }
        List<String> others = new ArrayList<>();
        sort(reply.subList(3, reply.size()), missing, others);
        if (!missing.isEmpty()) {
            faults.add(Grants.fault(missing, null));
        }
        if (!others.isEmpty() && !replica) {
            faults.add(Fault.unable(
                    "redis-refuses",
                    "answered: " + String.join("; ", others),
                    "Nothing can be locked there until that is mended."));
        }
        if (!missing.contains("+info")) {
            faults.addAll(ofSettings(info));
        }
        return faults;
    }

    private void sort(List<String> failed, Set<String> missing, List<String> others) {
        for (int i = 0; i < failed.size(); i += 2) {
            String command = failed.get(i);
            String error = failed.get(i + 1);
            if (Grants.refused(error)) {
                missing.add(Grants.needed(keys, error, command));
            } else {
                others.add(command + ": " + error);
            }
        }
    }

    private List<Fault> ofSettings(String info) {
        List<Fault> faults = new ArrayList<>();
        ofMode(info).ifPresent(faults::add);
        ofVersion(info).ifPresent(faults::add);
        ofPolicy(info).ifPresent(faults::add);
        if (leastReplicas > 0) {
            ofReplicas(info).ifPresent(faults::add);
        }
        return faults;
    }

    /** Whether it runs as we think, by its INFO server. */
    Optional<Fault> ofMode(String info) {
        Optional<String> found = told(info, "redis_mode");
        if (found.isEmpty()) {
            return untold("redis_mode", "INFO server");
        }
        return found.filter(other -> !other.equals(mode.toString())).map(other -> otherMode(other, null));
    }

    private static Optional<Fault> ofVersion(String info) {
        Optional<String> told = told(info, "redis_version");
        if (told.isEmpty()) {
            return untold("redis_version", "INFO server");
        }
        Matcher parts = VERSION.matcher(told.get());
        if (parts.matches() && Integer.parseInt(parts.group(1)) * 1000 + Integer.parseInt(parts.group(2)) >= 6002) {
            return Optional.empty();
        }
        return Optional.of(Fault.misconfigured(
                "redis-version",
                "is version '" + told.get() + "' (redis_version); 6.2 is the oldest that is known to work",
                "Upgrade the server."));
    }

    private static Optional<Fault> ofPolicy(String info) {
        Optional<String> policy = told(info, "maxmemory_policy");
        if (policy.isEmpty()) {
            return untold("maxmemory_policy", "INFO memory");
        }
        return policy.filter(other -> !other.equals("noeviction"))
                .map(other -> Fault.misconfigured(
                        "redis-eviction",
                        "has maxmemory-policy '" + other
                                + "', which may delete held locks and token counters when memory runs short",
                        "Set maxmemory-policy noeviction, or use another server for locks."));
    }

    private Optional<Fault> ofReplicas(String info) {
        Optional<String> connected = told(info, "connected_slaves");
        if (connected.isEmpty()) {
            return untold("connected_slaves", "INFO replication");
        }
        return connected
                .filter(count -> Integer.parseInt(count) < leastReplicas)
                .map(count -> Fault.misconfigured(
                        "redis-replicas-missing",
                        "has " + count + " replicas (connected_slaves), and the option replicas = " + leastReplicas
                                + " has every grant wait for that many, so there would be none",
                        "Attach replicas, or set replicas to what there is."));
    }

    /** What a server says of itself in INFO. */
    static Optional<String> told(String info, String field) {
        Matcher matcher =
                Pattern.compile("^" + field + ":(\\S+)", Pattern.MULTILINE).matcher(info);
        return matcher.find() ? Optional.of(matcher.group(1)) : Optional.empty();
    }

    private static Optional<Fault> untold(String field, String section) {
        return Optional.of(Fault.misconfigured(
                "redis-untold",
                "does not tell " + field + " in its " + section + ", so it cannot be known whether locks hold there",
                "Connect to the Redis server itself."));
    }

    Fault otherMode(String found, @Nullable Throwable cause) {
        String remedy = switch (found) {
            case "cluster" ->
                "Connect to a Cluster with RedisLocks.connectCluster, at a shell by redis-cluster://host:port.";
            case "standalone" ->
                "Connect to a server that runs alone with RedisLocks.connect, at a shell by redis://host:port.";
            case "sentinel" ->
                "Name the Sentinels in a URI redis-sentinel://host:port,host:port#master, and connect with that.";
            default -> "Connect to a master of Redis itself.";
        };
        return Fault.misconfigured(
                "redis-mode", "runs in mode '" + found + "' (redis_mode), not '" + mode + "'", remedy, cause);
    }
}
