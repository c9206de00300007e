package dev.fenceline.lock;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The first connect to all nodes of Redlock: a majority has to be there, and a node that is wrong for good is told at once, since it
 * would be missed only when another one fails.
 */
final class RedlockConnecting {

    /** For those that come after the majority. One that is away must not cost each start of a program a timeout. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final RedlockAttempt.Field field;
    private final String server;
    private final CompletableFuture<Void> result = new CompletableFuture<>();
    private final ReentrantLock guard = new ReentrantLock();
    private final List<Throwable> failed = new ArrayList<>();
    private int connected;

    RedlockConnecting(RedlockAttempt.Field field, String server) {
        this.field = field;
        this.server = server;
    }

    CompletableFuture<Void> begin() {
        for (RedlockNode node : field.nodes()) {
            var unused = node.connect().whenComplete((done, thrown) -> settled(thrown));
        }
        return result;
    }

    private void settled(@Nullable Throwable thrown) {
        boolean majority;
        boolean all;
        guard.lock();
        try {
            if (thrown == null) {
                connected++;
            } else {
                failed.add(Link.unwrapped(thrown));
            }
            majority = thrown == null && connected == field.size().needed();
            all = connected + failed.size() == field.nodes().size();
        } finally {
            guard.unlock();
        }
        if (thrown != null && Link.unwrapped(thrown) instanceof BackendMisconfiguredException wrong) {
            result.completeExceptionally(wrong);
        } else if (all) {
            end();
        } else if (majority) {
            endLater();
        }
    }

    private void endLater() {
        try {
            var unused = field.context().scheduler().schedule(this::end, PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            end();
        }
    }

    private void end() {
        BackendUnavailableException tooFew = tooFew();
        if (tooFew == null) {
            result.complete(null);
        } else {
            result.completeExceptionally(tooFew);
        }
    }

    private @Nullable BackendUnavailableException tooFew() {
        guard.lock();
        try {
            return connected >= field.size().needed()
                    ? null
                    : new BackendUnavailableException(
                            "No connection to a majority of " + server + ": " + connected + " of "
                                    + field.nodes().size() + " nodes are there, and "
                                    + field.size().needed() + " are needed ("
                                    + failed.stream().map(Throwable::getMessage).collect(Collectors.joining(" "))
                                    + ") Nothing was sent; check hosts, ports and whether the servers run.",
                            failed.get(0));
        } finally {
            guard.unlock();
        }
    }
}
