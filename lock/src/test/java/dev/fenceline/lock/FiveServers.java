package dev.fenceline.lock;

import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.Servers;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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

    /** The longest that goes with such a lease, up to {@link #NODE_TIMEOUT}. */
    static Duration nodeTimeout(LockOptions options) {
        Duration quarter = options.lease().dividedBy(4);
        return quarter.compareTo(NODE_TIMEOUT) < 0 ? quarter : NODE_TIMEOUT;
    }

    static String[] uris() {
        return uris(NODES);
    }

    static String[] uris(List<RedisProcess> nodes) {
        return nodes.stream().map(RedisProcess::uri).toArray(String[]::new);
    }

    /** Connectors to all of them, marked as new under the prefix of the options. */
    static RedlockConnector redlock(LockOptions options) {
        RedlockConnector redlock = Redlock.of(uris()).options(options).nodeTimeout(nodeTimeout(options));
        return redlock.firstStart();
    }

    /** The scripts of a node whose clock is set differently: by so many microseconds ahead, or behind. */
    static NodeScripts withClock(long ahead) {
        NodeScripts right = NodeScripts.STANDARD;
        return new NodeScripts(
                withClock(right.look(), ahead), withClock(right.acquire(), ahead), right.renew(), right.release());
    }

    private static Script withClock(Script script, long ahead) {
        String wrong = script.source().replace("tonumber(clock[2])", "tonumber(clock[2]) + " + ahead);
        if (wrong.equals(script.source())) {
            throw new AssertionError(
                    "The script does not read the clock as time.lua does, and this test would show nothing.");
        }
        return Script.of(wrong);
    }

    /** The production locks over nodes whose clocks, in microseconds ahead, are set differently. */
    static Locks connect(List<String> uris, LockOptions options, List<Long> ahead, LockClock clock) {
        Map<Integer, NodeScripts> scripts = new HashMap<>();
        List<RedisURI> nodes = uris.stream().map(RedisURI::create).toList();
        for (int node = 0; node < nodes.size(); node++) {
            scripts.put(nodes.get(node).getPort(), withClock(ahead.get(node)));
        }
        RedlockSettings settings = new RedlockSettings(options, NODE_TIMEOUT, RedlockSettings.AfterRestart.WAITS);
        return Connecting.toNodes(new Network(null, null), nodes, settings, uri -> scripts.get(uri.getPort()), clock);
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
