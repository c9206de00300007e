package dev.fenceline.lock;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Ends rounds whose time is over. Nearly all of them are won long before, and a timer for each would wake the scheduler's thread for
 * each: so one look goes over all that are open, a few times in the time that a round has. A round ends up to a quarter of it late.
 */
final class RoundLimits {

    private static final int LOOKS = 4;

    private final Context context;
    private final long period;
    private final Set<RedlockRound> open = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean planned = new AtomicBoolean();

    RoundLimits(Context context, long timeoutNanos) {
        this.context = context;
        this.period = Math.max(TimeUnit.MILLISECONDS.toNanos(1), timeoutNanos / LOOKS);
    }

    void add(RedlockRound round) {
        open.add(round);
        plan();
    }

    void remove(RedlockRound round) {
        open.remove(round);
    }

    private void plan() {
        if (!planned.compareAndSet(false, true)) {
            return;
        }
        try {
            var unused = context.scheduler().schedule(this::look, period, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            // The locks were closed meanwhile; connections end, and with them the answers that are open.
            planned.set(false);
        }
    }

    private void look() {
        // First of all: a round that comes from here on plans the next look.
        planned.set(false);
        long now = context.clock().nanoTime();
        for (RedlockRound round : open) {
            if (round.end() - now <= 0) {
                Notices.runSafely(round::timeUp);
            }
        }
        if (!open.isEmpty()) {
            plan();
        }
    }
}
