package dev.fenceline.lock;

import dev.fenceline.LeaseLostException.Reason;
import dev.fenceline.lock.LockTransport.RenewReply;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Keeps one lease alive and notices its end: one task on the scheduler, which wakes at the next renewal or at the deadline,
 * whichever comes first, and never blocks there.
 */
final class Renewal {

    private static final long LONGEST_RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    private final ConnectedLocks locks;
    private final RedisLease lease;
    private final long period;

    private volatile long next;
    private volatile boolean underWay;
    private volatile boolean stopped;
    private volatile @Nullable Future<?> timer;

    Renewal(ConnectedLocks locks, RedisLease lease) {
        this.locks = locks;
        this.lease = lease;
        this.period = locks.options().renewalPeriod().toNanos();
    }

    void start() {
        next = locks.clock().nanoTime() + period;
        schedule();
    }

    /** No renewal is sent from now on; one that is on its way can only be refused or prolong what a release then removes. */
    void stop() {
        stopped = true;
        Future<?> last = timer;
        if (last != null) {
            last.cancel(false);
        }
    }

    private void wake() {
        if (stopped || lease.isOver()) {
            return;
        }
        long now = locks.clock().nanoTime();
        if (now - next >= 0) {
            next = now + period;
            if (!underWay && !lease.pastMaxHold()) {
                send();
            }
        }
        schedule();
    }

    private void send() {
        underWay = true;
        var unused = lease.renewOnce().whenComplete((reply, thrown) -> {
            underWay = false;
            if (reply == RenewReply.REFUSED) {
                lease.lose(Reason.REFUSED);
            } else if (thrown != null) {
                // Sooner than in a period: with the usual third of the lease there is only one more before the
                // deadline.
                next = locks.clock().nanoTime() + Math.min(period / 4, LONGEST_RETRY_NANOS);
                locks.soon(this::reschedule);
            }
        });
    }

    private void reschedule() {
        Future<?> last = timer;
        if (last != null) {
            last.cancel(false);
        }
        schedule();
    }

    private void schedule() {
        long now = locks.clock().nanoTime();
        long toRenewal = next - now;
        long toDeadline = lease.deadline() - now;
        long nanos = lease.pastMaxHold() ? toDeadline : Math.min(toRenewal, toDeadline);
        timer = locks.timer(this::wake, Math.max(0, nanos));
        if (stopped) {
            stop();
        }
    }
}
