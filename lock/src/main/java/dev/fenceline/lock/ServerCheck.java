package dev.fenceline.lock;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.LockOptions;
import io.lettuce.core.RedisNoScriptException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Looks at a server before the first lock: whether what we promise can hold there, and whether we may do what we need. */
final class ServerCheck {

    private static final Pattern CLUSTER = Pattern.compile("\\b(CLUSTERDOWN|MOVED|ASK|TRYAGAIN)\\b");
    private static final Pattern VERSION = Pattern.compile("([0-9]+)\\.([0-9]+).*");

    /** How a server runs, as it says itself. */
    private enum Mode {
        STANDALONE,
        CLUSTER;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private final String server;
    private final KeySpace keys;
    private final LockOptions options;
    private final Mode mode;
    private final int bucket;
    private final int leastReplicas;

    private ServerCheck(String server, LockOptions options, Mode mode, int bucket, int leastReplicas) {
        this.server = server;
        this.keys = new KeySpace(options.keyPrefix());
        this.options = options;
        this.mode = mode;
        this.bucket = bucket;
        this.leastReplicas = leastReplicas;
    }

    /** A server that has all locks. */
    static ServerCheck standalone(String server, LockOptions options) {
        return new ServerCheck(server, options, Mode.STANDALONE, 0, options.replicas());
    }

    /** A node of a Cluster that has the locks of a bucket, or is about to get them. */
    static ServerCheck ofCluster(String server, LockOptions options, int bucket) {
        return new ServerCheck(server, options, Mode.CLUSTER, bucket, options.replicas());
    }

    /**
     * The same for a connection that is made while locks are in use: a replica that is down must not cost the leases that are
     * held. Grants wait for it anyway.
     */
    ServerCheck whileInUse() {
        return new ServerCheck(server, options, mode, bucket, 0);
    }

    /**
     * Ends well, or with a {@link BackendMisconfiguredException}, or with a {@link SendFailure}.
     *
     * @param listening subscribes on a connection of its own
     */
    CompletableFuture<Void> run(Link link, Supplier<CompletableFuture<Void>> listening) {
        String unique = LockValue.hex(UUID.randomUUID());
        String[] key = {keys.probe(bucket, unique)};
        String channel = keys.probeChannel(unique);
        Answers answers = new Answers(link);
        Link prober = mode == Mode.CLUSTER ? link.asking() : link;
        // By text first, which also makes the digest known, so that a refusal of either is a missing grant.
        return prober.byText(Script.PROBE, key, channel)
                .thenApply(Reply::words)
                .handle(answers::text)
                .thenCompose(done -> answers.unlessOver(
                        () -> prober.byDigest(Script.PROBE, key, channel).thenApply(Reply::words)))
                .handle(answers::digest)
                .thenCompose(done -> mode == Mode.CLUSTER ? answers.unlessOver(link::askingAlone) : nothing())
                .handle((reply, thrown) -> answers.other("asking", thrown))
                .thenCompose(done -> options.replicas() > 0
                        ? answers.unlessOver(() -> link.acknowledged(0, Duration.ofMillis(1)))
                        : nothing())
                .handle((reply, thrown) -> answers.other("wait", thrown))
                .thenCompose(done -> answers.unlessOver(listening))
                .handle((reply, thrown) -> answers.other("subscribe", thrown))
                .thenAccept(done -> answers.judge());
    }

    private static <T> CompletableFuture<@Nullable T> nothing() {
        return CompletableFuture.completedFuture(null);
    }

    /** What one look brought. */
    private final class Answers {

        private final Link link;
        private final Set<String> missing = new LinkedHashSet<>();
        private @Nullable SendFailure textRefused;
        private List<String> reply = List.of();
        private @Nullable RuntimeException end;

        Answers(Link link) {
            this.link = link;
        }

        /** A server that is silent costs one timeout, and not one for each command. */
        <T> CompletableFuture<@Nullable T> unlessOver(Supplier<CompletableFuture<T>> step) {
            return end == null ? step.get().thenApply(reply -> reply) : nothing();
        }

        boolean text(@Nullable List<String> answer, @Nullable Throwable thrown) {
            if (answer != null) {
                reply = answer;
            }
            textRefused = refusal("eval", thrown);
            return true;
        }

        boolean digest(@Nullable List<String> answer, @Nullable Throwable thrown) {
            // Without its text the server cannot know the digest; that says nothing of the grants.
            boolean unknown = thrown != null && Link.unwrapped(thrown) instanceof RedisNoScriptException;
            return (textRefused != null && unknown) || other("evalsha", thrown);
        }

        boolean other(String command, @Nullable Throwable thrown) {
            return refusal(command, thrown) == null;
        }

