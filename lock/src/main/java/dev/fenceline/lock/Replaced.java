package dev.fenceline.lock;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulConnection;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One connection that is replaced by a new one whenever it is lost, for as long as it takes, and never reconnected. One that lasted is
 * replaced at once, and whatever fails then is tried again ever more seldom, down to twice a second: so a server that is back is found
 * within half a second, and one that cannot be used is not stormed.
 *
 * @param <C> a connection and what was learnt on it
 */
final class Replaced<C extends Replaced.Connection> {

    /** A warm JVM waits less for a server's first words, so that a server that came back is found soon. */
    private static final Duration LEAST_RECONNECT_TIMEOUT = Duration.ofSeconds(1);

    private static final long FIRST_DELAY_MILLIS = 20;
    private static final long LONGEST_DELAY_MILLIS = 500;

    /** What is lost sooner was of no use: of a server that lets us in and refuses all further. */
    private static final long STEADY_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** What carries a connection of Lettuce. */
    interface Connection {
        StatefulConnection<String, String> connection();
    }

    /** Makes a connection that is ready for use. */
    interface Opening<C> {
        CompletableFuture<C> open(Duration handshake);
    }

    private final Opening<C> opening;
    private final Consumer<C> established;
    private final Context context;

    private final AtomicReference<@Nullable C> current = new AtomicReference<>();
    private volatile String trouble = "not connected yet";
    private volatile boolean closed;
    private volatile long usedSince;

    /** How long the newest connection was waited for. One is made at a time, so that nobody else writes it. */
    private volatile long delayMillis = FIRST_DELAY_MILLIS / 2;

    /**
     * Begins without a connection.
     *
     * @param opening makes each connection after the first
     * @param established hears of each connection that is in use from now on
     */
    Replaced(Opening<C> opening, Consumer<C> established, Context context) {
        this.opening = opening;
        this.established = established;
        this.context = context;
    }

    /** Goes on with a first connection once it is there; ends as that ends. */
    CompletableFuture<Void> begin(CompletableFuture<C> first) {
        return first.thenAccept(this::use);
    }

    /** Goes on with a first connection, and makes another for as long as it takes if that fails. */
    CompletableFuture<Void> beginForGood(CompletableFuture<C> first) {
        return first.whenComplete((fresh, thrown) -> opened(fresh, thrown)).thenAccept(fresh -> {});
    }

    /** The connection, or null while it is being replaced. */
    @Nullable C current() {
        return current.get();
    }

    /** Why there is none. */
    String trouble() {
        return trouble;
    }

    private void use(C fresh) {
        usedSince = context.clock().nanoTime();
        fresh.connection().addListener(new RedisConnectionStateListener() {
            @Override
            public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
                lost(fresh, "the server or the network ended the connection");
            }
        });
        C before = current.getAndSet(fresh);
        if (before != null) {
            // Begun twice, by a first connect that was tried again.
            closeQuietly(before);
        }
        // It may have ended before the listener was there, or close() may have looked for it just before.
        if (!fresh.connection().isOpen()) {
            lost(fresh, "the connection ended at once");
        } else if (closed && current.compareAndSet(fresh, null)) {
            closeQuietly(fresh);
        } else {
            established.accept(fresh);
        }
    }

    /** Gives a connection up and makes another; nothing happens if that was done already. */
    void lost(C dead, String why) {
        if (current.compareAndSet(dead, null) && !closed) {
            trouble = why;
            closeQuietly(dead);
            boolean lasted = context.clock().nanoTime() - usedSince >= STEADY_NANOS;
            replaceAfter(lasted ? FIRST_DELAY_MILLIS : longerDelay());
        }
    }

    private long longerDelay() {
        return Math.min(2 * delayMillis, LONGEST_DELAY_MILLIS);
    }

    private void replaceAfter(long millis) {
        delayMillis = millis;
        try {
            var unused = context.scheduler().schedule(this::replace, millis, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            // The locks were closed meanwhile.
        }
    }

    private void replace() {
        if (closed) {
            return;
        }
        Duration timeout = context.commandTimeout();
        Duration handshake = timeout.compareTo(LEAST_RECONNECT_TIMEOUT) > 0 ? timeout : LEAST_RECONNECT_TIMEOUT;
        var unused = opening.open(handshake).whenComplete((fresh, thrown) -> opened(fresh, thrown));
    }

    private void opened(@Nullable C fresh, @Nullable Throwable thrown) {
        if (fresh != null) {
            use(fresh);
        } else if (!closed) {
            trouble = thrown == null
                    ? "unknown"
                    : String.valueOf(Link.unwrapped(thrown).getMessage());
            replaceAfter(longerDelay());
        }
    }

    /** Disconnects for good. */
    CompletableFuture<Void> close() {
        closed = true;
        trouble = "closed";
        C last = current.getAndSet(null);
        return last == null
                ? CompletableFuture.completedFuture(null)
                : last.connection().closeAsync();
    }

    static void closeQuietly(Connection dead) {
        var unused = dead.connection().closeAsync();
    }
}
