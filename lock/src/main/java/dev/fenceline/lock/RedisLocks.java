package dev.fenceline.lock;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.resource.ClientResources;
import java.util.Collection;

/**
 * Locks on Redis, whose grants carry fencing tokens: on one server, on the master that Sentinel names, or in a Cluster. Begin here.
 *
 * <pre>{@code
 * try (Locks locks = RedisLocks.connect("redis://localhost:6379")) {
 *     FencedLock lock = locks.fenced(LockName.of("account", 42));
 *     ...
 * }
 * }</pre>
 *
 * <p><b>Guarantees:</b> a token is above every token that its lock had before, whatever the server's clock does, as long as the
 * server keeps its data. It is so after FLUSHALL, a restart without data and the promotion of a replica too, as long as the newest
 * token is then no further ahead of the server's clock than {@link LockOptions#clockStepTolerance()} (S) and
 * {@link LockOptions#masterClockSkew()} (K) together. Three things add up to that: a backward step of the clock; how far tokens
 * were ahead before it, as a rule nothing, but up to S right after a new incarnation; and by how much a new master's clock is
 * behind the old one's, at most K. All clients of one key prefix use the same S and K. No command is sent again behind the
 * caller's back.
 *
 * <p><b>Not guaranteed:</b> that a lock whose floor was raised stays above it after a loss of data, which takes the floor too:
 * its next claim may be refused, and raises the floor again. Nor that one process at a time believes in the lock. A pause, a lost server or a promotion lets two
 * leases overlap; the fence refuses the older one.
 *
 * <p><b>Sentinel</b> ({@code redis-sentinel://}): for each connection all Sentinels of the URI are asked at once, and the address
 * that most of them name is taken. A replica is not accepted; a master that turns out to be demoted is left, and the Sentinels are
 * asked again, for as long as it takes. While connected they are asked once a second, and a master is left that more than half of
 * them have replaced. Not guaranteed: that the old master grants nothing more. It grants beside the new one, with tokens that the
 * fence tells apart only by holder: after an ordered failover for about a second and the time of one question, and behind a
 * partition for as long as some clients reach it; Redis's {@code min-replicas-to-write} bounds that time.
 *
 * <p><b>Cluster</b> ({@link #connectCluster}): the keys of a lock share a slot. Redirections are followed within one command
 * timeout. While a slot is being moved, and while its master is replaced, its locks are neither granted nor released; leases
 * that are held are renewed until their key has moved, and after. As with Sentinel, a master that was replaced behind a partition
 * may grant for up to {@code cluster-node-timeout} more. K is the greatest skew between any two masters, as slots move.
 *
 * <p><b>Replicas</b> ({@link LockOptions#replicas()}): replication is asynchronous, so a failover can lose the newest grants, and
 * the lock is granted again while the old lease runs. With this option a grant counts once so many replicas have it. As many must
 * be connected when the locks are; while they are missing later, nothing is granted, and what is held is renewed.
 *
 * <p><b>Restart delay</b> ({@link LockOptions#restartDelay()}): in a Cluster each slot that moved waits for all of it, and after a
 * failover each counter does when it is first used.
 *
 * <p><b>The server</b> is a master of Redis 6.2 or later, with {@code maxmemory-policy noeviction}; a server that is not is
 * refused with a message that names the setting. A user with restricted rights needs
 * {@code +eval +evalsha +info +time +get +mget +set +del +pttl +pexpire +zadd +zrange +zrem +zscore +hset +hget +hdel
 * +publish +subscribe}, the keys {@code ~<prefix>:v1:*} and the channels {@code &<prefix>:v1:*}; in a Cluster also
 * {@code +asking +cluster|slots}, and {@code +wait} where replicas are waited for. Where a proxy spreads the commands of one
 * connection over several servers, tokens can repeat: connect to the master directly, or set
 * {@link LockOptions.IncarnationCheck#EVERY_GRANT}.
 *
 * <p><b>Connections:</b> one for commands and one to listen, for each {@code Locks}; in a Cluster one for commands to each master;
 * with Sentinel one more to each Sentinel.
 */
public final class RedisLocks {

    private RedisLocks() {}

