package dev.fenceline.lock;

import dev.fenceline.lock.LockTransport.Predecessor;
import dev.fenceline.lock.LockTransport.ReleaseReply;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/**
 * What one holder of this process leaves to the next: the lock, or a place in the server's queue. The next one asks the
 * server for both steps in one command. Where that command fails, a release of its own ends the old holder.
 */
final class Succession {

    private final ConnectedLocks locks;
    private final LockKey lock;
    private final UUID predecessor;
    private final Transfers transfers;
    private final CompletableFuture<ReleaseReply> acknowledged = new CompletableFuture<>();

    private Succession(ConnectedLocks locks, LockKey lock, UUID predecessor, Transfers transfers) {
        this.locks = locks;
        this.lock = lock;
        this.predecessor = predecessor;
        this.transfers = transfers;
    }

    /** Of somebody who waited. */
    static Succession ofPlace(ConnectedLocks locks, LockKey lock, UUID predecessor) {
        return new Succession(locks, lock, predecessor, Transfers.none(locks.clock()));
    }

    /** Of somebody who held the lock. */
    static Succession ofLock(ConnectedLocks locks, LockKey lock, UUID predecessor, Transfers transfers) {
        return new Succession(locks, lock, predecessor, transfers);
    }

    Predecessor predecessor() {
        return new Predecessor(
                predecessor,
                transfers.mayGoOn(locks.clock()) ? LockTransport.Passing.BEFORE_OTHERS : LockTransport.Passing.IN_TURN);
    }

    /** What the lease of the next one begins with. */
    Transfers transfers() {
        return transfers.oneMore();
    }

    /** Ends as a release does. */
    CompletableFuture<ReleaseReply> acknowledged() {
        return acknowledged;
    }

    /** The server has answered the one command. */
    void done() {
        acknowledged.complete(ReleaseReply.RELEASED);
    }

    /** The one command was not sent, or not answered. */
    void releaseInstead() {
        var unused = Release.send(locks, lock, predecessor).whenComplete((reply, thrown) -> {
            if (thrown == null) {
                acknowledged.complete(reply);
            } else {
                acknowledged.completeExceptionally(thrown);
            }
        });
    }
}
