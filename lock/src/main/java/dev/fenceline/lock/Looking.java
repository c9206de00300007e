package dev.fenceline.lock;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineException;
import dev.fenceline.LockName;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;

/** Asks servers about locks, and says why there is no answer. */
final class Looking {

    private static final Pattern REDIRECTED = Pattern.compile("answered: (MOVED|ASK|CLUSTERDOWN|CROSSSLOT)\\b");

    /** Where no lock is meant, and all are at one server. */
    private static final LockKey NONE = new LockKey(LockKind.EFFICIENCY, LockName.of("none"));

    private final Route route;
    private final Context context;

    Looking(Route route, Context context) {
        this.route = route;
        this.context = context;
    }

    /** One lock; empty where it is free. */
    CompletableFuture<Optional<LockState>> ask(LockKey lock) {
        String[] keys = lock.in(context.keys());
        return route.run(lock, link -> link.run(Script.LOOK, keys, Integer.toString(LockState.MOST_TOLD)))
                .thenApply(reply -> LockState.of(lock, reply));
    }

    /** Whether the server takes part in Redlock under our prefix. Masters of a Cluster cannot. */
    CompletableFuture<Boolean> redlock() {
        return route.listeners() == Listeners.COUNTED
                ? route.run(NONE, link -> redlock(link, context.keys()))
                : CompletableFuture.completedFuture(false);
    }

    static CompletableFuture<Boolean> redlock(Link link, KeySpace keys) {
        return link.run(Script.REDLOCK, new String[] {keys.node()}).thenApply(reply -> reply.number() == 1);
    }

    /** The connection on which the keys of a server are gone through, if it is one that we know all servers beside. */
    Link begin(ServerConnection server) {
        String what = "Locks not listed: ";
        Link link = await(what, server.connected());
        String info = await(what, link.info("server"));
        server.place()
                .flatMap(place -> server.check(place).rules().ofMode(info))
                .ifPresent(fault -> {
                    throw fault.exception(link.server());
                });
        return link;
    }

    /**
     * Waits for an answer.
     *
     * @param what begins the message where there is none
     */
    <T> T await(String what, CompletableFuture<T> answer) {
        try {
            return Uninterruptibly.await(answer, context.commandTimeout());
        } catch (SendFailure failure) {
            throw exception(what, failure);
        }
    }

    /** Of a question: whatever became of it, nothing has changed. */
    FencelineException exception(String what, SendFailure failure) {
        String said = String.valueOf(failure.getMessage());
        if (route.listeners() == Listeners.COUNTED && REDIRECTED.matcher(said).find()) {
            return ServerCheck.standalone(route.server(), context.options())
                    .rules()
                    .otherMode("cluster", failure)
                    .exception(route.server());
        }
        return failure.kind() == SendFailure.Kind.FORBIDDEN
                ? new BackendMisconfiguredException(
                        what + said + ". Nothing was changed; give this user what the command names, with ACL SETUSER.",
                        failure)
                : new BackendUnavailableException(
                        what + said + ". Nothing was changed; trying again is fine.", failure);
    }
}