        /** Notes what is missing if that is why there is no answer, and what ends the check if it is something else. */
        private @Nullable SendFailure refusal(String command, @Nullable Throwable thrown) {
            if (thrown == null || end != null) {
                return null;
            }
            SendFailure failure = link.failure(Link.unwrapped(thrown));
            String said = String.valueOf(failure.getMessage());
            if (mode == Mode.STANDALONE && CLUSTER.matcher(said).find()) {
                end = otherMode("cluster", failure);
            } else if (failure.kind() != SendFailure.Kind.FORBIDDEN) {
                end = new CompletionException(failure);
            } else if (!said.contains("NOPERM")) {
                end = new CompletionException(ConnectFailure.of(server, failure));
            } else {
                missing.add(Grants.needed(keys, said, Grants.command(said, command)));
                return failure;
            }
            return null;
        }

        void judge() {
            if (end != null) {
                throw end;
            }
            if (textRefused != null) {
                throw Grants.missing(server, missing, textRefused);
            }
            ServerCheck.this.judge(reply, missing);
        }
    }

    /** Looks at what the probe returned, when some grants are known to be missing already. */
    void judge(List<String> reply, Set<String> missing) {
        String info = reply.get(0) + "\n" + reply.get(1) + "\n" + reply.get(2);
        if (info.contains("role:slave")) {
            throw new BackendMisconfiguredException(
                    server + " is a replica (role:slave): what is locked there is not locked at its master."
                            + " Connect to the master.",
                    new ReplicaFound());
        }
        refuseMissingGrants(reply.subList(3, reply.size()), missing);
        String found = told(info, "redis_mode", "INFO server");
        if (!found.equals(mode.toString())) {
            throw otherMode(found, null);
        }
        String version = told(info, "redis_version", "INFO server");
        Matcher parts = VERSION.matcher(version);
        if (!parts.matches() || Integer.parseInt(parts.group(1)) * 1000 + Integer.parseInt(parts.group(2)) < 6002) {
            throw new BackendMisconfiguredException(
                    server + " is version '" + version + "' (redis_version); 6.2 is the oldest that is known to work."
                            + " Upgrade the server.",
                    null);
        }
        String policy = told(info, "maxmemory_policy", "INFO memory");
        if (!policy.equals("noeviction")) {
            throw new BackendMisconfiguredException(
                    server + " has maxmemory-policy '" + policy
                            + "', which may delete held locks and token counters when"
                            + " memory runs short. Set maxmemory-policy noeviction, or use another server for locks.",
                    null);
        }
        if (leastReplicas > 0) {
            requireReplicas(told(info, "connected_slaves", "INFO replication"));
        }
    }

    private void requireReplicas(String connected) {
        if (Integer.parseInt(connected) < leastReplicas) {
            throw new BackendMisconfiguredException(
                    server + " has " + connected + " replicas (connected_slaves), and the option replicas = "
                            + leastReplicas
                            + " has every grant wait for that many, so there would be none. Attach replicas, or set"
                            + " replicas to what there is.",
                    null);
        }
    }

    private void refuseMissingGrants(List<String> failed, Set<String> missing) {
        List<String> others = new ArrayList<>();
        for (int i = 0; i < failed.size(); i += 2) {
            String command = failed.get(i);
            String error = failed.get(i + 1);
            if (Grants.refused(error)) {
                missing.add(Grants.needed(keys, error, command));
            } else {
                others.add(command + ": " + error);
            }
        }
        if (!missing.isEmpty()) {
            throw Grants.missing(server, missing, null);
        }
        if (!others.isEmpty()) {
            throw new CompletionException(
                    new SendFailure(SendFailure.Kind.UNABLE, server + " answered: " + String.join("; ", others), null));
        }
    }

    private String told(String info, String field, String section) {
        Matcher matcher =
                Pattern.compile("^" + field + ":(\\S+)", Pattern.MULTILINE).matcher(info);
        if (!matcher.find()) {
            throw new BackendMisconfiguredException(
                    server + " does not tell " + field + " in its " + section
                            + ", so it cannot be known whether locks hold there. Connect to the Redis server itself.",
                    null);
        }
        return matcher.group(1);
    }

    private BackendMisconfiguredException otherMode(String found, @Nullable Throwable cause) {
        String remedy = switch (found) {
            case "cluster" -> "Connect to a Cluster with RedisLocks.connectCluster.";
            case "standalone" -> "Connect to a server that runs alone with RedisLocks.connect.";
            case "sentinel" ->
                "Name the Sentinels in a URI redis-sentinel://host:port,host:port#master, and connect with that.";
            default -> "Connect to a master of Redis itself.";
        };
        return new BackendMisconfiguredException(
                server + " runs in mode '" + found + "' (redis_mode), not '" + mode + "'. " + remedy, cause);
    }
}
