package dev.fenceline.lock;

import static org.awaitility.Awaitility.await;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.FencedLock;
import dev.fenceline.FencelineListener;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.testkit.RedisServer;
import io.lettuce.core.RedisURI;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What many tests share: a key space of their own, a look into Redis, and a transport to send single commands. */
final class Fixture {

    static final LockName ACCOUNT = LockName.of("account", 42);

    private Fixture() {}

    /** Options with a fresh key space, without a log, and without the wait that a fresh bucket costs. */
    static LockOptions.Builder options() {
        return LockOptions.builder()
                .keyPrefix("test-" + UUID.randomUUID())
                .application("payments")
                .masterClockSkew(Duration.ZERO)
                .listener(FencelineListener.none());
    }

    /** Looks at a lock's key in Redis; empty when it is free. */
    static String value(RedisServer redis, LockOptions options, LockKey lock) {
        return redis.command("GET", new KeySpace(options.keyPrefix()).lock(lock));
    }

    static LockKey fenced(LockName name) {
        return new LockKey(LockKind.FENCED, name);
    }

    /** The server's clock as scripts read it. */
    static long serverMicros(RedisServer redis) {
        List<String> time = redis.command("TIME").lines().toList();
        return Long.parseLong(time.get(0)) * 1_000_000 + Long.parseLong(time.get(1));
    }

    /** How often a server ran a command so far, in scripts and outside. */
    static long calls(RedisServer redis, String command) {
        Matcher matcher = Pattern.compile("cmdstat_" + command + ":calls=([0-9]+)")
                .matcher(redis.command("INFO", "commandstats"));
        return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
    }

    static void awaitFree(RedisServer redis, LockOptions options, LockName name, Duration limit) {
        await("lock '" + name + "' is free in Redis")
                .atMost(limit)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> value(redis, options, fenced(name)).isEmpty());
    }

    static void eventually(String what, Callable<Boolean> condition) {
        await(what)
                .dontCatchUncaughtExceptions()
                .atMost(Duration.ofSeconds(10))
                .pollInterval(Duration.ofMillis(5))
                .until(condition);
    }

    /** Asks until the reason of a refusal is this one; on the way a client may still be making a new connection. A grant is an error. */
    static void refusedUntilItSays(FencedLock lock, String reason) {
        eventually("the refusal says '" + reason + "'", () -> {
            try (FencedLease lease = lock.acquireWithin(Duration.ofMillis(200))) {
                throw new AssertionError("granted " + lease.token());
            } catch (BackendUnavailableException e) {
                return String.valueOf(e.getMessage()).contains(reason);
            }
        });
    }

    /** The answer, or the failure unwrapped. */
    static <T> T answer(CompletionStage<T> stage) throws SendFailure {
        try {
            return stage.toCompletableFuture().orTimeout(10, TimeUnit.SECONDS).join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof TimeoutException) {
                throw new AssertionError("no answer within 10 s", e);
            }
            throw SendFailure.of(e);
        }
    }

    static long token(LockTransport.AcquireReply reply) {
        if (reply instanceof LockTransport.AcquireReply.Granted granted) {
            return granted.token();
        }
        throw new AssertionError("expected a grant, got " + reply);
    }

    /** A transport by itself, for single commands under a chosen holder. */
    static final class Wire implements AutoCloseable {

        private final ScheduledThreadPoolExecutor scheduler = new ScheduledThreadPoolExecutor(1);
        private final Notices notices;
        private final LettuceTransport transport;
        private final LockOptions options;

        Wire(RedisServer redis, LockOptions options) {
            this(redis.uri(), options);
        }

        Wire(String uri, LockOptions options) {
            this(options, (network, context) -> new OneServer(network, RedisURI.create(uri), context));
        }

        Wire(LockOptions options, BiFunction<Network, Context, Route> route) {
            this.options = options;
            notices = new Notices(options.listener());
            Context context = Context.of(options, LockClock.system(), scheduler, notices);
            Network network = new Network(null, null);
            transport = new LettuceTransport(network, route.apply(network, context), context);
            transport.connect().join();
        }

        LettuceTransport transport() {
            return transport;
        }

        /** The production locks over this transport, with a clock that a test sets. */
        ConnectedLocks locks(LockClock clock) {
            return new ConnectedLocks(transport, options, clock, new SecureRandom(), scheduler, notices);
        }

        LockTransport.AcquireReply acquire(LockName name, UUID holder) throws SendFailure {
            return acquire(name, holder, 0);
        }

        LockTransport.AcquireReply acquire(LockName name, UUID holder, long floor) throws SendFailure {
            return answer(transport.acquire(
                    fenced(name),
                    new LockTransport.AcquireRequest(holder, floor, Acquisition.Patience.TRIES_ONCE, null)));
        }

        /** Acquires for a new holder, going on after the microseconds that a jump costs; releases at once. */
        long nextToken(LockName name) throws SendFailure {
            UUID holder = UUID.randomUUID();
            BlockingQueue<Long> tokens = new LinkedBlockingQueue<>(1);
            eventually("a token is granted", () -> {
                LockTransport.AcquireReply reply = acquire(name, holder);
                return reply instanceof LockTransport.AcquireReply.Granted granted && tokens.offer(granted.token());
            });
            answer(transport.release(fenced(name), holder, Duration.ZERO));
            return tokens.remove();
        }

        @Override
        public void close() {
            scheduler.shutdownNow();
            notices.close(Duration.ZERO);
            transport.close(Duration.ofSeconds(2));
        }
    }
}
