package dev.fenceline.jdbc;

import dev.fenceline.FencedLease;
import dev.fenceline.FencelineEvent.StaleRefused;
import dev.fenceline.FencelineListener;
import dev.fenceline.FencingToken;
import dev.fenceline.StaleTokenException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** One token at work on one row, from its claim until somebody takes over. */
final class RowSession {

    private final RowTarget target;
    private final Admission admission;
    private final @Nullable FencedLease lease;
    private final FencelineListener listener;
    private final AtomicReference<@Nullable FencingToken> overtakenBy = new AtomicReference<>();
    private final AtomicReference<@Nullable Long> acknowledgedNanos = new AtomicReference<>();

    RowSession(RowTarget target, Admission admission, @Nullable FencedLease lease, FencelineListener listener) {
        this.target = target;
        this.admission = admission;
        this.lease = lease;
        this.listener = listener;
    }

    RowTarget target() {
        return target;
    }

    Admission admission() {
        return admission;
    }

    @Nullable FencedLease lease() {
        return lease;
    }

    /** How long a statement may wait for the row, and so keep a newer claim waiting behind it. */
    Duration patience() {
        return Patience.of(lease);
    }

    /** The server has answered that the mark is ours; what it answers later adds nothing. */
    void acknowledged() {
        acknowledgedNanos.compareAndSet(null, System.nanoTime());
    }

    Duration sinceAcknowledged() {
        Long nanos = acknowledgedNanos.get();
        return nanos == null ? Duration.ZERO : Duration.ofNanos(System.nanoTime() - nanos);
    }

    /** After its deadline a lease must not push a live holder aside; a mark that is ours already is another matter. */
    void requireHeldToRaise() {
        if (lease != null && admission == Admission.RAISING) {
            lease.requireHeld();
        }
    }

    /** Marks only rise, so asking again could only give the same answer. */
    void refuseIfOvertaken(String step) {
        FencingToken newest = overtakenBy.get();
        if (newest != null) {
            throw new StaleTokenException(step, target.resource(), target.token(), newest, null);
        }
    }

    /** Remembers that the session is over, and tells so once. */
    StaleTokenException overtaken(String step, FencingToken newest, @Nullable Throwable cause) {
        if (overtakenBy.getAndSet(newest) == null) {
            listener.tell(new StaleRefused(target.resource(), target.token(), newest));
        }
        return new StaleTokenException(step, target.resource(), target.token(), newest, cause);
    }
}
