package dev.fenceline.lock;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineException;
import dev.fenceline.HolderProcess;
import dev.fenceline.LockName;
import dev.fenceline.lock.LockTransport.AcquireReply;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to get a lock, from the first request to a lease or to its cancellation. Never blocks: it goes on in the
 * callbacks of the transport and of the scheduler, one step at a time.
 *
 * <p>The problem is the answer that does not come. The request may have been executed, or may be executed later, and then the
 * lock is held by nobody. So one holder stands for the whole acquisition: asking again under it gives the same grant, and
 * whoever stops waiting sends a release under it. A request that is still on its way is caught twice: when its answer comes
 * after all, and by one more release after a command timeout, since an old connection's packet can arrive behind the first
 * release. A lease that came only after an unanswered request inherits that doubt, and releases twice when it ends. Only an
 * acquisition whose every request was answered with "held by another" has nothing to take back.
 */
final class Acquisition {

    private static final long FIRST_POLL_MILLIS = 5;
    private static final long LONGEST_POLL_MILLIS = 50;

    /** Redis removes a key up to this late. */
    private static final long EXPIRY_SLACK_MILLIS = 2;

    /** How an acquisition ended. */
    sealed interface Outcome {
        /** A lease, which is held from now on. */
        record Granted(RedisLease lease) implements Outcome {}

        /** Somebody else held it all the time. */
        record Busy(@Nullable HolderProcess holder) implements Outcome {}

        /** The lock service could not be used, or must not be; the exception is made on the thread that throws it. */
        record Failed(Supplier<FencelineException> why) implements Outcome {}

        /** The caller stopped waiting. */
        record Abandoned() implements Outcome {}
    }

    private final ConnectedLocks locks;
    private final LockKey lock;
    private final UUID holder;
    private final long limit;
    private final CompletableFuture<Outcome> result = new CompletableFuture<>();
    private final AtomicBoolean cancelled = new AtomicBoolean();

    private long pollMillis = FIRST_POLL_MILLIS;
    private volatile boolean pending;
    private volatile boolean unanswered;

    Acquisition(ConnectedLocks locks, LockKey lock, Duration maxWait) {
        this.locks = locks;
        this.lock = lock;
        this.holder = locks.newHolder();
        this.limit = locks.clock().nanoTime() + maxWait.toNanos();
    }

    /** Ends with an outcome, never with an exception. */
    CompletableFuture<Outcome> result() {
        return result;
    }

    LockName name() {
        return lock.name();
    }

    /** Nanoseconds until the caller stops waiting, whatever the server does. */
    long nanosToHardStop() {
        return limit
                + locks.options().commandTimeout().toNanos()
                - locks.clock().nanoTime();
    }

    void attempt() {
        // Marked first: whoever ends the wait meanwhile sees either this mark, or is seen here.
        pending = true;
        if (result.isDone()) {
            pending = false;
            return;
        }
        long floor = lock.kind() == LockKind.FENCED ? locks.floors().floor(lock.name()) : 0;
        // The lease is counted from before the request: the server started it at some time after this.
        RedisLease.Proof proof = RedisLease.Proof.now(locks.clock());
        var unused = locks.transport().acquire(lock, holder, floor).whenComplete((reply, thrown) -> {
            // In this order: whoever cancels sees the request as pending or as unanswered.
            unanswered |= thrown != null && SendFailure.of(thrown).kind() == SendFailure.Kind.UNANSWERED;
            pending = false;
            if (thrown == null) {
                answered(reply, proof);
            } else {
                failed(SendFailure.of(thrown));
            }
        });
    }

    /** Ends the wait without a lease and takes back what may have been granted. Too late if there is a lease already. */
    void abandon() {
        if (result.complete(new Outcome.Abandoned())) {
            cancel();
        }
    }

    /** As {@link #abandon}, and tells the waiting thread why. */
    void fail(Supplier<FencelineException> why) {
        if (result.complete(new Outcome.Failed(why))) {
            cancel();
        }
    }

    private void answered(AcquireReply reply, RedisLease.Proof proof) {
        if (reply instanceof AcquireReply.Granted granted) {
            granted(granted, proof);
        } else if (reply instanceof AcquireReply.Held held) {
            held(held);
        } else if (reply instanceof AcquireReply.Wait wait) {
            waitFor(wait);
        } else if (reply instanceof AcquireReply.FloorTooFar refused) {
            // Not sent again: whoever repairs the mark need not restart this process.
            locks.floors().settle(lock.name(), refused.mark());
            fail(() -> floorTooFar(refused));
        } else if (reply instanceof AcquireReply.Exhausted exhausted) {
            fail(() -> new BackendMisconfiguredException(
                    subject() + "the token counter on " + server() + " is at " + exhausted.counter()
                            + ", and the next token would not be below 2^53; the server's clock says "
                            + instant(exhausted.serverTime())
                            + ". Nothing is held. Find out who wrote the counter, and set it to a value near that time in"
                            + " microseconds.",
                    null));
        }
    }

