package dev.fenceline.s3;

import dev.fenceline.Hold;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** How long a session goes on asking. */
final class Patience {

    private static final Duration LONGEST = Duration.ofSeconds(10);
    private static final Duration LEAST = Duration.ofSeconds(1);

    private Patience() {}

    /** What is left of the lease, so that nobody is held up for longer; some time too if it is over, since the fence decides. */
    static Duration of(@Nullable Hold lease) {
        Duration left = lease == null ? LONGEST : lease.remaining();
        if (left.compareTo(LEAST) < 0) {
            return LEAST;
        }
        return left.compareTo(LONGEST) > 0 ? LONGEST : left;
    }
}
