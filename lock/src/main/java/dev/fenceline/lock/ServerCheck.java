package dev.fenceline.lock;

import dev.fenceline.BackendMisconfiguredException;
import io.lettuce.core.RedisNoScriptException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
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

    private static final Pattern COMMAND = Pattern.compile("'([A-Za-z]+)(\\|[A-Za-z]+)?' command");
    private static final Pattern KEY_REFUSED = Pattern.compile("access .*key");
    private static final Pattern CHANNEL_REFUSED = Pattern.compile("(access .*|publish to the )channel");
    private static final Pattern REFUSED =
            Pattern.compile("permission|The user executing the script can't|" + CHANNEL_REFUSED + "|" + KEY_REFUSED);
    private static final Pattern CLUSTER = Pattern.compile("\\b(CLUSTERDOWN|MOVED|ASK)\\b");
    private static final Pattern VERSION = Pattern.compile("([0-9]+)\\.([0-9]+).*");

    private final String server;
    private final KeySpace keys;

    ServerCheck(String server, KeySpace keys) {
        this.server = server;
        this.keys = keys;
    }

    /**
     * Ends well, or with a {@link BackendMisconfiguredException}, or with a {@link SendFailure}.
     *
     * @param listening subscribes on a connection of its own
     */
    CompletableFuture<Void> run(Link link, Supplier<CompletableFuture<Void>> listening) {
        String unique = LockValue.hex(UUID.randomUUID());
        String[] key = {keys.probe(unique)};
        String channel = keys.probeChannel(unique);
        // By text first, which also makes the digest known, so that a refusal of either is a missing grant.
        return link.byText(Script.PROBE, key, channel)
                .handle(Answer::new)
                .thenCompose(text -> link.byDigest(Script.PROBE, key, channel)
                        .handle(Answer::new)
                        .thenCompose(digest -> listening
                                .get()
                                .<Answer>handle((done, thrown) -> new Answer(List.of(), thrown))
                                .thenAccept(subscribed -> judge(link, text, digest, subscribed))));
    }

    private record Answer(List<String> reply, @Nullable Throwable thrown) {}

    private void judge(Link link, Answer text, Answer digest, Answer subscribed) {
        Set<String> missing = new LinkedHashSet<>();
        @Nullable SendFailure byText = refusal(link, text, "eval", missing);
        if (byText == null || !isNoScript(digest)) {
            // Without its text the server cannot know the digest; that says nothing of the grants.
            SendFailure unused = refusal(link, digest, "evalsha", missing);
        }
        SendFailure unused = refusal(link, subscribed, "subscribe", missing);
        if (byText != null) {
            throw missingGrants(missing, byText);
        }
        judge(text.reply(), missing);
    }

    private static boolean isNoScript(Answer answer) {
        return answer.thrown() != null && Link.unwrapped(answer.thrown()) instanceof RedisNoScriptException;
    }

    /** Adds what is missing if that is why there is no answer; throws if there is none for another reason. */
    private @Nullable SendFailure refusal(Link link, Answer answer, String command, Set<String> missing) {
        if (answer.thrown() == null) {
            return null;
        }
        SendFailure failure = link.failure(Link.unwrapped(answer.thrown()));
        String said = String.valueOf(failure.getMessage());
        if (CLUSTER.matcher(said).find()) {
            throw otherMode("cluster", failure);
        }
        if (failure.kind() != SendFailure.Kind.FORBIDDEN) {
            throw new CompletionException(failure);
        }
        if (!said.contains("NOPERM")) {
            throw new CompletionException(ConnectFailure.of(server, failure));
        }
        missing.add(grant(said, command(said, command)));
        return failure;
    }

    /** What would have to be granted for an error not to happen again. */
    private String grant(String error, String command) {
        if (CHANNEL_REFUSED.matcher(error).find()) {
            return "&" + keys.pattern();
        }
        return KEY_REFUSED.matcher(error).find() ? "~" + keys.pattern() : "+" + command;
    }

    /** Looks at what the probe returned, when some grants are known to be missing already. */
    void judge(List<String> reply, Set<String> missing) {
        String info = reply.get(0) + "\n" + reply.get(1) + "\n" + reply.get(2);
        if (info.contains("role:slave")) {
            throw new BackendMisconfiguredException(
                    server + " is a replica (role:slave): what is locked there is not locked at its master."
                            + " Connect to the master.",
                    null);
        }
        refuseMissingGrants(reply.subList(3, reply.size()), missing);
        String mode = told(info, "redis_mode", "INFO server");
        if (!mode.equals("standalone")) {
            throw otherMode(mode, null);
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
    }

    private void refuseMissingGrants(List<String> failed, Set<String> missing) {
        List<String> others = new ArrayList<>();
        for (int i = 0; i < failed.size(); i += 2) {
            String command = failed.get(i);
            String error = failed.get(i + 1);
            if (REFUSED.matcher(error).find()) {
                missing.add(grant(error, command));
            } else {
                others.add(command + ": " + error);
            }
        }
        if (!missing.isEmpty()) {
            throw missingGrants(missing, null);
        }
        if (!others.isEmpty()) {
            throw new CompletionException(
                    new SendFailure(SendFailure.Kind.UNABLE, server + " answered: " + String.join("; ", others), null));
        }
    }

    private BackendMisconfiguredException missingGrants(Set<String> missing, @Nullable Throwable cause) {
        return new BackendMisconfiguredException(
                server + " does not grant this user what locks need. Missing: " + String.join(" ", missing)
                        + ". Give them with ACL SETUSER <user> " + String.join(" ", missing) + ".",
                cause);
    }

    static String command(String message, String otherwise) {
        Matcher matcher = COMMAND.matcher(message);
        return matcher.find() ? matcher.group(1) : otherwise;
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

    private BackendMisconfiguredException otherMode(String mode, @Nullable Throwable cause) {
        return new BackendMisconfiguredException(
                server + " runs in mode '" + mode + "' (redis_mode); this version locks on one standalone server, and"
                        + " Cluster comes later. Connect to a master that runs alone.",
                cause);
    }
}
