package dev.fenceline.lock;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Lets the grants of one connection wait for replicas together.
 *
 * <p>WAIT holds up every command that follows on its connection, renewals of other locks too, for as long as the replicas take.
 * So one WAIT is on its way at a time: grants that come meanwhile share the next one, and any command stands behind one WAIT at
 * most. It is sent after the answer to a grant, so it speaks of that grant's writes.
 */
final class ReplicaWait {

    private final Supplier<CompletableFuture<Long>> wait;
    private final ReentrantLock guard = new ReentrantLock();
    private @Nullable CompletableFuture<Long> current;
    private @Nullable CompletableFuture<Long> following;

    /**
     * Begins with nobody waiting.
     *
     * @param wait sends one WAIT, and ends with the number of replicas
     */
    ReplicaWait(Supplier<CompletableFuture<Long>> wait) {
        this.wait = wait;
    }

    /** How many replicas have all that was written on this connection before this call. */
    CompletableFuture<Long> acknowledged() {
        CompletableFuture<Long> mine = new CompletableFuture<>();
        guard.lock();
        try {
            if (current != null) {
                if (following == null) {
                    following = mine;
                }
                return following;
            }
            current = mine;
        } finally {
            guard.unlock();
        }
        send(mine);
        return mine;
    }

    private void send(CompletableFuture<Long> mine) {
        var unused = wait.get().whenComplete((replicas, thrown) -> {
            CompletableFuture<Long> next = proceed();
            if (next != null) {
                send(next);
            }
            if (thrown == null) {
                mine.complete(replicas);
            } else {
                mine.completeExceptionally(Link.unwrapped(thrown));
            }
        });
    }

    private @Nullable CompletableFuture<Long> proceed() {
        guard.lock();
        try {
            current = following;
            following = null;
            return current;
        } finally {
            guard.unlock();
        }
    }
}
