package dev.fenceline.lock;

import dev.fenceline.lock.LockTransport.ReleaseReply;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The releases that one node has not acknowledged. They are sent again when it is connected, and from time to time while it is and
 * says that it cannot, until the lease that they end is over anyway.
 *
 * <p>All of them live for the same time, so those at the head are the first to be forgotten: a node that is away for hours costs no
 * more memory than one that is away for a lease.
 */
final class NodeReleases {

    private static final long AGAIN_MILLIS = 100;

    /**
     * What is to be released.
     *
     * @param newest no attempt of this holder that came later
     * @param freeAt from when on the lock may be free, by the monotonic clock
     * @param end when it is free without a release
     */
    record Due(LockKey lock, UUID holder, long newest, long freeAt, long end) {

        /** How long it is to stay taken; rounded up, since it is a least time. */
        long keepMillis(long now) {
            return Duration.ofNanos(Math.max(0, freeAt - now)).plusNanos(999_999).toMillis();
        }
    }

    /** Sends one release. */
    interface Sending {
        CompletableFuture<ReleaseReply> send(Due due);
    }

    private final Context context;
    private final Sending sending;
    private final ReentrantLock guard = new ReentrantLock();
    private final Map<UUID, Due> unacknowledged = new LinkedHashMap<>();
    private final AtomicBoolean planned = new AtomicBoolean();

    NodeReleases(Context context, Sending sending) {
        this.context = context;
        this.sending = sending;
    }

    /** Sends it now, and again if that fails. Ends as this first attempt does. */
    CompletableFuture<ReleaseReply> send(LockKey lock, UUID holder, long newest, long freeAt) {
        Due due = new Due(
                lock,
                holder,
                newest,
                freeAt,
                context.clock().nanoTime() + context.options().lease().toNanos());
        return attempt(due);
    }

    private CompletableFuture<ReleaseReply> attempt(Due due) {
        return sending.send(due).whenComplete((reply, thrown) -> {
            if (thrown == null) {
                acknowledged(due);
            } else {
                SendFailure failure = SendFailure.of(thrown);
                if (failure.kind() != SendFailure.Kind.FORBIDDEN) {
                    remember(due);
                }
                if (failure.kind() == SendFailure.Kind.UNABLE) {
                    againLater();
                }
            }
        });
    }

    /** Sends what was not acknowledged, on a connection that is new or that may do now. */
    void sendAgain() {
        List<Due> all;
        guard.lock();
        try {
            forgetTheOld();
            all = List.copyOf(unacknowledged.values());
        } finally {
            guard.unlock();
        }
        for (Due due : all) {
            var unused = attempt(due);
        }
    }

    /** As {@link #sendAgain()}, of one holder, for whom something else is sent next. */
    void sendAgain(UUID holder) {
        Due due;
        guard.lock();
        try {
            due = unacknowledged.get(holder);
        } finally {
            guard.unlock();
        }
        if (due != null) {
            var unused = attempt(due);
        }
    }

    /** How many wait for the node. */
    int size() {
        guard.lock();
        try {
            return unacknowledged.size();
        } finally {
            guard.unlock();
        }
    }

    private void remember(Due due) {
        guard.lock();
        try {
            forgetTheOld();
            // Of two releases the one that ends more stands for both.
            unacknowledged.merge(due.holder(), due, (known, fresh) -> fresh.newest() < known.newest() ? known : fresh);
        } finally {
            guard.unlock();
        }
    }

    private void acknowledged(Due due) {
        guard.lock();
        try {
            Due known = unacknowledged.get(due.holder());
            if (known != null && known.newest() <= due.newest()) {
                unacknowledged.remove(due.holder());
            }
        } finally {
            guard.unlock();
        }
    }

    private void forgetTheOld() {
        long now = context.clock().nanoTime();
        Iterator<Due> oldest = unacknowledged.values().iterator();
        while (oldest.hasNext() && oldest.next().end() - now <= 0) {
            oldest.remove();
        }
    }

    private void againLater() {
        if (!planned.compareAndSet(false, true)) {
            return;
        }
        try {
            var unused = context.scheduler()
                    .schedule(
                            () -> {
                                planned.set(false);
                                sendAgain();
                            },
                            AGAIN_MILLIS,
                            TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            // The locks were closed meanwhile.
        }
    }
}
