package dev.fenceline.lock;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * One TCP connection and what was learnt on it. Never reconnects: the next connection is another link, so that a command made
 * for one server process cannot reach its successor.
 */
final class Link implements Replaced.Connection {

    private static final Pattern FORBIDDEN = Pattern.compile(
            "^(NOPERM|NOAUTH|WRONGPASS)|ACL failure in script|The user executing the script can't", Pattern.MULTILINE);

    private final StatefulRedisConnection<String, String> connection;
    private final Incarnations.Connection incarnation;
    private final LockClock clock;
    private final String server;
    private final Duration commandTimeout;

    private volatile long lastAnswer;

    Link(
            StatefulRedisConnection<String, String> connection,
            Incarnations.Connection incarnation,
            LockClock clock,
            String server,
            Duration commandTimeout) {
        this.connection = connection;
        this.incarnation = incarnation;
        this.clock = clock;
        this.server = server;
        this.commandTimeout = commandTimeout;
        this.lastAnswer = clock.nanoTime();
    }

    @Override
    public StatefulRedisConnection<String, String> connection() {
        return connection;
    }

    /** Names the server in messages, without credentials. */
    String server() {
        return server;
    }

    Incarnations.Connection incarnation() {
        return incarnation;
    }

    /** Runs a script by its digest, and by its text where the server does not know it yet. */
    CompletableFuture<List<String>> run(Script script, String[] keys, String... args) {
        long end = clock.nanoTime() + commandTimeout.toNanos();
        return byDigest(script, keys, args)
                // The one answer after which sending again is right: nothing was executed. Both share one command
                // timeout.
                .exceptionallyCompose(thrown -> unwrapped(thrown) instanceof RedisNoScriptException
                        ? byText(script, keys, args)
                                .orTimeout(Math.max(0, end - clock.nanoTime()), TimeUnit.NANOSECONDS)
                        : CompletableFuture.failedFuture(thrown))
                .exceptionallyCompose(thrown -> CompletableFuture.failedFuture(failure(unwrapped(thrown))));
    }

    CompletableFuture<List<String>> byDigest(Script script, String[] keys, String... args) {
        return sent(() -> connection
                .async()
                .<List<String>>evalsha(script.digest(), ScriptOutputType.MULTI, keys, args)
                .toCompletableFuture());
    }

    CompletableFuture<List<String>> byText(Script script, String[] keys, String... args) {
        return sent(() -> connection
                .async()
                .<List<String>>eval(script.source(), ScriptOutputType.MULTI, keys, args)
                .toCompletableFuture());
    }

    /** Tells whether anything was heard since then; if not, the connection may be dead without saying so. */
    boolean silentSince(long nanoTime) {
        return lastAnswer - nanoTime < 0;
    }

    /** Says what an error of the driver means for us. */
    SendFailure failure(Throwable thrown) {
        if (thrown instanceof RedisCommandTimeoutException || thrown instanceof TimeoutException) {
            return new SendFailure(
                    SendFailure.Kind.UNANSWERED,
                    server + " did not answer within " + commandTimeout.toMillis() + " ms",
                    thrown);
        }
        if (thrown instanceof RedisCommandExecutionException) {
            boolean forbidden =
                    FORBIDDEN.matcher(String.valueOf(thrown.getMessage())).find();
            return new SendFailure(
                    forbidden ? SendFailure.Kind.FORBIDDEN : SendFailure.Kind.UNABLE,
                    server + " answered: " + thrown.getMessage(),
                    thrown);
        }
        return new SendFailure(
                SendFailure.Kind.UNANSWERED,
                "the connection to " + server + " was lost (" + thrown.getMessage() + ")",
                thrown);
    }

    static Throwable unwrapped(Throwable thrown) {
        return thrown instanceof CompletionException && thrown.getCause() != null ? thrown.getCause() : thrown;
    }

    private CompletableFuture<List<String>> sent(Supplier<CompletableFuture<List<String>>> command) {
        CompletableFuture<List<String>> answer;
        try {
            answer = command.get();
        } catch (RuntimeException e) {
            // A closed connection throws here; others fail the future.
            return CompletableFuture.failedFuture(e);
        }
        return answer.whenComplete((reply, thrown) -> {
            if (thrown == null || unwrapped(thrown) instanceof RedisCommandExecutionException) {
                lastAnswer = clock.nanoTime();
            }
        });
    }
}
