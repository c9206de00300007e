package dev.fenceline.jdbc;

import dev.fenceline.Exclusion;
import dev.fenceline.FencedLease;
import dev.fenceline.FencedLeases;
import dev.fenceline.FencedLock;
import dev.fenceline.FencedLocks;
import dev.fenceline.FencingToken;
import dev.fenceline.Hold;
import dev.fenceline.LockName;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * One lock or several, as far as a fence has to do with them.
 *
 * @param names which
 * @param exclusion acquires
 * @param tokens what the grants carry
 * @param raiseFloor passes a mark on that refused us
 * @param <H> what is held
 */
record Locking<H extends Hold>(
        List<LockName> names, Exclusion<H> exclusion, Function<H, Tokens> tokens, Consumer<FencingToken> raiseFloor) {

    static Locking<FencedLease> of(FencedLock lock) {
        return new Locking<>(
                List.of(Objects.requireNonNull(lock, "lock").name()),
                lock,
                lease -> Tokens.of(lease.token()),
                lock::raiseFloor);
    }

    static Locking<FencedLeases> of(FencedLocks locks) {
        return new Locking<>(Objects.requireNonNull(locks, "locks").names(), locks, Tokens::of, locks::raiseFloor);
    }

    Held<H> acquire(Optional<Duration> maxWait) throws InterruptedException {
        H held = maxWait.isPresent() ? exclusion.acquireWithin(maxWait.get()) : exclusion.acquire();
        return new Held<>(held, tokens.apply(held));
    }

    /** What was acquired, and the tokens of it. */
    record Held<H extends Hold>(H hold, Tokens tokens) implements AutoCloseable {

        @Override
        public void close() {
            hold.close();
        }
    }
}
