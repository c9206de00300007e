package dev.fenceline.lock;

import dev.fenceline.lock.LockTransport.AcquireReply;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Has a grant count only once enough replicas have it.
 *
 * <p>One that does not count is told as if its answer had not come: the server has made it, and the same holder may be granted
 * it again, or takes it back. So whoever goes on waiting for the lock waits for the replicas, and nobody else is let in between.
 */
final class ReplicatedGrants {

    private final int replicas;
    private final Duration commandTimeout;
    private final Duration limit;

    /**
     * A grant stands behind one WAIT of others, then joins the one after the next: with a quarter of a command timeout for each it
     * is told in time that its own was in vain.
     */
    ReplicatedGrants(int replicas, Duration commandTimeout) {
        this.replicas = replicas;
        this.commandTimeout = commandTimeout;
        this.limit = commandTimeout.dividedBy(4);
    }

    /** Passes a reply on, a grant only if enough replicas have it: WAIT speaks of what the link that it is sent on has written. */
    CompletableFuture<AcquireReply> confirmed(Link link, AcquireReply reply) {
        if (replicas == 0 || !(reply instanceof AcquireReply.Granted)) {
            return CompletableFuture.completedFuture(reply);
        }
        return link.replicated(replicas, limit)
                .copy()
                .orTimeout(commandTimeout.toNanos(), TimeUnit.NANOSECONDS)
                .handle((have, thrown) -> {
                    if (thrown != null) {
                        SendFailure failure = link.failure(Link.unwrapped(thrown));
                        throw notCounted(String.valueOf(failure.getMessage()), failure);
                    }
                    if (have < replicas) {
                        throw notCounted(
                                link.server() + " has the grant at " + have + " of " + replicas + " replicas after "
                                        + limit.toMillis() + " ms (WAIT)",
                                null);
                    }
                    return reply;
                });
    }

    private static CompletionException notCounted(String message, @Nullable Throwable cause) {
        return new CompletionException(new SendFailure(SendFailure.Kind.UNANSWERED, message, cause));
    }
}