    /**
     * Connects with the defaults of {@link LockOptions}.
     *
     * <p><b>Blocking:</b> until the server was looked at; about 5 s at most where it does not answer, and 5 s more with Sentinel
     * or Cluster, where a failover that is going on is waited for.
     *
     * @param uri {@code redis://[user:password@]host[:port][/database]}, {@code rediss://} for TLS, or
     *     {@code redis-sentinel://[[user:]password@]host[:port][,host[:port]...][/database]#master}. The login is for the master;
     *     for Sentinels that want one too, use {@link RedisURI.Builder#withSentinel(RedisURI)}
     * @return locks to keep for the life of the process, and to close
     * @throws IllegalArgumentException when this is no such URI; it is not repeated in the message
     * @throws BackendUnavailableException when the server cannot be reached
     * @throws BackendMisconfiguredException when the server is a replica or a node of a Cluster, may evict keys, is too old, refuses the login or does
     *     not grant what locks need; or when no Sentinel knows the master
     */
    public static Locks connect(String uri) {
        return connect(uri, LockOptions.defaults());
    }

    /**
     * Connects with options. See {@link #connect(String)}.
     *
     * @param uri as above
     * @param options how locks are taken and kept
     * @return locks to keep for the life of the process, and to close
     */
    public static Locks connect(String uri, LockOptions options) {
        return RedisConnector.STANDARD.connect(uri, options);
    }

    /**
     * Connects with options and all that Lettuce can say about a server: TLS, a user, a provider of credentials, a database, and
     * Sentinels with a login of their own. See {@link #connect(String)}.
     *
     * @param uri one server, or Sentinels and the name of a master; later changes to this object have no effect
     * @param options how locks are taken and kept
     * @return locks to keep for the life of the process, and to close
     */
    public static Locks connect(RedisURI uri, LockOptions options) {
        return RedisConnector.STANDARD.connect(uri, options);
    }

    /**
     * Connects to a Redis Cluster with the defaults of {@link LockOptions}. Each of its masters is looked at.
     *
     * <p><b>Blocking:</b> as {@link #connect(String)}.
     *
     * @param uri {@code redis://[user:password@]host[:port][,host[:port]...]}, or {@code rediss://} for TLS: some of its nodes, of
     *     which one has to answer
     * @return locks to keep for the life of the process, and to close
     * @throws IllegalArgumentException when this is no such URI; it is not repeated in the message
     * @throws BackendUnavailableException when no node, or one of the masters, cannot be reached
     * @throws BackendMisconfiguredException when a node runs without Cluster, may evict keys, is too old, refuses the login or does not grant what
     *     locks need
     */
    public static Locks connectCluster(String uri) {
        return RedisConnector.STANDARD.connectCluster(uri, LockOptions.defaults());
    }

    /**
     * Connects to a Redis Cluster with options. See {@link #connectCluster(String)}.
     *
     * @param uri {@code redis://[user:password@]host[:port][,host[:port]...]}, or {@code rediss://} for TLS
     * @param options how locks are taken and kept
     * @return locks to keep for the life of the process, and to close
     */
    public static Locks connectCluster(String uri, LockOptions options) {
        return RedisConnector.STANDARD.connectCluster(uri, options);
    }

    /**
     * Connects to a Redis Cluster with options. See {@link #connectCluster(String)}.
     *
     * @param seeds some of its nodes, of which one has to answer; login and TLS of the first one are used for all nodes. Later
     *     changes to these objects have no effect
     * @param options how locks are taken and kept
     * @return locks to keep for the life of the process, and to close
     */
    public static Locks connectCluster(Collection<RedisURI> seeds, LockOptions options) {
        return RedisConnector.STANDARD.connectCluster(seeds, options);
    }

    /**
     * Connects with Lettuce's threads and name resolution that the program has already. See {@link RedisConnector#on}.
     *
     * @param shared resources of the program, which it shuts down itself, after the locks
     * @return a connector with these
     */
    public static RedisConnector on(ClientResources shared) {
        return RedisConnector.STANDARD.on(shared);
    }

    /**
     * Connects with TLS settings, such as a private CA. See {@link RedisConnector#with}.
     *
     * @param settings as Lettuce takes them
     * @return a connector with these
     */
    public static RedisConnector with(SslOptions settings) {
        return RedisConnector.STANDARD.with(settings);
    }
}
