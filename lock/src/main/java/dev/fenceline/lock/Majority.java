package dev.fenceline.lock;

import dev.fenceline.lock.SendFailure.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Settles a question that is put to all nodes as soon as enough of them have answered it. A node that is silent delays nothing once
 * the others have decided.
 *
 * @param <T> an answer; two kinds of it at most
 */
final class Majority<T> {

    /** Of how many nodes how many decide. */
    record Size(int nodes, int needed) {

        static Size of(int nodes) {
            return new Size(nodes, nodes / 2 + 1);
        }

        /** So many that the others are no majority. */
        int preventing() {
            return nodes - needed + 1;
        }

        /** Why there is no answer of a majority. */
        SendFailure failure(int answered, List<SendFailure> failures) {
            return new SendFailure(
                    kind(failures),
                    answered + " of " + nodes + " nodes answered and " + needed + " are needed; "
                            + failures.stream()
                                    .map(failure -> String.valueOf(failure.getMessage()))
                                    .collect(Collectors.joining("; ")),
                    failures.isEmpty() ? null : failures.get(0));
        }

        private Kind kind(List<SendFailure> failures) {
            long forbidden = failures.stream()
                    .filter(failure -> failure.kind() == Kind.FORBIDDEN)
                    .count();
            if (forbidden >= preventing()) {
                return Kind.FORBIDDEN;
            }
            return failures.stream()
                    .map(SendFailure::kind)
                    .filter(kind -> kind == Kind.UNANSWERED)
                    .findAny()
                    .orElse(Kind.UNABLE);
        }
    }

    private final Size size;
    private final T yes;
    private final CompletableFuture<T> result = new CompletableFuture<>();
    private final ReentrantLock guard = new ReentrantLock();
    private final List<SendFailure> failures = new ArrayList<>();
    private int agreed;
    private int others;

    private Majority(Size size, T yes) {
        this.size = size;
        this.yes = yes;
    }

    /**
     * Ends with {@code yes} once a majority said so, with another answer once that cannot happen any more because of such answers, or
     * with a {@link SendFailure}.
     */
    static <T> CompletableFuture<T> of(Size size, T yes, List<CompletableFuture<T>> answers) {
        Majority<T> majority = new Majority<>(size, yes);
        for (CompletableFuture<T> answer : answers) {
            var unused = answer.whenComplete(majority::count);
        }
        return majority.result;
    }

    private void count(@Nullable T answer, @Nullable Throwable thrown) {
        Runnable end = () -> {};
        guard.lock();
        try {
            if (answer == null || thrown != null) {
                failures.add(SendFailure.of(thrown == null ? new IllegalStateException("no answer") : thrown));
            } else if (answer.equals(yes)) {
                agreed++;
            } else {
                others++;
            }
            if (agreed >= size.needed()) {
                end = () -> result.complete(yes);
            } else if (answer != null && others >= size.preventing()) {
                end = () -> result.complete(answer);
            } else if (agreed + others + failures.size() == size.nodes()) {
                SendFailure failure = size.failure(agreed + others, failures);
                end = () -> result.completeExceptionally(failure);
            }
        } finally {
            guard.unlock();
        }
        end.run();
    }
}