    private void granted(AcquireReply.Granted granted, RedisLease.Proof proof) {
        locks.floors().settle(lock.name(), granted.token() - 1);
        RedisLease lease = RedisLease.granted(locks, lock, grant(granted.token()), proof);
        if (result.complete(new Outcome.Granted(lease))) {
            return;
        }
        // The answer came after the wait had ended.
        lease.discard();
        release();
    }

    private RedisLease.Grant grant(long token) {
        return new RedisLease.Grant(
                holder, token, unanswered ? RedisLease.Requests.ONE_UNANSWERED : RedisLease.Requests.ALL_ANSWERED);
    }

    private void held(AcquireReply.Held held) {
        long left = nanosToLimit();
        if (left <= 0) {
            HolderProcess by = held.by() == null ? null : held.by().process();
            if (result.complete(new Outcome.Busy(by))) {
                cancel();
            }
            return;
        }
        long untilExpiry = held.ttlMillis() < 0 ? Long.MAX_VALUE : held.ttlMillis() + EXPIRY_SLACK_MILLIS;
        attemptAfter(Math.min(TimeUnit.MILLISECONDS.toNanos(Math.min(untilExpiry, nextPollMillis())), left));
    }

    private void waitFor(AcquireReply.Wait wait) {
        long nanos = TimeUnit.MICROSECONDS.toNanos(wait.micros()) + TimeUnit.MILLISECONDS.toNanos(1);
        // A server that just started lets everybody wait for K, also those who would try only once.
        long grace = locks.options().commandTimeout().toNanos() / 2;
        if (nanos <= Math.max(nanosToLimit(), 0) + grace) {
            attemptAfter(nanos);
            return;
        }
        fail(() -> new BackendUnavailableException(
                subject() + server() + " grants nothing for " + text(Duration.of(wait.micros(), ChronoUnit.MICROS))
                        + ": its token counter stands at " + wait.counter() + " (" + instant(wait.counter())
                        + ") and its clock at " + wait.serverTime() + " (" + instant(wait.serverTime())
                        + "), and a token may be ahead by S = "
                        + text(locks.options().clockStepTolerance())
                        + " at most. Nothing is held. Was the clock set back? Correct it, or wait.",
                null));
    }

    private void failed(SendFailure failure) {
        if (failure.kind() == SendFailure.Kind.FORBIDDEN) {
            fail(() -> new BackendMisconfiguredException(
                    subject() + failure.getMessage() + ". Nothing is held; restore the grants of this user.", failure));
            return;
        }
        long left = nanosToLimit();
        if (left <= 0) {
            fail(() -> unavailable(String.valueOf(failure.getMessage()), failure));
        } else {
            attemptAfter(Math.min(TimeUnit.MILLISECONDS.toNanos(nextPollMillis()), left));
        }
    }

    private void cancel() {
        boolean onItsWay = pending;
        if ((onItsWay || unanswered) && cancelled.compareAndSet(false, true)) {
            var unused = Release.sendTwice(locks, lock, holder);
        }
    }

    private void release() {
        var unused = Release.send(locks, lock, holder);
    }

    private void attemptAfter(long nanos) {
        if (!locks.laterNanos(this::attempt, nanos)) {
            fail(() -> locks.closedException(lock.name()));
        }
    }

    private long nextPollMillis() {
        long base = pollMillis;
        pollMillis = Math.min(LONGEST_POLL_MILLIS, pollMillis + pollMillis / 2);
        // Between half and the whole, so that those who wait for one lock do not ask in step.
        return base - locks.random(base / 2 + 1);
    }

    private long nanosToLimit() {
        return limit - locks.clock().nanoTime();
    }

    BackendUnavailableException unavailable(String why, @Nullable Throwable cause) {
        String release = cancelled.get() || unanswered ? ", a release was sent in case it was granted" : "";
        return new BackendUnavailableException(
                subject() + why + ". Nothing is held" + release + "; trying again is fine.", cause);
    }

    private BackendMisconfiguredException floorTooFar(AcquireReply.FloorTooFar refused) {
        Duration ahead = Duration.of(refused.mark() - refused.serverTime(), ChronoUnit.MICROS);
        return new BackendMisconfiguredException(
                subject() + "a resource was claimed with token " + refused.mark() + ", which is " + text(ahead)
                        + " ahead of the clock of " + server() + " (" + refused.serverTime()
                        + "); at most 24 h can be passed. Nothing is held. Compare the clocks; if they are right the mark is"
                        + " forged or damaged: lower it in the resource while nobody writes there.",
                null);
    }

    private String subject() {
        return "Lock '" + lock.name() + "' not acquired: ";
    }

    private String server() {
        return locks.transport().server();
    }

    private static Instant instant(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    private static String text(Duration duration) {
        return duration.toMillis() < 1_000 ? duration.toMillis() + " ms" : duration.toSeconds() + " s";
    }
}
