package dev.fenceline.lock;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Keeps the leases of these locks alive and notices their ends, with one wake-up of the scheduler for all of them.
 *
 * <p>A lease that is taken and closed within its period costs an entry in a set and no timer: the wake-up that is due is
 * never later than the first renewal of a new lease, since all have the same period, and one that finds nothing to do is the
 * last. So the number of renewals depends on how long locks are held, and not on how many cycles went before.
 */
final class Keeper {

    /** No wake-up is due. */
    private static final long NONE = Long.MIN_VALUE;

    /** With more leases than this, those that come due shortly after one another share a wake-up. */
    private static final int FEW = 128;

    private final ConnectedLocks locks;
    private final long period;
    private final Set<RedisLease> held = ConcurrentHashMap.newKeySet();
    private final AtomicLong wakeAt = new AtomicLong(NONE);

    Keeper(ConnectedLocks locks) {
        this.locks = locks;
        this.period = locks.options().renewalPeriod().toNanos();
    }

    /** From now on the lease is renewed, and {@link ConnectedLocks#close()} releases it. */
    void add(RedisLease lease) {
        held.add(lease);
        wakeBy(lease.renewal().due());
    }

    void remove(RedisLease lease) {
        held.remove(lease);
    }

    Set<RedisLease> held() {
        return held;
    }

    /** Has the next wake-up come at that time or before. A wake-up that finds nothing due is harmless. */
    void wakeBy(long nano) {
        long at = nano == NONE ? nano + 1 : nano;
        while (true) {
            long planned = wakeAt.get();
            if (planned != NONE && planned - at <= 0) {
                return;
            }
            if (wakeAt.compareAndSet(planned, at)) {
                long delay = at - locks.clock().nanoTime();
                boolean unused = locks.laterNanos(() -> wake(at), Math.max(0, delay));
                return;
            }
        }
    }

    private void wake(long planned) {
        // First of all: a lease that comes from here on plans its own wake-up.
        boolean unused = wakeAt.compareAndSet(planned, NONE);
        long now = locks.clock().nanoTime();
        boolean any = false;
        long earliest = now + period;
        for (RedisLease lease : held) {
            Renewal renewal = lease.renewal();
            // What one of them throws must not end the renewal of the others.
            Notices.runSafely(renewal::wake);
            if (renewal.goesOn()) {
                any = true;
                long due = renewal.due();
                earliest = due - earliest < 0 ? due : earliest;
            }
        }
        if (any) {
            long soonest = now + (held.size() > FEW ? period / 32 : TimeUnit.MICROSECONDS.toNanos(100));
            wakeBy(earliest - soonest < 0 ? soonest : earliest);
        }
    }
}
