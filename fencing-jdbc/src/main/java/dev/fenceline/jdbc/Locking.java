package dev.fenceline.jdbc;

import dev.fenceline.Exclusion;
import dev.fenceline.FencedLease;
import dev.fenceline.FencedLeases;
import dev.fenceline.FencedLock;
import dev.fenceline.FencedLocks;
import dev.fenceline.FencelineException;
import dev.fenceline.FencingToken;
import dev.fenceline.Hold;
import dev.fenceline.LockName;
import dev.fenceline.StaleTokenException;
import dev.fenceline.Work;
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

    private static final Duration LONGEST_WAIT = Duration.ofDays(366);

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

    /** Checks how long somebody is to wait at most. */
    static Duration checkedWait(Duration limit) {
        if (limit.isNegative()) {
            throw new IllegalArgumentException(
                    "waitAtMost of " + limit.toMillis() + " ms is negative; zero tries once without waiting.");
        }
        if (limit.compareTo(LONGEST_WAIT) > 0) {
            throw new IllegalArgumentException(
                    "waitAtMost of " + limit.toDays() + " days is longer than " + LONGEST_WAIT.toDays() + " days.");
        }
        return limit;
    }

    /**
     * Runs work while all are held, and releases them whatever happens. Where a token of ours was refused, the next grants in this
     * process pass the mark that refused it.
     */
    <T, X extends Exception> T call(Optional<Duration> maxWait, Work<Held<H>, T, X> work)
            throws X, InterruptedException {
        Held<H> held = acquire(maxWait);
        try (held) {
            return work.with(held);
        } catch (Throwable thrown) {
            // Released by now. A framework may have wrapped it.
            if (FencelineException.in(thrown).orElse(null) instanceof StaleTokenException refused
                    // Work may have met another fence too, whose mark means nothing to this lock.
                    && held.tokens().all().contains(refused.presented())) {
                passFloor(refused);
            }
            throw thrown;
        }
    }

    private Held<H> acquire(Optional<Duration> maxWait) throws InterruptedException {
        H held = maxWait.isPresent() ? exclusion.acquireWithin(maxWait.get()) : exclusion.acquire();
        return new Held<>(held, tokens.apply(held));
    }

    private void passFloor(StaleTokenException refused) {
        try {
            raiseFloor.accept(refused.newest());
        } catch (FencelineException e) {
            refused.addSuppressed(e);
        }
    }

    /** What was acquired, and the tokens of it. */
    record Held<H extends Hold>(H hold, Tokens tokens) implements AutoCloseable {

        @Override
        public void close() {
            hold.close();
        }
    }
}
