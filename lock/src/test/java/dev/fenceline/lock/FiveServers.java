package dev.fenceline.lock;

import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.Servers;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Five masters that know nothing of each other, started once for all tests of Redlock. Whoever stops one starts it again. */
final class FiveServers {

    /** Far more than a node needs, so that a busy machine is no outage. */
    static final Duration NODE_TIMEOUT = Duration.ofMillis(400);

    private static final EmbeddedServers SERVERS = Servers.embedded();

    /** Without persistence, as a redis-server of {@link RedisSpec#master()} is. */
    static final List<RedisProcess> NODES = IntStream.range(0, 5)
            .mapToObj(node -> SERVERS.redis(RedisSpec.master()))
            .toList();

    private FiveServers() {}

    static String[] uris() {
        return uris(NODES);
    }

    static String[] uris(List<RedisProcess> nodes) {
        return nodes.stream().map(RedisProcess::uri).toArray(String[]::new);
    }

    /** Connectors to all of them, marked as new under the prefix of the options. */
    static RedlockConnector redlock(LockOptions options) {
        return Redlock.of(uris()).options(options).nodeTimeout(NODE_TIMEOUT).firstStart();
    }

    /** What lies under a lock at each node; the empty text where it is free. */
    static Stream<String> values(LockOptions options, LockName name) {
        return NODES.stream().map(node -> Fixture.value(node, options, Fixture.fenced(name)));
    }

    /** How many of the nodes have the lock taken. */
    static long taken(LockOptions options, LockName name) {
        return values(options, name).filter(value -> !value.isEmpty()).count();
    }
}
