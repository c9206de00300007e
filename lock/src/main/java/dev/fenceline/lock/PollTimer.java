package dev.fenceline.lock;

import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * When one acquisition asks again without having heard anything: at a time that it names, but at least once a lease as a sign of
 * life, and every 250 ms while nothing can be heard, so that a turn is not missed.
 */
final class PollTimer {

    private static final long DEAF_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    private final ConnectedLocks locks;
    private final Runnable ask;
    private final AtomicReference<@Nullable Future<?>> timer = new AtomicReference<>();
    private volatile boolean stopped;

    PollTimer(ConnectedLocks locks, Runnable ask) {
        this.locks = locks;
        this.ask = ask;
    }

    /** Asks after that time, and not at the time named before. False when the locks are closed. */
    boolean askAfter(long nanos) {
        return askAt(locks.clock().nanoTime()
                + Math.min(nanos, locks.options().lease().toNanos()));
    }

    private boolean askAt(long nano) {
        long left = nano - locks.clock().nanoTime();
        Runnable step = left <= DEAF_POLL_NANOS ? ask : () -> lookWhetherDeaf(nano);
        return set(step, Math.max(0, Math.min(left, DEAF_POLL_NANOS)));
    }

    private void lookWhetherDeaf(long nano) {
        if (locks.transport().listening()) {
            boolean unused = askAt(nano);
        } else {
            ask.run();
        }
    }

    private boolean set(Runnable step, long nanos) {
        Future<?> next = locks.timer(step, nanos);
        if (next == null) {
            return false;
        }
        cancel(timer.getAndSet(next));
        if (stopped) {
            stop();
        }
        return true;
    }

    /** Never asks again. */
    void stop() {
        stopped = true;
        cancel(timer.getAndSet(null));
    }

    private static void cancel(@Nullable Future<?> last) {
        if (last != null) {
            last.cancel(false);
        }
    }
}
