package dev.fenceline.lock;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one attempt at each node, and so which nodes may have the lock for it: those that granted it once, and those whose
 * answer is not there or was lost. When the attempt ends without the lock they are released, and so is a node that says later that it
 * had granted it.
 *
 * <p>A release goes on the connection of the request and arrives behind it, as a rule; where a new connection or a missing script
 * turns that round, the answer that comes late has it sent again.
 */
final class Suitors {

    /** Asks one node. */
    interface Asking {
        CompletableFuture<NodeReply> ask(int node);
    }

    private enum Ending {
        /** There may be another round. */
        OPEN,
        KEPT,
        RELEASED
    }

    private final RedlockAttempt.Field field;
    private final LockKey lock;
    private final RedlockAttempt.Request request;

    private final ReentrantLock guard = new ReentrantLock();
    private final int[] unanswered;
    private final boolean[] granted;
    private Ending ending = Ending.OPEN;
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
            newest = token;
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
            SendFailure failure = thrown == null ? null : SendFailure.of(thrown);
            if (noted(node, reply, failure)) {
                release(node);
            }
            if (failure != null && request.predecessor() != null) {
                // The others have heard of its end with our request.
                var unused = field.nodes().get(node).release(lock, request.predecessor(), Long.MAX_VALUE, now());
            }
        });
    }

    /** Returns whether the node granted what nobody wants any more. */
    private boolean noted(int node, @Nullable NodeReply reply, @Nullable SendFailure failure) {
        guard.lock();
        try {
            // A request whose answer was lost may still be carried out.
            if (failure == null || failure.kind() != SendFailure.Kind.UNANSWERED) {
                unanswered[node]--;
            }
            boolean grant = reply != null && reply.word() == NodeReply.Word.GRANTED;
            granted[node] |= grant;
            return grant && ending == Ending.RELEASED;
        } finally {
            guard.unlock();
        }
    }

    /** The lock was won: what comes late belongs to the lease. */
    void keep() {
        guard.lock();
        try {
            ending = Ending.KEPT;
        } finally {
            guard.unlock();
        }
    }

    /** The lock was not won. */
    void releaseAll() {
        List<Integer> ours = new ArrayList<>();
        guard.lock();
        try {
            ending = Ending.RELEASED;
            for (int i = 0; i < granted.length; i++) {
                if (granted[i] || unanswered[i] > 0) {
                    ours.add(i);
                }
            }
        } finally {
            guard.unlock();
        }
        ours.forEach(this::release);
    }

    private void release(int node) {
        var unused = field.nodes().get(node).release(lock, request.holder(), newestToken(), now());
    }

    private long newestToken() {
        guard.lock();
        try {
            return newest;
        } finally {
            guard.unlock();
        }
    }

    private long now() {
        return field.context().clock().nanoTime();
    }
}
