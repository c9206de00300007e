package dev.fenceline.lock;

import io.lettuce.core.RedisURI;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The one subscription of these locks, on a channel of their own. What is heard there are hints: they may be late, lost, or come
 * twice.
 *
 * <p>Nothing is sent on a connection that only listens, so a peer that vanished without a FIN would not be missed. SUBSCRIBE is
 * sent again from time to time, which changes nothing at a server that is there, and needs no further grant.
 */
final class Subscription {

    private static final Duration HEARTBEAT = Duration.ofSeconds(5);

    /** A connection that listens, and how often another one had been asked for when its place was chosen. */
    private record Ear(StatefulRedisPubSubConnection<String, String> connection, int generation)
            implements Replaced.Connection {}

    private final Network network;
    private final Supplier<RedisURI> place;
    private final Context context;
    private final String channel;
    private final Replaced<Ear> ears;
    private final AtomicInteger generation = new AtomicInteger();

    private volatile LockTransport.@Nullable Hints hints;

    Subscription(Network network, Supplier<RedisURI> place, Context context) {
        this.network = network;
        this.place = place;
        this.context = context;
        this.channel = context.keys().channel(LockValue.hex(UUID.randomUUID()));
        this.ears = new Replaced<>(this::open, this::established, context);
    }

    String channel() {
        return channel;
    }

    /** Subscribes for the first time. */
    CompletableFuture<Void> connect() {
        return ears.begin(open(Network.CONNECT_TIMEOUT));
    }

    void listen(LockTransport.Hints to) {
        hints = to;
    }

    /** Tells whether messages that are sent now are heard, as far as this side can know. */
    boolean live() {
        return ears.current() != null;
    }

    /**
     * Subscribes on a new connection: the old one, or one that is being made, may be at a server where nobody publishes any more.
     */
    void renew() {
        generation.incrementAndGet();
        Ear ear = ears.current();
        if (ear != null) {
            ears.lost(ear, "subscribing anew");
        }
    }

    CompletableFuture<Void> close() {
        return ears.close();
    }

    private CompletableFuture<Ear> open(Duration handshake) {
        // Before the place is asked for: whoever says later that it is another one will be heard.
        int begun = generation.get();
        return network.connectPubSub(place.get(), handshake).thenCompose(connection -> {
            connection.addListener(new RedisPubSubAdapter<String, String>() {
                @Override
                public void message(String from, String message) {
                    heard(message);
                }
            });
            Ear ear = new Ear(connection, begun);
            return subscribed(ear).handle((done, thrown) -> {
                if (thrown != null) {
                    Replaced.closeQuietly(ear);
                    throw new CompletionException(Link.unwrapped(thrown));
                }
                connection.setTimeout(context.commandTimeout());
                return ear;
            });
        });
    }

    private CompletableFuture<Void> subscribed(Ear ear) {
        try {
            return ear.connection().async().subscribe(channel).toCompletableFuture();
        } catch (RuntimeException e) {
            // A closed connection throws here; others fail the future.
            return CompletableFuture.failedFuture(e);
        }
    }

    private void heard(String message) {
        LockTransport.Hints to = hints;
        if (to != null) {
            to.heard(message);
        }
    }

    private void established(Ear ear) {
        if (ear.generation() != generation.get()) {
            ears.lost(ear, "subscribing anew");
            return;
        }
        LockTransport.Hints to = hints;
        if (to != null) {
            to.subscribed();
        }
        beatLater(ear);
    }

    private void beatLater(Ear ear) {
        try {
            var unused = context.scheduler().schedule(() -> beat(ear), HEARTBEAT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            // The locks were closed meanwhile.
        }
    }

    private void beat(Ear ear) {
        if (ear.equals(ears.current())) {
            var unused = subscribed(ear).whenComplete((done, thrown) -> {
                if (thrown == null) {
                    beatLater(ear);
                } else {
                    ears.lost(ear, String.valueOf(Link.unwrapped(thrown).getMessage()));
                }
            });
        }
    }
}
