package dev.fenceline.lock;

import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/** One server through one shared connection: opened, checked, used, lost and replaced. */
final class ServerConnection {

    private final Network network;
    private final RedisURI uri;
    private final String server;
    private final Context context;
    private final Incarnations incarnations = new Incarnations();
    private final Replaced<Link> links;

    /**
     * Begins without a connection.
     *
     * @param established hears of each link, the first one included
     */
    ServerConnection(Network network, RedisURI uri, String server, Context context, Consumer<Link> established) {
        this.network = network;
        this.uri = uri;
        this.server = server;
        this.context = context;
        this.links = new Replaced<>(handshake -> open(handshake, ServerConnection::nothingMore), established, context);
    }

    /**
     * Makes the first connection.
     *
     * @param listening subscribes; what it may not do is named together with what else is missing
     */
    CompletableFuture<Void> connect(Supplier<CompletableFuture<Void>> listening) {
        return links.begin(open(Network.CONNECT_TIMEOUT, listening));
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

    private void judge(Link link, SendFailure failure, long before) {
        if (failure.kind() == SendFailure.Kind.UNANSWERED && link.silentSince(before)) {
            // A peer that vanished without a FIN leaves a connection that swallows commands for minutes.
            links.lost(link, String.valueOf(failure.getMessage()));
        }
    }

    private static CompletableFuture<Void> nothingMore() {
        return CompletableFuture.completedFuture(null);
    }

    private CompletableFuture<Link> open(Duration handshake, Supplier<CompletableFuture<Void>> listening) {
        return network.connect(uri, handshake)
                .handle((connection, thrown) -> {
                    if (thrown != null) {
                        throw new CompletionException(ConnectFailure.of(server, Link.unwrapped(thrown)));
                    }
                    return new Link(
                            connection,
                            incarnations.newConnection(),
                            context.clock(),
                            server,
                            context.commandTimeout());
                })
                .thenCompose(fresh -> new ServerCheck(server, context.keys())
                        .run(fresh, listening)
                        .handle((passed, thrown) -> {
                            if (thrown != null) {
                                Replaced.closeQuietly(fresh);
                                throw new CompletionException(ConnectFailure.of(server, Link.unwrapped(thrown)));
                            }
                            // Until here the handshake's limit held, which bears a cold JVM.
                            fresh.connection().setTimeout(context.commandTimeout());
                            return fresh;
                        }));
    }

    CompletableFuture<Void> close() {
        return links.close();
    }
}
