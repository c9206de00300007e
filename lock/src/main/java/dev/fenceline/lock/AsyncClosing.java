package dev.fenceline.lock;

import dev.fenceline.lock.LockTransport.ReleaseReply;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

/** The end of a lease on behalf of a future: what {@code close()} does, without a thread that waits for the answer. */
final class AsyncClosing {

    private AsyncClosing() {}

    /** Sends the release before this returns. The future ends on the pool on which futures go on, and never badly. */
    static CompletableFuture<Void> of(ConnectedLocks locks, RedisLease lease) {
        CompletableFuture<ReleaseReply> acknowledged = lease.startClosing();
        if (acknowledged == null) {
            return CompletableFuture.completedFuture(null);
        }
        // A copy: the release itself goes on for as long as the lease lasts.
        CompletableFuture<ReleaseReply> inTime = acknowledged.copy();
        limit(locks, inTime);
        CompletableFuture<Void> reported = inTime.handleAsync((reply, thrown) -> {
            if (thrown != null) {
                lease.releaseFailed(SendFailure.of(thrown));
            }
            return null;
        });
        // Another copy: whoever cancels it must not keep the failure from being told.
        return reported.copy();
    }

    private static void limit(ConnectedLocks locks, CompletableFuture<ReleaseReply> answer) {
        if (answer.isDone()) {
            return;
        }
        Duration timeout = locks.options().commandTimeout();
        Future<?> timer = locks.timer(
                () -> answer.completeExceptionally(new SendFailure(
                        SendFailure.Kind.UNANSWERED,
                        locks.transport().silent() + " did not answer within " + timeout.toMillis() + " ms",
                        null)),
                timeout.toNanos());
        if (timer != null) {
            var unused = answer.whenComplete((reply, thrown) -> timer.cancel(false));
        }
    }
}
