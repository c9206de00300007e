package dev.fenceline.lock;

import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The route where all locks are at one server: always the same one, or the one that Sentinel calls the master. */
final class OneServer implements Route {

    private final String server;
    private final Function<Duration, CompletableFuture<RedisURI>> finder;
    private final Context context;
    private final ServerConnection connection;
    private final @Nullable MasterWatch watch;
    private final AtomicBoolean connectedBefore = new AtomicBoolean();

    private volatile RedisURI last;
    private volatile @Nullable Subscription subscription;
    private volatile @Nullable String lastTried;

    /** At the address of the URI, or at the master that the Sentinels of the URI name each time. */
    OneServer(Network network, RedisURI uri, Context context) {
        this.context = context;
        this.last = uri;
        boolean elected = !uri.getSentinels().isEmpty();
        if (elected) {
            Sentinels sentinels = new Sentinels(network, uri, context);
            this.server = "Redis master '" + sentinels.name() + "' of " + sentinels;
            this.finder = sentinels::master;
        } else {
            this.server = "Redis at " + Uris.address(uri);
            this.finder = limit -> CompletableFuture.completedFuture(uri);
        }
        this.connection = new ServerConnection(
                network,
                limit -> find(limit, elected ? " (" + server + ")" : ""),
                server,
                place -> ServerCheck.standalone(place.name(), context.options()),
                new Incarnations(context.knowledge(Incarnations.Knowledge.SEEN_AND_CHECKED)),
                context,
                this::established);
        this.watch = elected ? new MasterWatch(network, uri, context, connection, () -> last) : null;
    }

    private CompletableFuture<ServerConnection.Place> find(Duration limit, String suffix) {
        return finder.apply(limit).thenApply(uri -> {
            last = uri;
            String name = "Redis at " + Uris.address(uri) + suffix;
            tried("connecting to " + name);
            return new ServerConnection.Place(uri, name);
        });
    }

    @Override
    public String server() {
        return server;
    }

    @Override
    public CompletableFuture<Void> connect(Subscription listening) {
        this.subscription = listening;
        return watch != null
                ? FirstConnect.patiently(context, () -> connection.connect(listening::connect), this::tried)
                : connection.connect(listening::connect);
    }

    @Override
    public Optional<String> lastTried() {
        return Optional.ofNullable(lastTried);
    }

    @Override
    public <T> CompletableFuture<T> run(LockKey lock, Function<Link, CompletableFuture<T>> request) {
        return connection.run(request);
    }

    @Override
    public List<ServerConnection> servers() {
        return List.of(connection);
    }

    private void tried(String last) {
        lastTried = last;
    }

    /** The address, or Sentinel, may lead to another server by now; whoever listens at the old one hears nothing. */
    private void established(Link link) {
        Subscription listening = subscription;
        if (!connectedBefore.getAndSet(true)) {
            if (watch != null) {
                watch.begin();
            }
        } else if (listening != null) {
            listening.renew();
        }
    }

    @Override
    public RedisURI listeningPlace() {
        return last;
    }

    @Override
    public Listeners listeners() {
        return Listeners.COUNTED;
    }

    @Override
    public CompletableFuture<Void> close() {
        if (watch != null) {
            watch.close();
        }
        return connection.close();
    }
}
