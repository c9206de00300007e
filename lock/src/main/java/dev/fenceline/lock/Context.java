package dev.fenceline.lock;

import dev.fenceline.LockOptions;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;

/** What every connection of one {@code Locks} shares. */
record Context(
        LockOptions options, KeySpace keys, LockClock clock, ScheduledExecutorService scheduler, Notices notices) {

    static Context of(LockOptions options, LockClock clock, ScheduledExecutorService scheduler, Notices notices) {
        return new Context(options, new KeySpace(options.keyPrefix()), clock, scheduler, notices);
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
