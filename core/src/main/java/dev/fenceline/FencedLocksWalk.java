package dev.fenceline;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Takes several locks one after the other without a thread that waits: each step begins where the one before has ended, on the
 * pool on which futures go on. Whoever ends the promise ends the step that is under way; what was taken is released by whichever
 * step notices.
 *
 * @param <A> what asking for one lock answers
 * @param <R> what is promised
 */
final class FencedLocksWalk<A, R> {

    private final List<FencedLock> locks;
    private final Function<FencedLock, CompletableFuture<A>> ask;
    private final Function<A, Optional<FencedLease>> asLease;
    private final Function<Optional<FencedLeases>, R> asResult;
    private final CompletableFuture<R> promise = new CompletableFuture<>();

    /** One step at a time touches it, and each begins through the future of the one before. */
    private final List<FencedLease> taken = new ArrayList<>();

    private volatile @Nullable CompletableFuture<A> underWay;

    FencedLocksWalk(
            List<FencedLock> locks,
            Function<FencedLock, CompletableFuture<A>> ask,
            Function<A, Optional<FencedLease>> asLease,
            Function<Optional<FencedLeases>, R> asResult) {
        this.locks = locks;
        this.ask = ask;
        this.asLease = asLease;
        this.asResult = asResult;
    }

    CompletableFuture<R> start() {
        var unused = promise.whenComplete((result, thrown) -> giveUp());
        step();
        return promise;
    }

    private void giveUp() {
        CompletableFuture<A> last = underWay;
        if (last != null) {
            // Without effect on a step that has ended, and so on a promise that was kept.
            last.cancel(false);
        }
    }

    private void step() {
        if (taken.size() == locks.size()) {
            if (!promise.complete(asResult.apply(Optional.of(new FencedLeases(taken))))) {
                giveBackThen(() -> {});
            }
            return;
        }
        CompletableFuture<A> asked = asked(locks.get(taken.size()));
        underWay = asked;
        if (promise.isDone()) {
            // Given up just now, perhaps before the line above.
            asked.cancel(false);
        }
        var unused = asked.whenCompleteAsync(this::answered);
    }

    private CompletableFuture<A> asked(FencedLock lock) {
        try {
            return ask.apply(lock);
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private void answered(@Nullable A answer, @Nullable Throwable thrown) {
        if (thrown != null) {
            Throwable cause =
                    thrown instanceof CompletionException && thrown.getCause() != null ? thrown.getCause() : thrown;
            giveBackThen(() -> promise.completeExceptionally(cause));
            return;
        }
        Optional<FencedLease> lease = asLease.apply(Objects.requireNonNull(answer));
        if (lease.isEmpty()) {
            giveBackThen(() -> promise.complete(asResult.apply(Optional.empty())));
            return;
        }
        taken.add(lease.get());
        step();
    }

    private void giveBackThen(Runnable end) {
        var unused = new FencedLeases(taken).closeAsync().whenComplete((closed, thrown) -> end.run());
    }
}
