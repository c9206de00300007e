package dev.fenceline.lock;

import io.lettuce.core.RedisURI;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The route where all locks are at one server. */
final class OneServer implements Route {

    private final RedisURI uri;
    private final String server;
    private final ServerConnection connection;
    private final AtomicBoolean connectedBefore = new AtomicBoolean();

    private volatile @Nullable Subscription subscription;

    OneServer(Network network, RedisURI uri, Context context) {
        this.uri = uri;
        this.server = "Redis at " + uri.getHost() + ":" + uri.getPort();
        this.connection = new ServerConnection(network, uri, server, context, this::established);
    }

    @Override
    public String server() {
        return server;
    }

    @Override
    public CompletableFuture<Void> connect(Subscription listening) {
        this.subscription = listening;
        return connection.connect(listening::connect);
    }

    @Override
    public <T> CompletableFuture<T> run(LockKey lock, Function<Link, CompletableFuture<T>> request) {
        return connection.run(request);
    }

    /** The address may lead to another server by now; whoever listens at the old one hears nothing. */
    private void established(Link link) {
        Subscription listening = subscription;
        if (connectedBefore.getAndSet(true) && listening != null) {
            listening.renew();
        }
    }

    @Override
    public RedisURI listeningPlace() {
        return uri;
    }

    @Override
    public Listeners listeners() {
        return Listeners.COUNTED;
    }

    @Override
    public CompletableFuture<Void> close() {
        return connection.close();
    }
}
