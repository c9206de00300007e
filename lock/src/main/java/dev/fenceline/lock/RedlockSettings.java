package dev.fenceline.lock;

import dev.fenceline.LockOptions;
import java.time.Duration;

/** How Redlock's nodes are asked, beside what all locks have. */
record RedlockSettings(LockOptions options, Duration nodeTimeout, AfterRestart afterRestart) {

    /** What a node does that restarted or lost its data. */
    enum AfterRestart {
        /** It grants nothing until the leases that it may have forgotten are over. */
        WAITS,
        /** It grants at once. */
        GRANTS
    }

    private static final Duration LEAST_TIMEOUT = Duration.ofMillis(1);

    static RedlockSettings defaults() {
        return new RedlockSettings(LockOptions.defaults(), Duration.ofMillis(50), AfterRestart.WAITS);
    }

    RedlockSettings {
        if (options.replicas() > 0) {
            throw new IllegalArgumentException("replicas of " + options.replicas()
                    + " cannot be waited for: the nodes of Redlock are independent masters, and a majority of them takes"
                    + " the place of replicas. Leave it out.");
        }
    }

    /** Looked at when locks are made: which values go together is known only then. */
    void check() {
        Duration most =
                shorter(options.lease().dividedBy(4), options.commandTimeout().dividedBy(2));
        if (nodeTimeout.compareTo(LEAST_TIMEOUT) < 0 || nodeTimeout.compareTo(most) > 0) {
            throw new IllegalArgumentException(
                    "nodeTimeout of " + nodeTimeout.toMillis() + " ms is not between 1 ms and "
                            + most.toMillis() + " ms, a quarter of the lease of "
                            + options.lease().toMillis()
                            + " ms and half of the commandTimeout of "
                            + options.commandTimeout().toMillis() + " ms at most.");
        }
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    /** The options by which locks are taken: with the delay of a node that was reborn. */
    LockOptions effective() {
        Duration longest = longer(options.lease(), options.restartDelay());
        return new LockOptions(
                options.lease(),
                options.renewalPeriod(),
                options.maxHold(),
                options.maxWait(),
                options.commandTimeout(),
                options.clockStepTolerance(),
                options.masterClockSkew(),
                afterRestart == AfterRestart.WAITS ? longest : Duration.ZERO,
                options.replicas(),
                options.incarnationCheck(),
                options.keyPrefix(),
                options.application(),
                options.listener());
    }

    private static Duration longer(Duration one, Duration other) {
        return one.compareTo(other) > 0 ? one : other;
    }
}
