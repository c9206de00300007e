package dev.fenceline.lock;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Who of this process waits for which lock, in the order in which they came. Of those who wait for one lock only the first
 * asks the server, and only while no lease of this process is in front of it.
 *
 * <p>For each lock in use there is a line, and in front of it is either one contender, who asks the server, or one lease. Each
 * method is one atomic step on one line, and says who has to contend because of it; so exactly one waiter does, whatever the
 * order in which threads, answers and timers come. A line that nobody needs is removed in the same step: a name costs no
 * memory once it is not in use.
 *
 * @param <K> a lock
 * @param <W> who waits
 * @param <L> a lease
 */
final class LocalQueues<K, W, L> {

    /** Steps on different locks rarely meet. A power of two. */
    private static final int STRIPES = 32;

    private final Stripe<K, W, L>[] stripes;

    @SuppressWarnings({"unchecked", "rawtypes"})
    LocalQueues() {
        stripes = new Stripe[STRIPES];
        for (int i = 0; i < STRIPES; i++) {
            stripes[i] = new Stripe<>();
        }
    }

    /** Enters the line. Returns true when nobody is in front: the waiter then has to contend. */
    boolean join(K lock, W waiter) {
        return step(lock, stripe -> stripe.join(lock, waiter));
    }

    /** Puts the lease of a contender in front. Returns false when the contender had left before. */
    boolean granted(K lock, W contender, L lease) {
        return step(lock, stripe -> stripe.granted(lock, contender, lease));
    }

    /** Puts a lease in front for which nobody queued, unless somebody is there: later ones then wait for its end. */
    void hold(K lock, L lease) {
        boolean unused = step(lock, stripe -> stripe.hold(lock, lease));
    }

    /** Leaves the line, wherever the waiter stands. Returns who has to contend now, if that changed. */
    @Nullable W leave(K lock, W waiter) {
        return step(lock, stripe -> stripe.leave(lock, waiter));
    }

    /** Takes a lease away from the front. Returns who has to contend now, if that changed; comes twice without harm. */
    @Nullable W ended(K lock, L lease) {
        return step(lock, stripe -> stripe.ended(lock, lease));
    }

    /** Who contends for a lock, if anybody does. */
    @Nullable W contender(K lock) {
        return step(lock, stripe -> stripe.contender(lock));
    }

    /** How many locks have a line. */
    int size() {
        int size = 0;
        for (Stripe<K, W, L> stripe : stripes) {
            stripe.guard.lock();
            try {
                size += stripe.lines.size();
            } finally {
                stripe.guard.unlock();
            }
        }
        return size;
    }

    private <T extends @Nullable Object> T step(K lock, Function<Stripe<K, W, L>, T> step) {
        int hash = lock.hashCode();
        Stripe<K, W, L> stripe = stripes[(hash ^ (hash >>> 16)) & (STRIPES - 1)];
        stripe.guard.lock();
        try {
            return step.apply(stripe);
        } finally {
            stripe.guard.unlock();
        }
    }

    /** Lines under one guard, which is held for a step and never while anything is sent. */
    private static final class Stripe<K, W, L> {

        private final ReentrantLock guard = new ReentrantLock();
        private final Map<K, Line<W, L>> lines = new HashMap<>();

        boolean join(K lock, W waiter) {
            Line<W, L> line = lines.get(lock);
            if (line == null) {
                lines.put(lock, new Line<>(waiter, null));
                return true;
            }
            line.add(waiter);
            return false;
        }

        boolean granted(K lock, W contender, L lease) {
            Line<W, L> line = lines.get(lock);
            if (line == null || line.contender != contender) {
                return false;
            }
            line.contender = null;
            line.lease = lease;
            return true;
        }

        boolean hold(K lock, L lease) {
            return lines.putIfAbsent(lock, new Line<>(null, lease)) == null;
        }

        @Nullable W leave(K lock, W waiter) {
            Line<W, L> line = lines.get(lock);
            if (line == null) {
                return null;
            }
            if (line.contender != waiter) {
                line.remove(waiter);
                return null;
            }
            return advance(lock, line);
        }

        @Nullable W ended(K lock, L lease) {
            Line<W, L> line = lines.get(lock);
            return line == null || line.lease != lease ? null : advance(lock, line);
        }

        @Nullable W contender(K lock) {
            Line<W, L> line = lines.get(lock);
            return line == null ? null : line.contender;
        }

        private @Nullable W advance(K lock, Line<W, L> line) {
            W next = line.next();
            line.contender = next;
            line.lease = null;
            if (next == null) {
                lines.remove(lock);
            }
            return next;
        }
    }

    /** One of contender and lease is there, never both. */
    private static final class Line<W, L> {

        private @Nullable W contender;
        private @Nullable L lease;

        /** Behind the front. Made when somebody has to wait, which most locks never see. */
        private @Nullable LinkedHashSet<W> waiting;

        private Line(@Nullable W contender, @Nullable L lease) {
            this.contender = contender;
            this.lease = lease;
        }

        private void add(W waiter) {
            if (waiting == null) {
                waiting = new LinkedHashSet<>();
            }
            waiting.add(waiter);
        }

        private void remove(W waiter) {
            if (waiting != null) {
                waiting.remove(waiter);
            }
        }

        private @Nullable W next() {
            if (waiting == null || waiting.isEmpty()) {
                return null;
            }
            W next = waiting.iterator().next();
            waiting.remove(next);
            return next;
        }
    }
}
