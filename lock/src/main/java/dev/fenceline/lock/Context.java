package dev.fenceline.lock;

import dev.fenceline.LockOptions;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;

/** What every connection of one {@code Locks} shares. */
record Context(
        LockOptions options,
        KeySpace keys,
        LockClock clock,
        ScheduledExecutorService scheduler,
        Notices notices,
        Purpose purpose) {

    /** What the connections are for. */
    enum Purpose {
        /** Locks: a server on which they would not hold is refused. */
        LOCKS,
        /** Looking at what there is, wrong settings too. */
        INSPECTION
    }

    static Context of(LockOptions options, LockClock clock, ScheduledExecutorService scheduler, Notices notices) {
        return new Context(options, new KeySpace(options.keyPrefix()), clock, scheduler, notices, Purpose.LOCKS);
    }

    /** The same for whoever only looks. */
    Context inspecting() {
        return new Context(options, keys, clock, scheduler, notices, Purpose.INSPECTION);
    }

    /** What a deployment allows to know of a server, unless the options say that even that may be of another. */
    Incarnations.Knowledge knowledge(Incarnations.Knowledge most) {
        return options.incarnationCheck() == LockOptions.IncarnationCheck.EVERY_GRANT
                ? Incarnations.Knowledge.NONE
                : most;
    }

    Duration commandTimeout() {
        return options.commandTimeout();
    }
}
