package dev.fenceline.jdbc;

import dev.fenceline.Hold;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** How long a session may wait, or keep others waiting. */
final class Patience {

    private Patience() {}

    /**
     * What is left of the lease (of several, the shortest), so that a holder who is stopped now holds nobody up for longer. Not less
     * than somebody gets whose lease is over: that session may still commit, but a newcomer must not wait for it.
     */
    static Duration of(@Nullable Hold lease) {
        if (lease == null) {
            return FenceSettings.WITHOUT_LEASE;
        }
        Duration left = lease.remaining();
        return left.compareTo(FenceSettings.WITH_LOST_LEASE) > 0 ? left : FenceSettings.WITH_LOST_LEASE;
    }
}
