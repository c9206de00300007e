package dev.fenceline.lock;

import dev.fenceline.lock.LockTransport.ReleaseReply;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The releases that one node has not acknowledged. They are sent again when it is connected, and from time to time while it is and
 * says that it cannot, until the lease that they end is over anyway.
 *
 * <p>A release that was sent while a request of its holder was under way may have overtaken it: on a new connection, or where the node
 * knew the script of the one and not of the other. So it is sent again when the request turns out to have been granted, and a command
 * timeout after it was lost; so is the release that follows on a loss. Not where a later request of the holder was granted meanwhile
 * under a token that is not above: proposals rise ({@link Proposed}), but for clocks that were set back.
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
    enum End {
        GRANTED,
        /** Carried out, to be carried out, or never. */
        LOST,
        NOT_GRANTED
    }

    /**
     * A request for a lock that is under way. What was released <em>before</em> it is none of its business: its holder may have asked
     * again, and under a token that is not above the one before, since the clocks that it follows are not monotonic.
     */
    final class Request {

        private final UUID holder;
        private final long token;
        private @Nullable Due releasedBehind;

        private Request(UUID holder, long token) {
            this.holder = holder;
            this.token = token;
        }

        private void releasedBy(Due due) {
            if (releasedBehind == null || releasedBehind.newest() < due.newest()) {
                releasedBehind = due;
            }
        }

        /** It is over. A release that was sent behind it may have come before it. */
        void over(End end) {
            Due released;
            guard.lock();
            try {
                underWay.computeIfPresent(holder, (same, requests) -> without(requests));
                released = releasedBehind;
                if (released == null && end == End.LOST) {
                    remember(holder);
                } else if (released == null && end == End.GRANTED) {
                    late.removeIf(this::isEndedBy);
                    unacknowledged.computeIfPresent(holder, (same, due) -> isEndedBy(due) ? null : due);
                }
            } finally {
                guard.unlock();
            }
            if (released != null && end == End.GRANTED) {
                var unused = attempt(released);
            } else if (released != null && end == End.LOST) {
                again(released);
            }
        }

        /** Whether a release of an earlier attempt would take for its own what this request was granted. */
        private boolean isEndedBy(Due due) {
            return due.holder().equals(holder) && due.newest() >= token && due.newest() != Long.MAX_VALUE;
        }

        private @Nullable List<Request> without(List<Request> requests) {
            requests.remove(this);
            return requests.isEmpty() ? null : requests;
        }
    }

    /** Sends one release. */
    interface Sending {
        CompletableFuture<ReleaseReply> send(Due due);
    }

    private final Context context;
    private final Sending sending;
    private final BooleanSupplier admitted;
    private final ReentrantLock guard = new ReentrantLock();
    private final Map<UUID, Due> unacknowledged = new LinkedHashMap<>();
    private final Map<UUID, List<Request>> underWay = new HashMap<>();

    /** To be sent once more, for a request that was lost. */
    private final Set<Due> late = new HashSet<>();

    /** Who asked and lost the answer, and nothing was released since; until when that is of interest. */
    private final Map<UUID, Long> doubtful = new LinkedHashMap<>();

    private final AtomicBoolean planned = new AtomicBoolean();

    /**
     * Begins with nothing to release.
     *
     * @param admitted whether the node can be asked now
     */
    NodeReleases(Context context, Sending sending, BooleanSupplier admitted) {
        this.context = context;
        this.sending = sending;
        this.admitted = admitted;
    }

    /** Sends it now, and again if that fails. Ends as this first attempt does. */
    CompletableFuture<ReleaseReply> send(LockKey lock, UUID holder, long newest, long freeAt) {
        Due due = new Due(lock, holder, newest, freeAt, aLeaseFromNow());
        ends(due);
        return attempt(due);
    }

    /** A holder is ended by the request of its successor. */
    void succeeded(LockKey lock, UUID holder) {
        ends(new Due(lock, holder, Long.MAX_VALUE, context.clock().nanoTime(), aLeaseFromNow()));
    }

    /** Notes what is about to be sent, for the requests that may come to the node behind it. */
    private void ends(Due due) {
        boolean doubt;
        guard.lock();
        try {
            forgetTheOld();
            underWay.getOrDefault(due.holder(), List.of()).forEach(request -> request.releasedBy(due));
            doubt = doubtful.remove(due.holder()) != null;
        } finally {
            guard.unlock();
        }
        if (doubt) {
            again(due);
        }
    }

    private long aLeaseFromNow() {
        return context.clock().nanoTime() + context.options().lease().toNanos();
    }

    /** A request for a lock is about to be sent. What ended an earlier attempt of its holder must not come behind it, and end this one. */
    Request asking(UUID holder, long token) {
        Request request = new Request(holder, token);
        Due before;
        guard.lock();
        try {
            underWay.computeIfAbsent(holder, none -> new ArrayList<>(1)).add(request);
            before = unacknowledged.get(holder);
        } finally {
            guard.unlock();
        }
        if (before != null) {
            var unused = attempt(before);
        }
        return request;
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
                if (failure.kind() == SendFailure.Kind.UNABLE || wasJustAdmitted(failure)) {
                    againLater();
                }
            }
        });
    }

    /** Its new connection has sent what was noted by then, and nobody else would come by. */
    private boolean wasJustAdmitted(SendFailure failure) {
        return failure.kind() == SendFailure.Kind.UNREACHABLE && admitted.getAsBoolean();
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
            Due known = unacknowledged.get(due.holder());
            // Of two releases the one that ends more stands for both.
            if (known == null || due.newest() >= known.newest()) {
                // At the end: in the place of the other one it would keep those behind it for its own, longer time.
                unacknowledged.remove(due.holder());
                unacknowledged.put(due.holder(), due);
            }
        } finally {
            guard.unlock();
        }
    }

    /** Its request may still be carried out, and begin a lease: on an old connection, behind what is sent on the next one. */
    private void remember(UUID lost) {
        forgetTheOld();
        doubtful.remove(lost);
        doubtful.put(lost, aLeaseFromNow());
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
        Iterator<Long> ends = doubtful.values().iterator();
        while (ends.hasNext() && ends.next() - now <= 0) {
            ends.remove();
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
        guard.lock();
        try {
            late.add(due);
        } finally {
            guard.unlock();
        }
        later(context.commandTimeout().toMillis(), () -> {
            if (isStillLate(due)) {
                var unused = attempt(due);
            }
        });
    }

    private boolean isStillLate(Due due) {
        guard.lock();
        try {
            return late.remove(due);
        } finally {
            guard.unlock();
        }
    }

    private void later(long millis, Runnable step) {
        try {
            var unused = context.scheduler().schedule(step, millis, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            // The locks were closed meanwhile.
        }
    }
}
