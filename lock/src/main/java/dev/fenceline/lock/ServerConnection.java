package dev.fenceline.lock;

import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** One server through one shared connection: opened, checked, used, lost and replaced. */
final class ServerConnection {

    private static final Pattern READONLY = Pattern.compile("\\bREADONLY\\b");

    /** Where a server is, and what it is called in messages. */
    record Place(RedisURI uri, String name) {}

    /** Says where the server is now. */
    interface Finder {
        CompletableFuture<Place> find(Duration limit);
    }

    private final Network network;
    private final Finder finder;
    private final String server;
    private final Function<Place, ServerCheck> checks;
    private final Context context;
    private final Incarnations incarnations;
    private final Replaced<Link> links;

    private volatile CompletableFuture<Void> first = nothingMore();
    private volatile @Nullable Place last;

    /**
     * Begins without a connection.
     *
     * @param finder is asked before each connection
     * @param server names it in messages where no connection does
     * @param checks looks at it on each new connection, at its replicas on the first one
     * @param established hears of each link, the first one included
     */
    ServerConnection(
            Network network,
            Finder finder,
            String server,
            Function<Place, ServerCheck> checks,
            Incarnations incarnations,
            Context context,
            Consumer<Link> established) {
        this.network = network;
        this.finder = finder;
        this.server = server;
        this.checks = checks;
        this.context = context;
        this.incarnations = incarnations;
        this.links = new Replaced<>(this::openWhileInUse, established, context);
    }

    /**
     * Makes the first connection, and nothing further if that fails.
     *
     * @param listening subscribes; what it may not do is named together with what else is missing
     */
    CompletableFuture<Void> connect(Supplier<CompletableFuture<Void>> listening) {
        return links.begin(open(Network.CONNECT_TIMEOUT, checks, listening));
    }

    /** Makes the first connection, for as long as it takes. Ends as the first attempt does. */
    CompletableFuture<Void> connectForGood() {
        first = links.beginForGood(openWhileInUse(Network.CONNECT_TIMEOUT));
        return first;
    }

    /** Ends when the first connection of {@link #connectForGood()} is there, or has failed. */
    CompletableFuture<Void> first() {
        return first.handle((done, thrown) -> null);
    }

    /** The link of now, if there is one. */
    Optional<Link> link() {
        return Optional.ofNullable(links.current());
    }

    /** The link of now, or why there is none. */
    CompletableFuture<Link> connected() {
        return run(CompletableFuture::completedFuture);
    }

    /** Where the newest connection led, or was to lead. */
    Optional<Place> place() {
        return Optional.ofNullable(last);
    }

    /** The check of a server at a place. */
    ServerCheck check(Place place) {
        return checks.apply(place);
    }

    /** Makes a request on the link of now. */
    <T> CompletableFuture<T> run(Function<Link, CompletableFuture<T>> request) {
        Link link = links.current();
        if (link == null) {
            return CompletableFuture.failedFuture(new SendFailure(
                    SendFailure.Kind.UNREACHABLE, server + " is not connected (" + links.trouble() + ")", null));
        }
        long before = context.clock().nanoTime();
        return request.apply(link).whenComplete((reply, thrown) -> {
            if (thrown != null) {
                judge(link, SendFailure.of(thrown), before);
            }
        });
    }

    /** Gives a link up that leads to the wrong server, and makes another. */
    void giveUp(Link link, String why) {
        links.lost(link, why);
    }

    private void judge(Link link, SendFailure failure, long before) {
        if (failure.kind() == SendFailure.Kind.UNANSWERED && link.silentSince(before)) {
            // A peer that vanished without a FIN leaves a connection that swallows commands for minutes.
            links.lost(link, String.valueOf(failure.getMessage()));
        } else if (READONLY.matcher(String.valueOf(failure.getMessage())).find()) {
            // A master that was demoted behind this connection. The address may lead to another one by now.
            links.lost(link, link.server() + " is a replica by now (it answered READONLY)");
        }
    }

    private static CompletableFuture<Void> nothingMore() {
        return CompletableFuture.completedFuture(null);
    }

    private CompletableFuture<Link> openWhileInUse(Duration handshake) {
        return open(handshake, checks.andThen(ServerCheck::whileInUse), ServerConnection::nothingMore);
    }

    private CompletableFuture<Link> open(
            Duration handshake, Function<Place, ServerCheck> check, Supplier<CompletableFuture<Void>> listening) {
        return finder.find(handshake)
                .exceptionallyCompose(thrown -> failed(server, thrown))
                .thenCompose(place -> {
                    last = place;
                    return network.connect(place.uri(), handshake)
                            .thenApply(connection -> new Link(
                                    connection,
                                    incarnations.newConnection(),
                                    context.clock(),
                                    place.name(),
                                    context.commandTimeout()))
                            .thenCompose(fresh -> checked(check.apply(place), fresh, listening))
                            .exceptionallyCompose(thrown -> failed(place.name(), thrown));
                });
    }

    private CompletableFuture<Link> checked(
            ServerCheck check, Link fresh, Supplier<CompletableFuture<Void>> listening) {
        CompletableFuture<?> looked =
                context.purpose() == Context.Purpose.LOCKS ? check.run(fresh, listening) : greeted(fresh);
        return looked.handle((passed, thrown) -> {
            if (thrown != null) {
                Replaced.closeQuietly(fresh);
                throw new CompletionException(Link.unwrapped(thrown));
            }
            // Until here the handshake's limit held, which bears a cold JVM.
            fresh.connection().setTimeout(context.commandTimeout());
            return fresh;
        });
    }

    /** Whether somebody is there who lets us in; what this user may do then is seen when it is done. */
    private static CompletableFuture<?> greeted(Link fresh) {
        return fresh.micros().exceptionallyCompose(thrown -> {
            SendFailure failure = SendFailure.of(thrown);
            return failure.kind() == SendFailure.Kind.FORBIDDEN
                            && String.valueOf(failure.getMessage()).contains("NOPERM")
                    ? CompletableFuture.completedFuture(0L)
                    : CompletableFuture.failedFuture(failure);
        });
    }

    private static <T> CompletableFuture<T> failed(String who, Throwable thrown) {
        return CompletableFuture.failedFuture(ConnectFailure.of(who, Link.unwrapped(thrown)));
    }

    CompletableFuture<Void> close() {
        return links.close();
    }
}
