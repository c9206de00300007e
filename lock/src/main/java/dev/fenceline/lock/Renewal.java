package dev.fenceline.lock;

import dev.fenceline.LeaseLostException.Reason;
import dev.fenceline.lock.LockTransport.RenewReply;
import java.util.concurrent.TimeUnit;

/** When one lease is to be looked at: at its next renewal or at its deadline, whichever comes first. Never blocks. */
final class Renewal {

    private static final long LONGEST_RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    private final ConnectedLocks locks;
    private final RedisLease lease;
    private final long period;

    private volatile long next;
    private volatile boolean underWay;
    private volatile boolean stopped;

    Renewal(ConnectedLocks locks, RedisLease lease) {
        this.locks = locks;
        this.lease = lease;
        this.period = locks.options().renewalPeriod().toNanos();
        this.next = locks.clock().nanoTime() + period;
    }

    /** No renewal is sent from now on; one that is on its way can only be refused or prolong what a release then removes. */
    void stop() {
        stopped = true;
    }

    /** When {@link #wake} has something to do. */
    long due() {
        long deadline = lease.deadline();
        return lease.pastMaxHold() || deadline - next < 0 ? deadline : next;
    }

    boolean goesOn() {
        return !stopped;
    }

    /** Renews when it is time, and notices when it is too late. */
    void wake() {
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
                locks.keeper().wakeBy(next);
            }
        });
    }
}
