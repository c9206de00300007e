package dev.fenceline.lock;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLock;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import io.lettuce.core.RedisURI;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * Locks that stay available while a minority of independent Redis servers is down, and whose grants carry fencing tokens: Redlock,
 * with a token that no other one has. Begin here, or at {@link RedisLocks} for one server, Sentinel or Cluster.
 *
 * <pre>{@code
 * try (Locks locks = Redlock.connect("redis://one:6379", "redis://two:6379", "redis://three:6379")) {
 *     FencedLock lock = locks.fenced(LockName.of("account", 42));
 *     ...
 * }
 * }</pre>
 *
 * <p>A lock is granted by a majority of the nodes. All of them are asked at once, and none is waited for once a majority has
 * answered: a node that is down or silent costs nothing.
 *
 * <p><b>Guarantees:</b> whoever asks after another was granted the lock gets a higher token, and no two grants have the same, as long
 * as the nodes keep their data. This depends on no clock. A node that lost data, with or without a restart, is recognised and stands
 * above all that it can have granted, its clock plus {@link LockOptions#clockStepTolerance()} (S): with it, tokens rise as long as its
 * clock shows more, when it is back, than its highest token less S. That is a step back of S at most, and less of it where tokens were
 * ahead of that clock already. A node whose clock is wrong, or a client whose clock is, stops nobody as long as the clocks of a
 * majority are within S of each other. What was granted to somebody who gave up is released at every node, also where the answer comes
 * late.
 *
 * <p><b>Tokens ahead of the clocks</b> are an exception. They are granted after {@link FencedLock#raiseFloor} with a mark further ahead
 * than S, and a node keeps them by themselves, until its clock is a day past them. A client passes those that it has granted or heard
 * of, whoever forgot them. For other clients a lower one or the same number can follow if the nodes that two majorities share have lost
 * their data since, or have a clock that is a day wrong. A fence refuses those too, since it compares holders as well, and the
 * next grant passes its mark.
 *
 * <p><b>Not guaranteed:</b> that one process at a time believes in the lock. Leases do not overlap as long as the clocks of a majority
 * run at about our speed and processes do not pause; a process that pauses goes on with a lease that is over. The fence refuses it.
 * Nor is there an order among processes that wait: each asks again after a random time of 2 to 50 ms. Within a process they queue.
 *
 * <p><b>Nodes that restart.</b> A node without persistence, or with a log that is not synchronised at each write, may have
 * forgotten a grant, and a majority with it would grant the lock twice. So a node that is new or lost something grants nothing for
 * as long as a lease lasts; the others go on. With different leases among the clients, each sets
 * {@link LockOptions#restartDelay()} to the longest. Nodes that are all new look the same: {@link RedlockConnector#firstStart()} spares a
 * new deployment that time. Nodes that synchronise each write need no delay: {@link RedlockConnector#withoutRestartDelay()}.
 *
 * <p><b>The nodes</b> are at least three masters that know nothing of each other: no replicas of one another, no Sentinel, no Cluster.
 * Addresses that lead to one server are refused. Each is looked at as {@link RedisLocks} tells of its server, and a user with restricted
 * rights needs {@code +hmget} in place of {@code +subscribe}, and the other grants that are told there. All clients name the same nodes. To replace one, give the new one the old
 * one's place in all clients, one after the other; while they differ, a majority of the old ones and one of the new ones must share
 * a node, so change one node at a time.
 *
 * <p><b>Connections:</b> one to each node for each {@code Locks}. A node that is away, also when they are made, is tried again after
 * 20 ms and ever more seldom, down to twice a second: it takes part about half a second after it is back. Where it leaves packets
 * without an answer an attempt is given up after one {@link LockOptions#commandTimeout()}, a second at least, and that is added.
 */
public final class Redlock {

    private Redlock() {}

    /**
     * Connects with the defaults of {@link LockOptions}.
     *
     * <p><b>Not guaranteed:</b> that nothing is changed where it throws. Each node that could be looked at has been marked as used by
     * then, so a new deployment whose list was wrong waits for one lease, once: {@link RedlockConnector#firstStart()} comes before the
     * first connect, and checks the list before it marks anything.
     *
     * <p><b>Blocking:</b> until a majority was looked at, and a second more for the others; about 5 s at most.
     *
     * @param nodes {@code redis://[user:password@]host[:port][/database]}, or {@code rediss://} for TLS; one for each node
     * @return locks to keep for the life of the process, and to close
     * @throws IllegalArgumentException when these are no such URIs, fewer than three, or one is there twice
     * @throws BackendUnavailableException when no majority can be reached
     * @throws BackendMisconfiguredException when two lead to one server, or one of them is a replica or a node of a Cluster, may evict keys,
     *     is too old, refuses the login or does not grant what locks need
     */
    public static Locks connect(String... nodes) {
        return of(nodes).connect();
    }

    /**
     * Connects with options. See {@link #connect(String...)}.
     *
     * @param options how locks are taken and kept
     * @param nodes as above
     * @return locks to keep for the life of the process, and to close
     */
    public static Locks connect(LockOptions options, String... nodes) {
        return of(nodes).options(options).connect();
    }

    /**
     * Names the nodes, for whoever sets more than options.
     *
     * @param nodes as {@link #connect(String...)} takes them
     * @return what connects to them; nothing is sent yet
     * @throws IllegalArgumentException when these are no such URIs, fewer than three, or one is there twice
     */
    public static RedlockConnector of(String... nodes) {
        List<RedisURI> parsed = new ArrayList<>();
        for (String node : nodes) {
            parsed.add(parsed(node, parsed.size() + 1, nodes.length));
        }
        return of(parsed);
    }

    /** Says which one is wrong by its place alone: there may be a password in it. */
    private static RedisURI parsed(String node, int place, int of) {
        try {
            RedisURI uri = RedisURI.create(Uris.withoutLoginBehindTheHosts(node));
            if (!node.substring(node.lastIndexOf('@') + 1).contains(",")
                    || !uri.getSentinels().isEmpty()) {
                return uri;
            }
        } catch (RuntimeException e) {
            // Repeats it.
        }
        throw new IllegalArgumentException(
                "Argument " + place + " of " + of
                        + " is not the URI of one node of Redlock: expected redis://[user:password@]host[:port][/database], or rediss:// for"
                        + " TLS, and each node as an argument of its own. Special characters in a password are percent-encoded.");
    }

    /**
     * Names the nodes with all that Lettuce can say about a server.
     *
     * @param nodes each one server; later changes to these objects have no effect
     * @return what connects to them; nothing is sent yet
     * @throws IllegalArgumentException when there are fewer than three, one is there twice, or one names Sentinels or a socket
     */
    public static RedlockConnector of(Collection<RedisURI> nodes) {
        return RedlockConnector.of(nodes);
    }
}
