package dev.fenceline.lock;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.sentinel.api.StatefulRedisSentinelConnection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Lettuce's client, set up so that it sends nothing twice, and its threads.
 *
 * <p>Lettuce's own reconnecting is off, since it would send to the new connection what was made for the old one: a command
 * carries what was learnt of one server process, and the next connection may reach another. {@link Replaced} connects anew.
 */
final class Network {

    /** A cold JVM takes a second to load a TLS stack, and a lost SYN is sent again after one. */
    static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);

    /** Ours to shut down; none where the user shares his. */
    private final @Nullable ClientResources owned;

    private final RedisClient client;

    /** Held for a step without waiting: a client that was shut down must not be asked for a connection. */
    private final ReentrantLock connecting = new ReentrantLock();

    private boolean closed;

    /** With threads and TLS of ours, or of the user's. */
    Network(@Nullable ClientResources shared, @Nullable SslOptions ssl) {
        // Netty's timer waits for its thread when it is first used, and forgets that it was interrupted.
        boolean interrupted = Thread.interrupted();
        try {
            this.owned = shared == null
                    ? ClientResources.builder()
                            .ioThreadPoolSize(2)
                            .computationThreadPoolSize(2)
                            .build()
                    : null;
            this.client = RedisClient.create(shared == null ? owned : shared);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        client.setOptions(ClientOptions.builder()
                .sslOptions(ssl == null ? SslOptions.create() : ssl)
                .autoReconnect(false)
                .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                // Our own check asks more, and PING is one more command to grant.
                .pingBeforeActivateConnection(false)
                // Version 3 begins with HELLO, which an access list would have to grant; we need nothing of it.
                .protocolVersion(ProtocolVersion.RESP2)
                .socketOptions(SocketOptions.builder()
                        .connectTimeout(CONNECT_TIMEOUT)
                        .keepAlive(true)
                        .build())
                .timeoutOptions(TimeoutOptions.enabled())
                .build());
    }

    /** Opens a connection for commands. */
    CompletableFuture<StatefulRedisConnection<String, String>> connect(RedisURI uri, Duration handshake) {
        return opened(uri, handshake, limited -> client.connectAsync(StringCodec.UTF8, limited));
    }

    /** Opens a connection to listen on. */
    CompletableFuture<StatefulRedisPubSubConnection<String, String>> connectPubSub(RedisURI uri, Duration handshake) {
        return opened(uri, handshake, limited -> client.connectPubSubAsync(StringCodec.UTF8, limited));
    }

    /** Opens a connection to a Sentinel. */
    CompletableFuture<StatefulRedisSentinelConnection<String, String>> connectSentinel(
            RedisURI uri, Duration handshake) {
        return opened(uri, handshake, limited -> client.connectSentinelAsync(StringCodec.UTF8, limited));
    }

    private <T> CompletableFuture<T> opened(
            RedisURI uri, Duration handshake, Function<RedisURI, CompletionStage<T>> opening) {
        return unlessClosed(() -> Login.of(uri, handshake)).thenCompose(login -> {
            RedisURI limited = RedisURI.builder(uri)
                    .withTimeout(handshake)
                    .withAuthentication(login)
                    .build();
            try {
                return unlessClosed(() -> opening.apply(limited));
            } finally {
                login.release();
            }
        });
    }

    private <T> CompletableFuture<T> unlessClosed(Supplier<CompletionStage<T>> opening) {
        connecting.lock();
        try {
            return closed
                    ? CompletableFuture.failedFuture(
                            new SendFailure(SendFailure.Kind.UNREACHABLE, "these locks were closed", null))
                    : opening.get().toCompletableFuture();
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        } finally {
            connecting.unlock();
        }
    }

    /** Refuses connections from now on. What is open stays open until {@link #shutDown}. */
    void close() {
        connecting.lock();
        try {
            closed = true;
        } finally {
            connecting.unlock();
        }
    }

    /** Closes the last connections and ends; for whoever has had a look. */
    void disconnect(List<Link> links, Duration limit) {
        close();
        shutDown(
                CompletableFuture.allOf(links.stream()
                        .map(link -> link.connection().closeAsync())
                        .toArray(CompletableFuture<?>[]::new)),
                limit);
    }

    /** Ends the client and its threads, once the connections have ended. */
    void shutDown(CompletableFuture<Void> disconnected, Duration limit) {
        long millis = Math.max(1, limit.toMillis());
        CompletableFuture<Void> down = disconnected
                .exceptionally(thrown -> null)
                .thenCompose(done -> client.shutdownAsync(0, millis, TimeUnit.MILLISECONDS));
        try {
            Void unused = Uninterruptibly.await(down, Duration.ofMillis(millis));
        } catch (SendFailure e) {
            // Netty's threads are daemons, and end by themselves once they have been told to.
        }
        if (owned != null) {
            boolean unused = owned.shutdown(0, millis, TimeUnit.MILLISECONDS).awaitUninterruptibly(millis);
        }
    }
}
