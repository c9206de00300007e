package dev.fenceline.cli;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.LockOptions;
import dev.fenceline.lock.LockInspector;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterURIUtil;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How a command reaches the lock server. */
final class RedisOptions extends ServerOptions {

    private static final String HOST = "(?:\\[[0-9A-Fa-f:.%]+\\]|[^:/?#@,\\[\\]\\s]*)(?::[0-9]{1,5})?";
    private static final Pattern SCHEME = Pattern.compile(
            "(rediss?)(-sentinel|-cluster)?://((?:.*@)?" + HOST + "(?:," + HOST + ")*(?:[/?#][^@]*)?)", Pattern.DOTALL);
    private static final String FORM =
            "redis://host[:port], redis-sentinel://host[:port],…#master or redis-cluster://host[:port],…,"
                    + " with rediss for TLS";

    @Option(names = "--redis-user", paramLabel = "USER", order = 84, description = "The user of Redis's access list.")
    private @Nullable String user;

    @Option(
            names = "--redis-password-file",
            paramLabel = "FILE",
            order = 85,
            description = "Take the password of Redis from the first line of this file.")
    private @Nullable String passwordFile;

    @Option(
            names = "--key-prefix",
            paramLabel = "PREFIX",
            order = 86,
            defaultValue = "fenceline",
            description = "The keyPrefix of the application's LockOptions (${DEFAULT-VALUE}).")
    private String keyPrefix = "fenceline";

    RedisOptions(Terminal terminal) {
        super(
                terminal,
                "--redis",
                "FENCELINE_REDIS",
                "Set FENCELINE_REDIS_PASSWORD, or use --redis-password-file, or leave it out and be asked; a user goes to --redis-user.");
    }

    @Option(names = "--redis", paramLabel = "URI", order = 83, description = FORM + "; without it FENCELINE_REDIS.")
    void uri(String text) {
        if (text != null && text.contains("@")) {
            throw refused("A login in --redis");
        }
        if (text != null && !SCHEME.matcher(text).matches()) {
            throw misunderstood("The address of --redis is none of Redis. It reads " + FORM + ".");
        }
        address(text);
    }

    @Option(
            names = {"--redis-password", "--redis-pw"},
            hidden = true,
            arity = "0..1",
            fallbackValue = "")
    void password(String ignored) {
        refusePassword(ignored);
    }

    /** Connects, and asks for a password if one is wanted and nobody gave one. */
    LockInspector connect() {
        String text = address()
                .orElseThrow(() ->
                        Failure.usage("No lock server is named: give --redis redis://host, or set FENCELINE_REDIS."));
        Optional<String> password = password("--redis-password-file", passwordFile, "FENCELINE_REDIS_PASSWORD");
        try {
            return inspector(text, password);
        } catch (BackendMisconfiguredException e) {
            boolean asked = password.isEmpty() && !text.contains("@") && terminal.answers();
            if (!asked || !String.valueOf(e.getMessage()).contains("NOAUTH")) {
                throw e;
            }
            return inspector(text, Optional.of(terminal.askSecretly("Password of Redis: ")));
        }
    }

    private LockInspector inspector(String text, Optional<String> password) {
        LockOptions options;
        try {
            options = LockOptions.builder()
                    .keyPrefix(keyPrefix)
                    .application("fenceline")
                    .build();
        } catch (IllegalArgumentException e) {
            throw Failure.usage("--key-prefix: " + e.getMessage());
        }
        Matcher matcher = SCHEME.matcher(text);
        if (!matcher.matches()) {
            throw unreadable();
        }
        boolean cluster = "-cluster".equals(matcher.group(2));
        List<RedisURI> servers;
        try {
            servers = cluster
                    ? RedisClusterURIUtil.toRedisURIs(URI.create(matcher.group(1) + "://" + matcher.group(3)))
                    : List.of(RedisURI.create(text));
        } catch (IllegalArgumentException e) {
            // Says the whole address again.
            throw unreadable();
        }
        for (RedisURI server : servers) {
            // Those of the address itself stay, unless others are given; RedisURI has no getter that shows them.
            if (user != null || password.isPresent()) {
                server.setCredentialsProvider(RedisCredentialsProvider.from(() -> RedisCredentials.just(
                        user, password.map(String::toCharArray).orElse(null))));
            }
        }
        return cluster
                ? LockInspector.connectCluster(servers, options)
                : LockInspector.connect(servers.get(0), options);
    }

    private Failure unreadable() {
        return Failure.usage(where() + " is none of Redis. It reads " + FORM + ".");
    }
}
