package dev.fenceline.testkit;

import dev.fenceline.FencelineEvent.AcquireEnded;
import dev.fenceline.FencelineEvent.AcquireOutcome;
import dev.fenceline.FencelineEvent.AcquireStarted;
import dev.fenceline.FencelineException;
import dev.fenceline.FencelineListener;
import dev.fenceline.LockName;
import dev.fenceline.LockNotAcquiredException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** An acquisition of {@link ModelLocks} by polling from the thread that also renews, for a future. */
abstract class ModelPromise<R> {

    private final ModelServer server;
    private final FencelineListener listener;
    private final LockName name;
    private final CompletableFuture<R> future = new CompletableFuture<>();

    ModelPromise(ModelServer server, FencelineListener listener, LockName name) {
        this.server = server;
        this.listener = listener;
        this.name = name;
    }

    abstract Optional<R> attempt();

    abstract void giveBack(R lease);

    CompletableFuture<R> start(String key, Duration maxWait) {
        long end = System.nanoTime() + maxWait.toNanos();
        listener.tell(new AcquireStarted(name));
        if (server.flaw() == ModelServer.Flaw.FUTURES_HOLD_THREADS) {
            new Thread(future::join).start();
        }
        ScheduledFuture<?> polling =
                ModelLease.RENEWALS.scheduleWithFixedDelay(() -> poll(key, maxWait, end), 0, 2, TimeUnit.MILLISECONDS);
        var unused = future.whenComplete((value, thrown) -> {
            polling.cancel(false);
            if (thrown != null && !(thrown instanceof FencelineException)) {
                listener.tell(new AcquireEnded(name, AcquireOutcome.INTERRUPTED, maxWait));
                if (server.flaw() == ModelServer.Flaw.CANCEL_LEAVES_A_GRANT) {
                    server.reserve(key);
                }
            }
        });
        return future;
    }

    private void poll(String key, Duration maxWait, long end) {
        Optional<R> granted;
        try {
            granted = attempt();
        } catch (RuntimeException e) {
            end(() -> future.completeExceptionally(e));
            return;
        }
        if (granted.isPresent()) {
            R lease = granted.get();
            end(() -> {
                if (!future.complete(lease)) {
                    giveBack(lease);
                }
            });
        } else if (System.nanoTime() - end >= 0) {
            LockNotAcquiredException late = new LockNotAcquiredException(
                    name, maxWait, server.holder(key).orElse(null));
            end(() -> future.completeExceptionally(late));
        }
    }

    /** Ends the polling in any case: a grant that was had must not be asked for again. */
    private void end(Runnable step) {
        if (server.flaw() == ModelServer.Flaw.STAGES_RUN_ON_OUR_THREAD) {
            step.run();
        } else {
            future.defaultExecutor().execute(step);
        }
        throw new Ended();
    }

    /** A periodic task that throws is not run again. */
    private static final class Ended extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }
}
