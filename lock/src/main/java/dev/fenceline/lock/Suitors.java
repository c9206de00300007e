package dev.fenceline.lock;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one attempt at each node, and so which nodes may have the lock for it: those that granted it once, and those whose
 * answer is not there or was lost. When the attempt ends without the lock they are released.
 */
final class Suitors {

    /** Asks one node. */
    interface Asking {
        CompletableFuture<NodeReply> ask(int node);
    }

    private final RedlockAttempt.Field field;
    private final LockKey lock;
    private final RedlockAttempt.Request request;

    private final ReentrantLock guard = new ReentrantLock();
    private final int[] unanswered;
    private final boolean[] granted;
    private long newest;

    Suitors(RedlockAttempt.Field field, LockKey lock, RedlockAttempt.Request request) {
        this.field = field;
        this.lock = lock;
        this.request = request;
        this.unanswered = new int[field.nodes().size()];
        this.granted = new boolean[field.nodes().size()];
    }

    /** The requests of a round. */
    Asking asking(long token, long floor) {
        RedlockAttempt.Request asked = new RedlockAttempt.Request(request.holder(), floor, request.predecessor());
        guard.lock();
        try {
            // Where clocks were set back it is below the one before, and nodes may have granted that.
            newest = Math.max(newest, token);
        } finally {
            guard.unlock();
        }
        return node -> ask(node, asked, token);
    }

    private CompletableFuture<NodeReply> ask(int node, RedlockAttempt.Request asked, long token) {
        guard.lock();
        try {
            unanswered[node]++;
        } finally {
            guard.unlock();
        }
        return field.nodes().get(node).acquire(lock, asked, token).whenComplete((reply, thrown) -> {
            note(node, reply, thrown == null ? null : SendFailure.of(thrown));
            if (thrown != null && request.predecessor() != null) {
                // The others have heard of its end with our request.
                var unused = field.nodes().get(node).release(lock, request.predecessor(), Long.MAX_VALUE, now());
            }
        });
    }

    private void note(int node, @Nullable NodeReply reply, @Nullable SendFailure failure) {
        guard.lock();
        try {
            // A request whose answer was lost may still be carried out.
            if (failure == null || failure.kind() != SendFailure.Kind.UNANSWERED) {
                unanswered[node]--;
            }
            granted[node] |= reply != null && reply.word() == NodeReply.Word.GRANTED;
        } finally {
            guard.unlock();
        }
    }

    /** The lock was not won. Nothing of a later attempt of the same holder is released. */
    void releaseAll() {
        List<RedlockNode> ours = new ArrayList<>();
        long last;
        guard.lock();
        try {
            last = newest;
            for (int i = 0; i < granted.length; i++) {
                if (granted[i] || unanswered[i] > 0) {
                    ours.add(field.nodes().get(i));
                }
            }
        } finally {
            guard.unlock();
        }
        for (RedlockNode node : ours) {
            var unused = node.release(lock, request.holder(), last, now());
        }
    }

    private long now() {
        return field.context().clock().nanoTime();
    }
}
