package dev.fenceline.lock;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** Waiting where {@code InterruptedException} cannot be declared: the answer counts, and the flag is kept. */
final class Uninterruptibly {

    private Uninterruptibly() {}

    static <T> T await(CompletableFuture<T> answer, Duration limit) throws SendFailure {
        return await(answer, limit, () -> "the server");
    }

    /**
     * Waits.
     *
     * @param silent names whoever has not answered in time
     */
    static <T> T await(CompletableFuture<T> answer, Duration limit, Supplier<String> silent) throws SendFailure {
        boolean interrupted = false;
        long end = System.nanoTime() + limit.toNanos();
        try {
            while (true) {
                try {
                    return answer.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (ExecutionException e) {
                    throw SendFailure.of(e.getCause() == null ? e : e.getCause());
                } catch (TimeoutException e) {
                    throw new SendFailure(
                            SendFailure.Kind.UNANSWERED,
                            silent.get() + " did not answer within " + limit.toMillis() + " ms",
                            e);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
