package dev.fenceline.lock;

import io.lettuce.core.KeyScanArgs;
import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScanCursor;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

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

    /** Whether each command is written behind ASKING, for a slot that is being moved to this server. */
    private enum Prefix {
        NONE,
        ASKING
    }

    private final Prefix prefix;
    private final AtomicLong lastAnswer;
    private final AtomicReference<@Nullable ReplicaWait> waiting;

    Link(
            StatefulRedisConnection<String, String> connection,
            Incarnations.Connection incarnation,
            LockClock clock,
            String server,
            Duration commandTimeout) {
        this(
                connection,
                incarnation,
                clock,
                server,
                commandTimeout,
                Prefix.NONE,
                new AtomicLong(clock.nanoTime()),
                new AtomicReference<>());
    }

    private Link(
            StatefulRedisConnection<String, String> connection,
            Incarnations.Connection incarnation,
            LockClock clock,
            String server,
            Duration commandTimeout,
            Prefix prefix,
            AtomicLong lastAnswer,
            AtomicReference<@Nullable ReplicaWait> waiting) {
        this.connection = connection;
        this.incarnation = incarnation;
        this.clock = clock;
        this.server = server;
        this.commandTimeout = commandTimeout;
        this.prefix = prefix;
        this.lastAnswer = lastAnswer;
        this.waiting = waiting;
    }

    /** For somebody who asks and goes again, whoever the server's process is. */
    static Link passing(
            StatefulRedisConnection<String, String> connection,
            LockClock clock,
            String server,
            Duration commandTimeout) {
        return new Link(
                connection,
                new Incarnations(Incarnations.Knowledge.NONE).newConnection(),
                clock,
                server,
                commandTimeout);
    }

    /** The same link, for a slot of a Cluster that is on its way to this server. */
    Link asking() {
        return new Link(connection, incarnation, clock, server, commandTimeout, Prefix.ASKING, lastAnswer, waiting);
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

    /**
     * Runs a script by its digest, and by its text where the server does not know it yet: the one answer after which sending
     * again is right, since nothing was executed. Both share one command timeout. Fails with {@link SendFailure} only.
     */
    CompletableFuture<Reply> run(Script script, String[] keys, String... args) {
        long end = clock.nanoTime() + commandTimeout.toNanos();
        // Ended by hand instead of in a stage for each step: this is on the way of every lock.
        CompletableFuture<Reply> result = new CompletableFuture<>();
        var unused = byDigest(script, keys, args).whenComplete((answer, thrown) -> {
            if (thrown == null) {
                result.complete(answer);
            } else if (unwrapped(thrown) instanceof RedisNoScriptException) {
                byTextUntil(end, result, script, keys, args);
            } else {
                result.completeExceptionally(failure(unwrapped(thrown)));
            }
        });
        return result;
    }

    private void byTextUntil(long end, CompletableFuture<Reply> result, Script script, String[] keys, String... args) {
        var unused = byText(script, keys, args)
                .orTimeout(Math.max(0, end - clock.nanoTime()), TimeUnit.NANOSECONDS)
                .whenComplete((answer, thrown) -> {
                    if (thrown == null) {
                        result.complete(answer);
                    } else {
                        result.completeExceptionally(failure(unwrapped(thrown)));
                    }
                });
    }

    CompletableFuture<Reply> byDigest(Script script, String[] keys, String... args) {
        return script(CommandType.EVALSHA, script.digest(), keys, args);
    }

    CompletableFuture<Reply> byText(Script script, String[] keys, String... args) {
        return script(CommandType.EVAL, script.source(), keys, args);
    }

    private CompletableFuture<Reply> script(CommandType type, String script, String[] keys, String... args) {
        return sent(() -> {
            CommandArgs<String, String> words = new CommandArgs<>(StringCodec.UTF8)
                    .add(script)
                    .add(keys.length)
                    .addKeys(keys)
                    .addValues(args);
            AsyncCommand<String, String, Reply> run =
                    new AsyncCommand<>(new Command<>(type, new Reply.Output(), words));
            if (prefix == Prefix.ASKING) {
                // It holds for the next command of the connection, so the two are written together.
                var unused = connection.dispatch(List.of(asking(StringCodec.UTF8), run));
            } else {
                var unused = connection.dispatch(run);
            }
            return run;
        });
    }

    /** ASKING by itself, to see whether we may. */
    CompletableFuture<String> askingAlone() {
        return sent(() -> {
            AsyncCommand<String, String, String> asking = asking(StringCodec.UTF8);
            var unused = connection.dispatch(asking);
            return asking;
        });
    }

    /**
     * Has the server wait until so many replicas have what was written on this connection so far, and tells how many have. Other
     * commands of the connection wait behind it.
     */
    CompletableFuture<Long> acknowledged(int replicas, Duration limit) {
        return sent(() -> connection
                .async()
                .waitForReplication(replicas, limit.toMillis())
                .toCompletableFuture());
    }

    /** As {@link #acknowledged}, together with others that ask at the same time, all of them for the same. */
    CompletableFuture<Long> replicated(int replicas, Duration limit) {
        ReplicaWait fresh = new ReplicaWait(() -> acknowledged(replicas, limit));
        ReplicaWait first = waiting.compareAndExchange(null, fresh);
        return (first == null ? fresh : first).acknowledged();
    }

    /** One page of the keys that match; the cursor in it leads to the next one, on this connection only. */
    CompletableFuture<KeyScanCursor<String>> scan(ScanCursor from, KeyScanArgs which) {
        return told(() -> connection.async().scan(from, which).toCompletableFuture());
    }

    /** A section of INFO. */
    CompletableFuture<String> info(String section) {
        return told(() -> connection.async().info(section).toCompletableFuture());
    }

    /** A setting, by its name. */
    CompletableFuture<Map<String, String>> setting(String name) {
        return told(() -> connection.async().configGet(name).toCompletableFuture());
    }

    /** The server's clock. */
    CompletableFuture<Long> micros() {
        return told(() -> connection.async().time().toCompletableFuture())
                .thenApply(time -> Long.parseLong(time.get(0)) * 1_000_000 + Long.parseLong(time.get(1)));
    }

    /** Fails with {@link SendFailure} only. */
    private <T> CompletableFuture<T> told(Supplier<CompletableFuture<T>> command) {
        return sent(command).exceptionallyCompose(thrown -> CompletableFuture.failedFuture(failure(unwrapped(thrown))));
    }

    /** Asks a node of a Cluster who has which slots, in the words of CLUSTER SLOTS. */
    CompletableFuture<List<Object>> slots() {
        return sent(() -> connection.async().clusterSlots().toCompletableFuture());
    }

    /** Tells whether anything was heard since then; if not, the connection may be dead without saying so. */
    boolean silentSince(long nanoTime) {
        return lastAnswer.get() - nanoTime < 0;
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

    private static AsyncCommand<String, String, String> asking(StringCodec text) {
        return new AsyncCommand<>(new Command<>(CommandType.ASKING, new StatusOutput<>(text), new CommandArgs<>(text)));
    }

    private <T> CompletableFuture<T> sent(Supplier<CompletableFuture<T>> command) {
        CompletableFuture<T> answer;
        try {
            answer = command.get();
        } catch (RuntimeException e) {
            // A closed connection throws here; others fail the future.
            return CompletableFuture.failedFuture(e);
        }
        return answer.whenComplete((reply, thrown) -> heard(thrown));
    }

    private void heard(@Nullable Throwable thrown) {
        if (thrown == null || unwrapped(thrown) instanceof RedisCommandExecutionException) {
            lastAnswer.set(clock.nanoTime());
        }
    }
}
