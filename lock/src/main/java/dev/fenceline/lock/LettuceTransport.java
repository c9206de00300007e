package dev.fenceline.lock;

import dev.fenceline.FencelineEvent;
import dev.fenceline.LockOptions;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One Redis server through one shared connection of Lettuce.
 *
 * <p>Lettuce's own reconnecting is off, since it would send to the new connection what was made for the old one: a command
 * carries what was learnt of one server process, and the next connection may reach another. We connect anew, look at the
 * server again, and leave it to the caller to ask once more.
 */
final class LettuceTransport implements LockTransport {

    /** A cold JVM takes a second to load a TLS stack, and a lost SYN is sent again after one. */
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);

    /** A warm JVM waits less for a server's first words, so that a server that came back is found soon. */
    private static final Duration LEAST_RECONNECT_TIMEOUT = Duration.ofSeconds(1);

    private static final long FIRST_RECONNECT_DELAY_MILLIS = 20;
    private static final long LONGEST_RECONNECT_DELAY_MILLIS = 500;

    private final RedisURI uri;
    private final String server;
    private final LockOptions options;
    private final KeySpace keys;
    private final LockClock clock;
    private final ScheduledExecutorService scheduler;
    private final Notices notices;
    private final ClientResources resources;
    private final RedisClient client;
    private final Incarnations incarnations = new Incarnations();
    private final String leaseMillis;
    private final String who;
    private final String tolerance;
    private final String skew;

    private final AtomicReference<@Nullable Link> link = new AtomicReference<>();
    private volatile String trouble = "not connected yet";
    private volatile boolean closed;

    /** Held for a step without waiting: a client that was shut down must not be asked for a connection. */
    private final ReentrantLock connecting = new ReentrantLock();

    LettuceTransport(
            RedisURI uri, LockOptions options, LockClock clock, ScheduledExecutorService scheduler, Notices notices) {
        this.uri = uri;
        this.server = "Redis at " + uri.getHost() + ":" + uri.getPort();
        this.options = options;
        this.keys = new KeySpace(options.keyPrefix());
        this.clock = clock;
        this.scheduler = scheduler;
        this.notices = notices;
        this.leaseMillis = Long.toString(options.lease().toMillis());
        this.who = LockValue.who(options.application());
        this.tolerance = micros(options.clockStepTolerance());
        this.skew = micros(options.masterClockSkew());
        this.resources = ClientResources.builder()
                .ioThreadPoolSize(2)
                .computationThreadPoolSize(2)
                .build();
        this.client = RedisClient.create(resources);
        client.setOptions(ClientOptions.builder()
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

    private static String micros(Duration duration) {
        return Long.toString(TimeUnit.NANOSECONDS.toMicros(duration.toNanos()));
    }

    /** Makes the first connection. Ends with what {@code RedisLocks.connect} throws. */
    CompletableFuture<Void> connect() {
        return open(CONNECT_TIMEOUT).thenAccept(this::use);
    }

    @Override
    public String server() {
        return server;
    }

    @Override
    public CompletionStage<AcquireReply> acquire(LockKey lock, UUID holder, long floor) {
        Link current = link.get();
        if (current == null) {
            return unreachable();
        }
        String me = LockValue.hex(holder);
        if (lock.kind() == LockKind.EFFICIENCY) {
            return send(current, Script.ACQUIRE, new String[] {keys.lock(lock)}, me, leaseMillis, who)
                    .thenApply(reply -> acquireReply(current, reply));
        }
        Incarnations.Sighting sighting = current.incarnation().last();
        String[] all = {keys.lock(lock), keys.counter(lock), keys.boot(lock), keys.floor(lock)};
        return send(
                        current,
                        Script.ACQUIRE,
                        all,
                        me,
                        leaseMillis,
                        who,
                        sighting.incarnation(),
                        Long.toString(sighting.checked()),
                        Long.toString(sighting.seen()),
                        tolerance,
                        skew,
                        Long.toString(floor))
                .thenApply(reply -> acquireReply(current, reply));
    }

    @Override
    public CompletionStage<RenewReply> renew(LockKey lock, UUID holder) {
        Link current = link.get();
        return current == null
                ? unreachable()
                : send(current, Script.RENEW, new String[] {keys.lock(lock)}, LockValue.hex(holder), leaseMillis)
                        .thenApply(reply -> reply.get(0).equals("renewed") ? RenewReply.RENEWED : RenewReply.REFUSED);
    }

    @Override
    public CompletionStage<ReleaseReply> release(LockKey lock, UUID holder) {
        Link current = link.get();
        return current == null
                ? unreachable()
                : send(current, Script.RELEASE, new String[] {keys.lock(lock)}, LockValue.hex(holder))
                        .thenApply(
                                reply -> reply.get(0).equals("released") ? ReleaseReply.RELEASED : ReleaseReply.ABSENT);
    }

    @Override
    public void close(Duration limit) {
        connecting.lock();
        try {
            closed = true;
        } finally {
            connecting.unlock();
        }
        trouble = "closed";
        Link last = link.getAndSet(null);
        CompletableFuture<Void> disconnected = last == null
                ? CompletableFuture.completedFuture(null)
                : last.connection().closeAsync();
        long millis = Math.max(1, limit.toMillis());
        CompletableFuture<Void> down = disconnected
                .exceptionally(thrown -> null)
                .thenCompose(done -> client.shutdownAsync(0, millis, TimeUnit.MILLISECONDS));
        try {
            Void unused = Uninterruptibly.await(down, Duration.ofMillis(millis));
        } catch (SendFailure e) {
            // Netty's threads are daemons, and end by themselves once they have been told to.
        }
        // Shared resources outlive the client unless they are told.
        boolean unused = resources.shutdown(0, millis, TimeUnit.MILLISECONDS).awaitUninterruptibly(millis);
    }

    private <T> CompletableFuture<T> unreachable() {
        return CompletableFuture.failedFuture(
                new SendFailure(SendFailure.Kind.UNREACHABLE, server + " is not connected (" + trouble + ")", null));
    }

    private CompletableFuture<List<String>> send(Link over, Script script, String[] keys, String... args) {
        long before = clock.nanoTime();
        return over.run(script, keys, args).whenComplete((reply, thrown) -> {
            if (thrown != null
                    && SendFailure.of(thrown).kind() == SendFailure.Kind.UNANSWERED
                    && over.silentSince(before)) {
                // A peer that vanished without a FIN leaves a connection that swallows commands for minutes.
                lost(over, String.valueOf(SendFailure.of(thrown).getMessage()));
            }
        });
    }

    private AcquireReply acquireReply(Link over, List<String> reply) {
        String word = reply.get(0);
        return switch (word) {
            case "held" -> new AcquireReply.Held(LockValue.parse(reply.get(1)), number(reply, 2));
            case "granted" -> {
                note(over, reply, 3);
                yield new AcquireReply.Granted(number(reply, 1));
            }
            case "wait" -> {
                note(over, reply, 4);
                yield new AcquireReply.Wait(number(reply, 1), number(reply, 2), number(reply, 3));
            }
            case "floor" -> {
                note(over, reply, 3);
                yield new AcquireReply.FloorTooFar(number(reply, 1), number(reply, 2));
            }
            case "exhausted" -> {
                note(over, reply, 3);
                yield new AcquireReply.Exhausted(number(reply, 1), number(reply, 2));
            }
            default ->
                throw new CompletionException(new SendFailure(
                        SendFailure.Kind.UNABLE, server + " answered with the unknown word '" + word + "'", null));
        };
    }

    private static long number(List<String> reply, int index) {
        return Long.parseLong(reply.get(index));
    }

    /** Where a reply names the incarnation, the server time stands before it. */
    private void note(Link over, List<String> reply, int index) {
        if (reply.size() > index) {
            over.incarnation()
                    .note(reply.get(index), number(reply, index - 1))
                    .ifPresent(changed -> notices.tell(new FencelineEvent.IncarnationChanged(server, changed)));
        }
    }

    private CompletableFuture<Link> open(Duration handshake) {
        RedisURI limited = RedisURI.builder(uri).withTimeout(handshake).build();
        return client.connectAsync(StringCodec.UTF8, limited)
                .toCompletableFuture()
                .handle((connection, thrown) -> {
                    if (thrown != null) {
                        throw new CompletionException(ConnectFailure.of(server, Link.unwrapped(thrown)));
                    }
                    return new Link(connection, incarnations.newConnection(), clock, server, options.commandTimeout());
                })
                .thenCompose(fresh -> new ServerCheck(server, keys).run(fresh).handle((passed, thrown) -> {
                    if (thrown != null) {
                        closeQuietly(fresh);
                        throw new CompletionException(ConnectFailure.of(server, Link.unwrapped(thrown)));
                    }
                    // Until here the handshake's limit held, which bears a cold JVM.
                    fresh.connection().setTimeout(options.commandTimeout());
                    return fresh;
                }));
    }

    private void use(Link fresh) {
        fresh.connection().addListener(new RedisConnectionStateListener() {
            @Override
            public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
                lost(fresh, "the server or the network ended the connection");
            }
        });
        link.set(fresh);
        // It may have ended before the listener was there, or close() may have looked for a link just before.
        if (!fresh.connection().isOpen()) {
            lost(fresh, "the connection ended at once");
        } else if (closed && link.compareAndSet(fresh, null)) {
            closeQuietly(fresh);
        }
    }

    private void lost(Link dead, String why) {
        if (link.compareAndSet(dead, null) && !closed) {
            trouble = why;
            closeQuietly(dead);
            reconnectAfter(FIRST_RECONNECT_DELAY_MILLIS);
        }
    }

    private void reconnectAfter(long delayMillis) {
        try {
            var unused = scheduler.schedule(() -> reconnect(delayMillis), delayMillis, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            // The locks were closed meanwhile.
        }
    }

    private void reconnect(long delayMillis) {
        Duration timeout = options.commandTimeout();
        Duration handshake = timeout.compareTo(LEAST_RECONNECT_TIMEOUT) > 0 ? timeout : LEAST_RECONNECT_TIMEOUT;
        connecting.lock();
        try {
            if (!closed) {
                var unused = open(handshake).whenComplete((fresh, thrown) -> reconnected(fresh, thrown, delayMillis));
            }
        } finally {
            connecting.unlock();
        }
    }

    private void reconnected(@Nullable Link fresh, @Nullable Throwable thrown, long delayMillis) {
        if (fresh != null) {
            use(fresh);
        } else {
            trouble = thrown == null
                    ? "unknown"
                    : String.valueOf(Link.unwrapped(thrown).getMessage());
            reconnectAfter(Math.min(2 * delayMillis, LONGEST_RECONNECT_DELAY_MILLIS));
        }
    }

    private static void closeQuietly(Link dead) {
        var unused = dead.connection().closeAsync();
    }
}
