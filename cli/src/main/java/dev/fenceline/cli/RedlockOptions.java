package dev.fenceline.cli;

import dev.fenceline.LockOptions;
import dev.fenceline.lock.Redlock;
import dev.fenceline.lock.RedlockConnector;
import dev.fenceline.lock.RedlockNodeState;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterURIUtil;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import picocli.CommandLine.Option;

/** How a command reaches the nodes of Redlock. */
final class RedlockOptions extends LockServerOptions {

    private static final Pattern NODES = Pattern.compile(
            "rediss?://" + RedisOptions.LOGIN + RedisOptions.HOST + "(?:," + RedisOptions.HOST + ")*/?");
    private static final String FORM = "redis://host[:port],host[:port],host[:port],…, with rediss for TLS";

    @Option(
            names = "--lease",
            paramLabel = "DURATION",
            order = 87,
            defaultValue = "10s",
            description =
                    "The longest lease of the applications, or their restartDelay if that is longer: a node that was reborn waits"
                            + " for so long (${DEFAULT-VALUE}).")
    private String lease = "10s";

    RedlockOptions(Terminal terminal) {
        super(terminal, "--nodes", "FENCELINE_REDLOCK");
    }

    @Option(
            names = "--nodes",
            paramLabel = "URI",
            order = 83,
            description = "All nodes: " + FORM + "; without it FENCELINE_REDLOCK.")
    void nodes(String text) {
        if (text != null && text.contains("@")) {
            throw refused("A login in --nodes");
        }
        if (text != null && !NODES.matcher(text).matches()) {
            throw misunderstood("The address of --nodes is none of Redlock. It reads " + FORM + ".");
        }
        address(text);
    }

    /** The nodes, and how they look; asks for a password if one is wanted and nobody gave one. */
    record Seen(RedlockConnector redlock, List<RedlockNodeState> states) {}

    /** Looks at the nodes. */
    Seen look(Function<RedlockConnector, List<RedlockNodeState>> at) {
        String text = address()
                .orElseThrow(() -> Failure.usage(
                        "No nodes are named: give --nodes redis://one,two,three, or set FENCELINE_REDLOCK."));
        Optional<String> password = password();
        Seen seen = look(text, password, at);
        boolean wanted = seen.states().stream()
                .flatMap(state -> state.trouble().stream())
                .anyMatch(trouble -> trouble.contains("NOAUTH"));
        return wanted && canAsk(text, password) ? look(text, askForPassword(), at) : seen;
    }

    private Seen look(String text, Optional<String> password, Function<RedlockConnector, List<RedlockNodeState>> at) {
        RedlockConnector redlock = connector(text, password);
        return new Seen(redlock, at.apply(redlock));
    }

    private RedlockConnector connector(String text, Optional<String> password) {
        if (!NODES.matcher(text).matches()) {
            throw unreadable();
        }
        List<RedisURI> nodes;
        try {
            nodes = RedisClusterURIUtil.toRedisURIs(URI.create(text));
        } catch (IllegalArgumentException e) {
            // Says the whole address again.
            throw unreadable();
        }
        nodes.forEach(node -> login(node, password));
        if (nodes.size() < 3) {
            throw Failure.usage(
                    where() + " is refused: Redlock needs three nodes or more, since with " + nodes.size()
                            + " none may fail, and all of them are to be named. For one server use --redis with the locks commands.");
        }
        Duration longest = Texts.duration("--lease", lease, "1s", "30d");
        LockOptions options = lockOptions();
        try {
            return Redlock.of(nodes)
                    .options(LockOptions.builder()
                            .keyPrefix(options.keyPrefix())
                            .application(options.application())
                            .lease(longest)
                            .build());
        } catch (IllegalArgumentException e) {
            throw Failure.usage(where() + " is refused: " + e.getMessage());
        }
    }

    private Failure unreadable() {
        return Failure.usage(where() + " is none of Redlock. It reads " + FORM + ".");
    }
}
