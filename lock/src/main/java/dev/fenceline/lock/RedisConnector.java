package dev.fenceline.lock;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.cluster.RedisClusterURIUtil;
import io.lettuce.core.resource.ClientResources;
import java.net.URI;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Connects locks with threads, name resolution or TLS settings of your own. Begin at {@link RedisLocks#on} or
 * {@link RedisLocks#with}; what the locks guarantee in each topology is told at {@link RedisLocks}.
 *
 * <p><b>Thread-safety:</b> immutable.
 */
public final class RedisConnector {

    static final RedisConnector STANDARD = new RedisConnector(null, null);

    private final @Nullable ClientResources resources;
    private final @Nullable SslOptions ssl;

    private RedisConnector(@Nullable ClientResources resources, @Nullable SslOptions ssl) {
        this.resources = resources;
        this.ssl = ssl;
    }

    /**
     * Uses Lettuce's threads, name resolver and metrics that a program has already. They are not shut down with the locks, and
     * must not be before them. A listener or codec that blocks those threads holds up renewals.
     *
     * @param shared resources of the program
     * @return a connector with these
     */
    public RedisConnector on(ClientResources shared) {
        return new RedisConnector(shared, ssl);
    }

    /**
     * Uses TLS settings: a private CA, a client certificate, protocols. They take effect where the URI asks for TLS
     * ({@code rediss://}), and for Sentinels whose URI does.
     *
     * @param settings as Lettuce takes them
     * @return a connector with these
     */
    public RedisConnector with(SslOptions settings) {
        return new RedisConnector(resources, settings);
    }

    /**
     * Connects to one server, or to the master that Sentinels name. See {@link RedisLocks#connect(String)}.
     *
     * @param uri {@code redis://[user:password@]host[:port][/database]}, {@code rediss://} for TLS, or
     *     {@code redis-sentinel://[[user:]password@]host[:port][,host[:port]...][/database]#master}
     * @param options how locks are taken and kept
     * @return locks to keep for the life of the process, and to close
     * @throws IllegalArgumentException when this is no such URI; it is not repeated in the message
     * @throws BackendUnavailableException when the server cannot be reached
     * @throws BackendMisconfiguredException when the server is not one on which locks hold, or may not be used by this user
     */
    public Locks connect(String uri, LockOptions options) {
        return connect(parsed(uri), options);
    }

    /**
     * Connects to one server, or to the master that Sentinels name. See {@link RedisLocks#connect(RedisURI, LockOptions)}.
     *
     * @param uri one server, or Sentinels and the name of a master; later changes to this object have no effect
     * @param options how locks are taken and kept
     * @return locks to keep for the life of the process, and to close
     */
    public Locks connect(RedisURI uri, LockOptions options) {
        RedisURI copy = checked(uri);
        return Connecting.to(new Network(resources, ssl), copy, options);
    }

    /**
     * Connects to look at the locks of one server, or of the master that Sentinels name. See
     * {@link LockInspector#connect(String, LockOptions)}.
     *
     * @param uri as {@link #connect(String, LockOptions)} takes it
     * @param options those of the locks that are looked after
     * @return an inspector to close
     * @throws IllegalArgumentException when this is no such URI; it is not repeated in the message
     */
    public LockInspector inspect(String uri, LockOptions options) {
        return inspect(parsed(uri), options);
    }

    /**
     * Connects to look at the locks of one server, or of the master that Sentinels name. See
     * {@link LockInspector#connect(RedisURI, LockOptions)}.
     *
     * @param uri one server, or Sentinels and the name of a master; later changes to this object have no effect
     * @param options those of the locks that are looked after
     * @return an inspector to close
     */
    public LockInspector inspect(RedisURI uri, LockOptions options) {
        RedisURI copy = checked(uri);
        return Connecting.inspecting(new Network(resources, ssl), copy, options, LockClock.system());
    }

    private static RedisURI checked(RedisURI uri) {
        if (!uri.getSentinels().isEmpty()) {
            if (uri.getSentinelMasterId() == null || uri.getSentinelMasterId().isEmpty()) {
                throw new IllegalArgumentException(
                        "This URI names Sentinels and no master. Put the name that they know it by behind #:"
                                + " redis-sentinel://host:port,host:port#master.");
            }
        } else if (uri.getHost() == null) {
            throw new IllegalArgumentException(
                    "A connection needs the host and port of a server, or of Sentinels;" + " this URI names a socket.");
        }
        return Uris.copy(uri);
    }

    /**
     * Connects to a Redis Cluster. See {@link RedisLocks#connectCluster(String)}.
     *
     * @param uri {@code redis://[user:password@]host[:port][,host[:port]...]}, or {@code rediss://} for TLS
     * @param options how locks are taken and kept
     * @return locks to keep for the life of the process, and to close
     * @throws IllegalArgumentException when this is no such URI; it is not repeated in the message
     */
    public Locks connectCluster(String uri, LockOptions options) {
        return connectCluster(parsedSeeds(uri), options);
    }

    /**
     * Connects to a Redis Cluster. See {@link RedisLocks#connectCluster(Collection, LockOptions)}.
     *
     * @param seeds some of its nodes, of which one has to answer. Login and TLS of the first one are used for all nodes
     * @param options how locks are taken and kept
     * @return locks to keep for the life of the process, and to close
     */
    public Locks connectCluster(Collection<RedisURI> seeds, LockOptions options) {
        List<RedisURI> copies = checkedSeeds(seeds);
        return Connecting.toCluster(new Network(resources, ssl), copies, options);
    }

    /**
     * Connects to look at the locks of a Redis Cluster. See {@link LockInspector#connectCluster(String, LockOptions)}.
     *
     * @param uri as {@link #connectCluster(String, LockOptions)} takes it
     * @param options those of the locks that are looked after
     * @return an inspector to close
     * @throws IllegalArgumentException when this is no such URI; it is not repeated in the message
     */
    public LockInspector inspectCluster(String uri, LockOptions options) {
        return inspectCluster(parsedSeeds(uri), options);
    }

    /**
     * Connects to look at the locks of a Redis Cluster. See {@link LockInspector#connectCluster(Collection, LockOptions)}.
     *
     * @param seeds some of its nodes, of which one has to answer. Login and TLS of the first one are used for all nodes
     * @param options those of the locks that are looked after
     * @return an inspector to close
     */
    public LockInspector inspectCluster(Collection<RedisURI> seeds, LockOptions options) {
        List<RedisURI> copies = checkedSeeds(seeds);
        return Connecting.inspectingCluster(new Network(resources, ssl), copies, options);
    }

    private static List<RedisURI> parsedSeeds(String uri) {
        try {
            return RedisClusterURIUtil.toRedisURIs(URI.create(Uris.withoutLoginBehindTheHosts(uri)));
        } catch (RuntimeException e) {
            throw notAUri("a Redis Cluster", "redis://[user:password@]host[:port][,host[:port]...]");
        }
    }

    private static List<RedisURI> checkedSeeds(Collection<RedisURI> seeds) {
        if (seeds.isEmpty()) {
            throw new IllegalArgumentException("A Redis Cluster is found by one of its nodes; none was given.");
        }
        for (RedisURI seed : seeds) {
            if (seed.getHost() == null || !seed.getSentinels().isEmpty()) {
                throw new IllegalArgumentException(
                        "A node of a Redis Cluster has a host and a port; one of these URIs names a Sentinel or a socket.");
            }
            if (seed.getDatabase() != 0) {
                throw new IllegalArgumentException("A Redis Cluster has database 0 only, and the URI of "
                        + Uris.address(seed) + " asks for " + seed.getDatabase() + ". Separate by keyPrefix.");
            }
        }
        return seeds.stream().map(Uris::copy).toList();
    }

    static RedisURI parsed(String uri) {
        try {
            return RedisURI.create(Uris.withoutLoginBehindTheHosts(uri));
        } catch (RuntimeException e) {
            throw notAUri(
                    "a Redis server",
                    "redis://[user:password@]host[:port][/database], redis-sentinel://host[:port][,host[:port]...]#master");
        }
    }

    /** Neither the text nor the cause, which repeats it: there may be a password in it. */
    private static IllegalArgumentException notAUri(String of, String form) {
        return new IllegalArgumentException("Not the URI of " + of + ": expected " + form
                + ", or rediss:// for TLS. Special characters in a password are percent-encoded.");
    }
}
