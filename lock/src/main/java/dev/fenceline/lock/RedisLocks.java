package dev.fenceline.lock;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import io.lettuce.core.RedisURI;

/**
 * Locks on one Redis server, whose grants carry fencing tokens. Begin here.
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
 * <p><b>The server</b> is a standalone master of Redis 6.2 or later, no node of a Cluster, with {@code maxmemory-policy noeviction}; a server that is not is
 * refused with a message that names the setting. A user with restricted rights needs
 * {@code +eval +evalsha +info +time +get +mget +set +del +exists +pttl +pexpire +zadd +zrange +zrem +zscore +zcard +hset +hget +hdel
 * +hlen +publish +subscribe}, the keys {@code ~<prefix>:v1:*} and the channels {@code &<prefix>:v1:*}.
 * Where a proxy spreads the commands of one connection over several servers, tokens can repeat: connect to the master
 * directly.
 */
public final class RedisLocks {

    private RedisLocks() {}

    /**
     * Connects with the defaults of {@link LockOptions}.
     *
     * <p><b>Blocking:</b> until the server was looked at; about 5 s at most where it does not answer.
     *
     * @param uri {@code redis://[user:password@]host[:port][/database]}, or {@code rediss://} for TLS
     * @return locks to keep for the life of the process, and to close
     * @throws IllegalArgumentException when this is no such URI; it is not repeated in the message
     * @throws BackendUnavailableException when the server cannot be reached
     * @throws BackendMisconfiguredException when the server is a replica or a node of a Cluster, may evict keys, is too old, refuses the login or does
     *     not grant what locks need
     */
    public static Locks connect(String uri) {
        return connect(uri, LockOptions.defaults());
    }

    /**
     * Connects with options. See {@link #connect(String)}.
     *
     * @param uri {@code redis://[user:password@]host[:port][/database]}, or {@code rediss://} for TLS
     * @param options how locks are taken and kept
     * @return locks to keep for the life of the process, and to close
     */
    public static Locks connect(String uri, LockOptions options) {
        return connect(parsed(uri), options);
    }

    /**
     * Connects with options and all that Lettuce can say about a server: TLS, credentials, database. See
     * {@link #connect(String)}.
     *
     * @param uri one server; later changes to this object have no effect
     * @param options how locks are taken and kept
     * @return locks to keep for the life of the process, and to close
     */
    public static Locks connect(RedisURI uri, LockOptions options) {
        if (!uri.getSentinels().isEmpty() || uri.getHost() == null) {
            throw new IllegalArgumentException(
                    "RedisLocks.connect needs the host and port of one server; this URI names a Sentinel or a socket.");
        }
        return Connecting.to(RedisURI.builder(uri).build(), options);
    }

    private static RedisURI parsed(String uri) {
        try {
            return RedisURI.create(uri);
        } catch (RuntimeException e) {
            // Neither the text nor the cause, which repeats it: there may be a password in it.
            throw new IllegalArgumentException(
                    "Not the URI of a Redis server: expected redis://[user:password@]host[:port][/database],"
                            + " or rediss:// for TLS. Special characters in a password are percent-encoded.");
        }
    }
}
