package dev.fenceline.lock;

import io.lettuce.core.RedisURI;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** Leads to the connection on which the commands of a lock go. */
interface Route {

    /** Names the deployment in messages, without credentials. */
    String server();

    /**
     * Connects and looks at the servers. Ends with what {@code RedisLocks.connect} throws.
     *
     * @param subscription is connected on the way, since a user who may not subscribe is refused too; renewed later, whenever
     *     it may be at a server that is no longer the right one
     */
    CompletableFuture<Void> connect(Subscription subscription);

    /** What {@link #connect} tried last, or why its last attempt failed. */
    Optional<String> lastTried();

    /**
     * Makes a request on the connection that a lock belongs to. The request may be made again on another one when a server
     * answered that it did not carry it out and who would, so it asks the {@link Link} for what was learnt of that server.
     * Fails with {@link SendFailure} only, within one command timeout.
     */
    <T> CompletableFuture<T> run(LockKey lock, Function<Link, CompletableFuture<T>> request);

    /** The servers that have locks, each with its connection of now. */
    List<ServerConnection> servers();

    /** Where to listen; another place after a place that failed, if there are several. */
    RedisURI listeningPlace();

    /** Whether PUBLISH counts whoever listens. */
    Listeners listeners();

    /** Disconnects for good. */
    CompletableFuture<Void> close();
}
