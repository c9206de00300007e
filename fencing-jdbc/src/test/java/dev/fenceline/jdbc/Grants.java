package dev.fenceline.jdbc;

import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/** Where tests have their tokens from. */
final class Grants {

    private static final AtomicLong LAST = new AtomicLong();
    private static final AtomicLong NAMES = new AtomicLong();

    private Grants() {}

    /** A lock that no other test uses. */
    static LockName freshLock() {
        return LockName.of("account", NAMES.incrementAndGet());
    }

    /** The token of a grant that is over already: whoever claims with it depends on the fence alone. */
    static FencingToken next(LockName lock) {
        long micros = System.currentTimeMillis() * 1000;
        return new FencingToken(lock, LAST.updateAndGet(last -> Math.max(last + 1, micros)), UUID.randomUUID());
    }
}
