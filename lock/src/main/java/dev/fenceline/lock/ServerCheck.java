package dev.fenceline.lock;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.LockOptions;
import dev.fenceline.lock.ServerRules.Mode;
import io.lettuce.core.RedisNoScriptException;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Looks at a server before the first lock: whether what we promise can hold there, and whether we may do what we need. */
final class ServerCheck {

    private static final Pattern CLUSTER = Pattern.compile("\\b(CLUSTERDOWN|MOVED|ASK|TRYAGAIN)\\b");

    /**
     * What a look at a server brought.
     *
     * @param faults for each of which locks are refused there
     * @param info what INFO says of server, replication and memory; nothing where the server did not say
     */
    record Examination(List<Fault> faults, String info) {}

    private final String server;
    private final KeySpace keys;
    private final LockOptions options;
    private final ServerRules rules;
    private final int bucket;

    private ServerCheck(String server, LockOptions options, Mode mode, int bucket, int leastReplicas) {
        this.server = server;
        this.keys = new KeySpace(options.keyPrefix());
        this.options = options;
        this.rules = new ServerRules(options, mode, leastReplicas);
        this.bucket = bucket;
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
        return new ServerCheck(server, options, rules.mode(), bucket, 0);
    }

    /** The rules by which the server is judged. */
    ServerRules rules() {
        return rules;
    }

    /**
     * Ends well, or with a {@link BackendMisconfiguredException}, or with a {@link SendFailure}.
     *
     * @param listening subscribes on a connection of its own
     */
    CompletableFuture<Void> run(Link link, Supplier<CompletableFuture<Void>> listening) {
        return examine(link, listening).thenAccept(found -> refuse(found.faults()));
    }

    /**
     * Ends with all that is wrong; badly only where there is no answer that says so.
     *
     * @param listening subscribes on a connection of its own
     */
    CompletableFuture<Examination> examine(Link link, Supplier<CompletableFuture<Void>> listening) {
        String unique = LockValue.hex(UUID.randomUUID());
        String[] key = {keys.probe(bucket, unique)};
        String channel = keys.probeChannel(unique);
        Answers answers = new Answers(link);
        Link prober = rules.mode() == Mode.CLUSTER ? link.asking() : link;
        // By text first, which also makes the digest known, so that a refusal of either is a missing grant.
        return prober.byText(Script.PROBE, key, channel)
                .thenApply(Reply::words)
                .handle(answers::text)
                .thenCompose(done -> answers.unlessOver(
                        () -> prober.byDigest(Script.PROBE, key, channel).thenApply(Reply::words)))
                .handle(answers::digest)
                .thenCompose(done -> rules.mode() == Mode.CLUSTER ? answers.unlessOver(link::askingAlone) : nothing())
                .handle((reply, thrown) -> answers.other("asking", thrown))
                .thenCompose(done -> options.replicas() > 0
                        ? answers.unlessOver(() -> link.acknowledged(0, Duration.ofMillis(1)))
                        : nothing())
                .handle((reply, thrown) -> answers.other("wait", thrown))
                .thenCompose(done -> answers.unlessOver(listening))
                .handle((reply, thrown) -> answers.other("subscribe", thrown))
                .thenApply(done -> answers.examination());
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
        private @Nullable Fault otherMode;

        Answers(Link link) {
            this.link = link;
        }

        /** A server that is silent costs one timeout, and not one for each command. */
        <T> CompletableFuture<@Nullable T> unlessOver(Supplier<CompletableFuture<T>> step) {
            return end == null && otherMode == null ? step.get().thenApply(reply -> reply) : nothing();
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
            if (thrown == null || end != null || otherMode != null) {
                return null;
            }
            SendFailure failure = link.failure(Link.unwrapped(thrown));
            String said = String.valueOf(failure.getMessage());
            if (rules.mode() == Mode.STANDALONE && CLUSTER.matcher(said).find()) {
                otherMode = rules.otherMode("cluster", failure);
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

        Examination examination() {
            if (end != null) {
                throw end;
            }
            if (otherMode != null) {
                return new Examination(List.of(otherMode), "");
            }
            if (textRefused != null) {
                return new Examination(List.of(Grants.fault(missing, textRefused)), "");
            }
            return new Examination(rules.faults(reply, missing), ServerRules.info(reply));
        }
    }

    /** Looks at what the probe returned, when some grants are known to be missing already. */
    void judge(List<String> reply, Set<String> missing) {
        refuse(rules.faults(reply, missing));
    }

    private void refuse(List<Fault> faults) {
        if (!faults.isEmpty()) {
            throw faults.get(0).refusal(server);
        }
    }
}
