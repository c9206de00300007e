package dev.fenceline.lock;

import dev.fenceline.lock.LockTransport.ReleaseReply;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/**
 * A release by holder that is sent until the server acknowledges it, or until the lease time has passed and the lock is free
 * anyway. Sending it twice is harmless.
 */
final class Release {

    private static final long FIRST_DELAY_MILLIS = 20;
    private static final long LONGEST_DELAY_MILLIS = 100;

    private final ConnectedLocks locks;
    private final LockKey lock;
    private final UUID holder;
    private final long leaseEnd;
    private final long freeAt;
    private final CompletableFuture<ReleaseReply> acknowledged = new CompletableFuture<>();

    private Release(ConnectedLocks locks, LockKey lock, UUID holder, long freeAt) {
        this.locks = locks;
        this.lock = lock;
        this.holder = holder;
        this.leaseEnd = locks.clock().nanoTime() + locks.options().lease().toNanos();
        this.freeAt = freeAt;
    }

    /** Sends the first release before this returns; ends with the acknowledgement, or with the last {@link SendFailure}. */
    static CompletableFuture<ReleaseReply> send(ConnectedLocks locks, LockKey lock, UUID holder) {
        return send(locks, lock, holder, locks.clock().nanoTime());
    }

    /** As {@link #send}, and the lock stays taken until that time of the monotonic clock, if it is still to come. */
    static CompletableFuture<ReleaseReply> send(ConnectedLocks locks, LockKey lock, UUID holder, long freeAt) {
        Release release = new Release(locks, lock, holder, freeAt);
        locks.releasing(release);
        release.attempt(FIRST_DELAY_MILLIS);
        return release.acknowledged;
    }

    /** Sends one release after a command timeout: for what may arrive behind those that are sent before. */
    static void sendLater(ConnectedLocks locks, LockKey lock, UUID holder) {
        sendLater(locks, lock, holder, locks.clock().nanoTime());
    }

    /** As {@link #sendLater}, and the lock stays taken until that time of the monotonic clock, if it is still to come. */
    static void sendLater(ConnectedLocks locks, LockKey lock, UUID holder, long freeAt) {
        Runnable second = () -> {
            var unused = send(locks, lock, holder, freeAt);
        };
        boolean unused = locks.later(second, locks.options().commandTimeout().toMillis());
    }

    CompletableFuture<ReleaseReply> acknowledged() {
        return acknowledged;
    }

    /** No more attempt comes, since the locks are closed. */
    void endNow() {
        acknowledged.completeExceptionally(
                new SendFailure(SendFailure.Kind.UNREACHABLE, "these locks were closed before it was sent", null));
    }

    private void attempt(long delayMillis) {
        // Looked at anew for each attempt, so that one which comes late does not keep the lock for longer.
        Duration keep = Duration.ofNanos(Math.max(0, freeAt - locks.clock().nanoTime()));
        var unused = locks.transport().release(lock, holder, keep).whenComplete((reply, thrown) -> {
            if (thrown == null) {
                locks.released(this);
                acknowledged.complete(reply);
                return;
            }
            SendFailure failure = SendFailure.of(thrown);
            boolean leaseIsOver = locks.clock().nanoTime() - leaseEnd >= 0;
            if (leaseIsOver
                    || failure.kind() == SendFailure.Kind.FORBIDDEN
                    || !locks.later(() -> attempt(Math.min(delayMillis * 3 / 2, LONGEST_DELAY_MILLIS)), delayMillis)) {
                locks.released(this);
                acknowledged.completeExceptionally(failure);
            }
        });
    }
}
