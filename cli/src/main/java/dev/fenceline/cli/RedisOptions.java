package dev.fenceline.cli;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.LockOptions;
import dev.fenceline.lock.LockInspector;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterURIUtil;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Option;

/** How a command reaches the lock server. */
final class RedisOptions extends LockServerOptions {

    /** Whatever ends the hosts of a URI has to be encoded here: behind it the rest is no login, and what precedes it hosts. */
    static final String LOGIN = "(?:[^/?#]*@)?";

    static final String HOST = "(?:\\[[0-9A-Fa-f:.%]+\\]|[^:/?#@,\\[\\]\\s]*)(?::[0-9]{1,5})?";
    private static final Pattern SCHEME =
            Pattern.compile("(rediss?)(-sentinel|-cluster)?://(" + LOGIN + HOST + "(?:," + HOST + ")*(?:[/?#][^@]*)?)");
    private static final String FORM =
            "redis://host[:port], redis-sentinel://host[:port],…#master or redis-cluster://host[:port],…,"
                    + " with rediss for TLS";

    RedisOptions(Terminal terminal) {
        super(terminal, "--redis", "FENCELINE_REDIS");
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

    /** Connects, and asks for a password if one is wanted and nobody gave one. */
    LockInspector connect() {
        String text = address()
                .orElseThrow(() ->
                        Failure.usage("No lock server is named: give --redis redis://host, or set FENCELINE_REDIS."));
        Optional<String> password = password();
        try {
            return inspector(text, password);
        } catch (BackendMisconfiguredException e) {
            if (!canAsk(text, password) || !String.valueOf(e.getMessage()).contains("NOAUTH")) {
                throw e;
            }
            return inspector(text, askForPassword());
        }
    }

    private LockInspector inspector(String text, Optional<String> password) {
        LockOptions options = lockOptions();
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
        servers.forEach(server -> login(server, password));
        return cluster
                ? LockInspector.connectCluster(servers, options)
                : LockInspector.connect(servers.get(0), options);
    }

    private Failure unreadable() {
        return Failure.usage(where() + " is none of Redis. It reads " + FORM + ".");
    }
}
