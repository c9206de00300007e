package dev.fenceline.lock;

import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What a node's clock shows now, as far as its replies tell: what it showed in one of them, and the time that has passed here since
 * that came. So it is never ahead of the node, and behind by the way of the reply; the quickest reply of the last second counts.
 */
final class NodeClock {

    private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The difference to our monotonic clock, in microseconds, and when it was seen. */
    private record Offset(long micros, long at) {}

    private volatile @Nullable Offset offset;

    void saw(long micros, long nanoTime) {
        Offset before = offset;
        long now = micros - nanoTime / 1_000;
        if (before == null || now >= before.micros() || nanoTime - before.at() > FRESH_NANOS) {
            offset = new Offset(now, nanoTime);
        }
    }

    /** Empty as long as the node has never answered. */
    OptionalLong micros(long nanoTime) {
        Offset known = offset;
        return known == null ? OptionalLong.empty() : OptionalLong.of(known.micros() + nanoTime / 1_000);
    }
}
