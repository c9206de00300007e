package dev.fenceline.lock;

import dev.fenceline.lock.LockTransport.ReleaseReply;
import java.time.Duration;
import java.util.HashMap;
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
import org.jspecify.annotations.Nullable;

/**
 * The releases that one node has not acknowledged. They are sent again when it is connected, and from time to time while it is and
 * says that it cannot, until the lease that they end is over anyway.
 *
 * <p>A release that was sent while a request of its holder was under way may have overtaken it: on a new connection, or where the node
 * knew the script of the one and not of the other. So it is sent again when the request turns out to have been granted, and a command
 * timeout after it was lost.
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
            return Duration.ofNanos(Math.max(0, freeAt - now))
                    .plusNanos(999_999)
                    .toMillis();
        }
    }

    /** What became of a request for a lock. */
    enum Request {
        GRANTED,
        /** Carried out, to be carried out, or never. */
        LOST,
        NOT_GRANTED
    }

    /** How many requests of a holder are under way, and the release that was sent meanwhile. */
    private record Requests(int number, @Nullable Due released) {

        Requests oneMore() {
            return new Requests(number + 1, released);
        }

        Requests releasedBy(Due due) {
            return new Requests(number, released == null || released.newest() < due.newest() ? due : released);
        }

        /** Null when there are no more. */
        @Nullable Requests oneLess() {
            return number == 1 ? null : new Requests(number - 1, released);
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
    private final Map<UUID, Requests> underWay = new HashMap<>();
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
        guard.lock();
        try {
            underWay.computeIfPresent(holder, (same, requests) -> requests.releasedBy(due));
        } finally {
            guard.unlock();
        }
        return attempt(due);
    }

    /** A request for a lock is about to be sent. What ended an earlier attempt of its holder must not come behind it, and end this one. */
    void asking(UUID holder) {
        Due before;
        guard.lock();
        try {
            underWay.merge(holder, new Requests(1, null), (known, one) -> known.oneMore());
            before = unacknowledged.get(holder);
        } finally {
            guard.unlock();
        }
        if (before != null) {
            var unused = attempt(before);
        }
    }

    /** It is over. */
    void asked(UUID holder, Request end) {
        Due released = null;
        guard.lock();
        try {
            Requests requests = underWay.get(holder);
            if (requests != null) {
                released = requests.released();
                underWay.computeIfPresent(holder, (same, known) -> known.oneLess());
            }
        } finally {
            guard.unlock();
        }
        if (released != null && end == Request.GRANTED) {
            var unused = attempt(released);
        } else if (released != null && end == Request.LOST) {
            again(released);
        }
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
        if (planned.compareAndSet(false, true)) {
            later(AGAIN_MILLIS, () -> {
                planned.set(false);
                sendAgain();
            });
        }
    }

    private void again(Due due) {
        later(context.commandTimeout().toMillis(), () -> {
            var unused = attempt(due);
        });
    }

    private void later(long millis, Runnable step) {
        try {
            var unused = context.scheduler().schedule(step, millis, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            // The locks were closed meanwhile.
        }
    }
}
