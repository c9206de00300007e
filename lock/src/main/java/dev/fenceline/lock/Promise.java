package dev.fenceline.lock;

import dev.fenceline.FencelineEvent.AcquireEnded;
import dev.fenceline.FencelineEvent.AcquireOutcome;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;

/**
 * An acquisition on behalf of a future: nobody waits, and the future ends on the pool on which futures go on.
 *
 * <p>Two can end it, and they may cross: the acquisition with its outcome, and the user, who cancels the future or lets its time
 * run out. The first of them tells the listener. Whoever finds the future ended by the other gives the grant back, so that no
 * lease is left that nobody has.
 *
 * @param <R> what is promised
 */
final class Promise<R> {

    private final ConnectedLocks locks;
    private final LockKey lock;
    private final BiFunction<Acquisition.Outcome, Duration, R> answer;
    private final CompletableFuture<R> future = new CompletableFuture<>();
    private final AtomicBoolean ended = new AtomicBoolean();
    private final long start;

    private Promise(ConnectedLocks locks, LockKey lock, BiFunction<Acquisition.Outcome, Duration, R> answer) {
        this.locks = locks;
        this.lock = lock;
        this.answer = answer;
        this.start = locks.clock().nanoTime();
    }

    /**
     * Starts an acquisition.
     *
     * @param answer makes the result of an outcome and of how long it took, or throws
     */
    static <R> CompletableFuture<R> of(
            ConnectedLocks locks, LockKey lock, Duration maxWait, BiFunction<Acquisition.Outcome, Duration, R> answer) {
        Promise<R> promise = new Promise<>(locks, lock, answer);
        promise.follow(locks.start(lock, maxWait));
        return promise.future;
    }

    private void follow(Acquisition acquisition) {
        var unused = future.whenComplete((value, thrown) -> giveUp(acquisition));
        CompletableFuture<Acquisition.Outcome> result = acquisition.result();
        if (!result.isDone()) {
            limit(acquisition);
        }
        var unusedDelivery = result.thenAcceptAsync(this::deliver, future.defaultExecutor());
    }

    /** What a thread that waits does by waiting no longer: at its limit it takes what is known, and the server may be silent. */
    private void limit(Acquisition acquisition) {
        if (acquisition.patience() == Acquisition.Patience.QUEUES) {
            after(acquisition, acquisition.nanosToLimit(), acquisition::endAtLimit);
        }
        after(acquisition, acquisition.nanosToHardStop(), () -> acquisition.endForSilence(new TimeoutException()));
    }

    private void after(Acquisition acquisition, long nanos, Runnable end) {
        Future<?> timer = locks.timer(end, Math.max(0, nanos));
        if (timer != null) {
            var unused = acquisition.result().whenComplete((outcome, thrown) -> timer.cancel(false));
        }
    }

    /** Runs whenever the future has ended, and does something only if it was not we who ended it. */
    private void giveUp(Acquisition acquisition) {
        if (ended.compareAndSet(false, true)) {
            acquisition.abandon();
            locks.tell(new AcquireEnded(lock.name(), AcquireOutcome.INTERRUPTED, waited()));
        }
    }

    private void deliver(Acquisition.Outcome outcome) {
        if (!ended.compareAndSet(false, true)) {
            Acquisitions.giveBack(outcome);
            return;
        }
        Duration waited = waited();
        locks.tell(new AcquireEnded(lock.name(), Acquisitions.told(outcome), waited));
        R value;
        try {
            value = answer.apply(outcome, waited);
        } catch (RuntimeException | Error e) {
            future.completeExceptionally(e);
            return;
        }
        if (!future.complete(value)) {
            Acquisitions.giveBack(outcome);
        }
    }

    private Duration waited() {
        return Duration.ofNanos(locks.clock().nanoTime() - start);
    }
}
