package dev.fenceline.lock;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.OutcomeUnknownException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Connects to the nodes of {@link Redlock} with settings of your own. Begin at {@link Redlock#of(String...)}.
 *
 * <p><b>Thread-safety:</b> immutable.
 */
public final class RedlockConnector {

    private static final int FEWEST_NODES = 3;

    private final List<RedisURI> nodes;
    private final RedlockSettings settings;
    private final @Nullable ClientResources resources;
    private final @Nullable SslOptions ssl;

    private RedlockConnector(
            List<RedisURI> nodes,
            RedlockSettings settings,
            @Nullable ClientResources resources,
            @Nullable SslOptions ssl) {
        this.nodes = nodes;
        this.settings = settings;
        this.resources = resources;
        this.ssl = ssl;
    }

    static RedlockConnector of(Collection<RedisURI> nodes) {
        Set<String> addresses = new HashSet<>();
        int place = 0;
        for (RedisURI node : nodes) {
            place++;
            if (node.getHost() == null || !node.getSentinels().isEmpty()) {
                throw new IllegalArgumentException(
                        "A node of Redlock is one server with a host and a port, and the URI of node " + place + " of "
                                + nodes.size() + " names Sentinels or a socket. For Sentinel use RedisLocks.");
            }
            if (!addresses.add(Uris.address(node))) {
                throw new IllegalArgumentException("The node " + Uris.address(node)
                        + " is there twice, and would have two votes. Name each server once.");
            }
        }
        if (nodes.size() < FEWEST_NODES) {
            throw new IllegalArgumentException(
                    "Redlock needs three nodes or more, since with " + nodes.size()
                            + " none may fail. Give each node as an argument of its own; for one server use RedisLocks.connect.");
        }
        return new RedlockConnector(nodes.stream().map(Uris::copy).toList(), RedlockSettings.defaults(), null, null);
    }

    /**
     * Sets how locks are taken and kept. {@link LockOptions#restartDelay()} is one lease at least here, and {@link LockOptions#replicas()}
     * there are none.
     *
     * @param options in place of the defaults
     * @return a connector with these
     * @throws IllegalArgumentException when they ask for replicas
     */
    public RedlockConnector options(LockOptions options) {
        return with(new RedlockSettings(options, settings.nodeTimeout(), settings.afterRestart()));
    }

    /**
     * Sets for how long an attempt waits for a node; 50 ms unless set. With a majority it does not wait at all. Without one, it ends
     * after this time, releases what it has and tries again: so it is to be a few times as long as the way to the farthest node of the
     * nearest majority takes, and short beside the lease.
     *
     * @param time from 1 ms to a quarter of the lease, and to half of a command timeout
     * @return a connector with this
     */
    public RedlockConnector nodeTimeout(Duration time) {
        return with(new RedlockSettings(settings.options(), time, settings.afterRestart()));
    }

    /**
     * Has a node that restarted grant at once. For nodes that keep every write they have acknowledged ({@code appendonly yes} and
     * {@code appendfsync always}, on disks that do not lie). On others two leases of a lock can overlap after a restart, for the rest of
     * the older one; tokens rise also then.
     *
     * @return a connector with this
     */
    public RedlockConnector withoutRestartDelay() {
        return with(
                new RedlockSettings(settings.options(), settings.nodeTimeout(), RedlockSettings.AfterRestart.GRANTS));
    }

    /**
     * Uses Lettuce's threads, name resolver and metrics that a program has already. See {@link RedisConnector#on}.
     *
     * @param shared resources of the program
     * @return a connector with these
     */
    public RedlockConnector on(ClientResources shared) {
        return new RedlockConnector(nodes, settings, shared, ssl);
    }

    /**
     * Uses TLS settings. See {@link RedisConnector#with}.
     *
     * @param tls as Lettuce takes them
     * @return a connector with these
     */
    public RedlockConnector with(SslOptions tls) {
        return new RedlockConnector(nodes, settings, resources, tls);
    }

    private RedlockConnector with(RedlockSettings other) {
        return new RedlockConnector(nodes, other, resources, ssl);
    }

    /**
     * Marks the nodes of a new deployment as new, so that they do not take themselves for nodes that lost their data and wait for a
     * lease before the first grant. To be called once, before anybody connects; where all of them are marked already it does nothing.
     *
     * <p><b>Guarantees:</b> a node is marked only if all of them answer and none has ever been used under this
     * {@link LockOptions#keyPrefix()}, as far as their data tells.
     *
     * <p><b>Not guaranteed:</b> that no lock is held, if all nodes lost their data at the same time. Nobody can tell that from a first
     * start but whoever calls this; so call it when you deploy, not whenever a program starts.
     *
     * That all are marked: nodes that were not, because one went away or this process ended half-way, grant nothing for one lease, once,
     * and go on by themselves. Nodes to which somebody has connected before are as they are, and wait likewise; also where that connect
     * threw because the list of nodes was wrong.
     *
     * <p><b>Blocking:</b> about 5 s where a node is silent; as long again if one falls silent only while all are asked, or marked.
     *
     * <p><b>Interruption:</b> it is not interrupted, and the flag is kept.
     *
     * @return this connector
     * @throws BackendUnavailableException when a node does not answer; none was marked then
     * @throws OutcomeUnknownException when a node did not answer while it was being marked; the message says which were. Not resolvable,
     *     and nothing has to be done: see above
     * @throws BackendMisconfiguredException when a node was used before and another was not: that one lost its data, and has to wait;
     *     and as of {@link #connect()}
     */
    public RedlockConnector firstStart() {
        settings.check();
        RedlockFirstStart.of(new Network(resources, ssl), nodes, settings.effective());
        return this;
    }

    /**
     * Shows an operator whether the nodes take part. See {@link #look(LockKind, LockName)}.
     *
     * @return a state for each node, in their order
     */
    public List<RedlockNodeState> look() {
        return look(null);
    }

    /**
     * Shows an operator whether the nodes take part, and a lock as it lies at each of them. Of the options the key prefix matters,
     * the command timeout, and for how long a node waits that was reborn: one lease, or a longer restart delay.
     *
     * <p><b>Guarantees:</b> nothing is changed, and no lock is taken. A node that is away or refuses hides none of the others.
     *
     * <p><b>Blocking:</b> about 5 s and one command timeout at most, where nodes are silent. It is not interrupted, and the flag is kept.
     *
     * @param kind of which kind the lock is; the same name is another lock in the other kind
     * @param name its name
     * @return a state for each node, in their order
     */
    public List<RedlockNodeState> look(LockKind kind, LockName name) {
        return look(new LockKey(kind, name));
    }

    private List<RedlockNodeState> look(@Nullable LockKey lock) {
        return RedlockLook.at(new Network(resources, ssl), nodes, settings.effective(), Network.CONNECT_TIMEOUT, lock);
    }

    /**
     * Connects. See {@link Redlock#connect(String...)}, also for what may have changed where it throws.
     *
     * @return locks to keep for the life of the process, and to close
     * @throws IllegalArgumentException when the node timeout is out of its range; the message names it
     * @throws BackendUnavailableException when no majority can be reached
     * @throws BackendMisconfiguredException when a node is not one on which locks hold, or two lead to one server
     */
    public Locks connect() {
        settings.check();
        return Connecting.toNodes(
                new Network(resources, ssl), nodes, settings, uri -> NodeScripts.STANDARD, LockClock.system());
    }
}
