package dev.fenceline.lock;

import dev.fenceline.BackendMisconfiguredException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The first connect where several servers can be the master: a failover that is going on is waited for, since a program that is
 * started just then would have to be started again. What is wrong for good is told at once.
 */
final class FirstConnect {

    /** Longer than the election of a master takes; not than Sentinel's default of 30 s until it begins with one. */
    static final Duration PATIENCE = Duration.ofSeconds(5);

    private static final long PAUSE_MILLIS = 100;

    private final Context context;
    private final Supplier<CompletableFuture<Void>> attempt;
    private final Consumer<String> trouble;
    private final long end;

    private FirstConnect(Context context, Supplier<CompletableFuture<Void>> attempt, Consumer<String> trouble) {
        this.context = context;
        this.attempt = attempt;
        this.trouble = trouble;
        this.end = context.clock().nanoTime() + PATIENCE.toNanos();
    }

    /**
     * Ends with the first success, with what is wrong for good, or with the last failure.
     *
     * @param trouble hears why each attempt failed, for whoever gives up during the next one
     */
    static CompletableFuture<Void> patiently(
            Context context, Supplier<CompletableFuture<Void>> attempt, Consumer<String> trouble) {
        return new FirstConnect(context, attempt, trouble).next();
    }

    private CompletableFuture<Void> next() {
        return attempt.get().exceptionallyCompose(thrown -> {
            Throwable why = Link.unwrapped(thrown);
            trouble.accept(String.valueOf(why.getMessage()));
            boolean forGood = why instanceof BackendMisconfiguredException && !ReplicaFound.isCauseOf(why);
            return forGood || context.clock().nanoTime() - end >= 0 ? CompletableFuture.failedFuture(why) : later(why);
        });
    }

    private CompletableFuture<Void> later(Throwable why) {
        CompletableFuture<Void> pause = new CompletableFuture<>();
        try {
            var unused = context.scheduler().schedule(() -> pause.complete(null), PAUSE_MILLIS, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            return CompletableFuture.failedFuture(why);
        }
        return pause.thenCompose(done -> next());
    }
}
