package dev.fenceline.lock;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineException;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import io.lettuce.core.RedisURI;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.function.Function;
import java.util.function.Supplier;

/** Puts the parts together: transport, thread, locks, and the hook that releases when the JVM ends. */
final class Connecting {

    /** A little more than Lettuce's own limit, whose message says more. */
    private static final Duration LIMIT = Duration.ofMillis(5_500);

    /** The same after the patience for a failover that is going on. */
    private static final Duration LIMIT_OF_SEVERAL = LIMIT.plus(FirstConnect.PATIENCE);

    /** Makes the way to the servers. */
    private interface Routing {
        Route route(Context context);
    }

    private Connecting() {}

    static Locks to(Network network, RedisURI uri, LockOptions options) {
        return locks(connect(network, context(options, LockClock.system()), limit(uri), to(network, uri)));
    }

    static Locks toCluster(Network network, List<RedisURI> seeds, LockOptions options) {
        return locks(
                connect(network, context(options, LockClock.system()), LIMIT_OF_SEVERAL, toCluster(network, seeds)));
    }

    static Locks toNodes(
            Network network,
            List<RedisURI> nodes,
            RedlockSettings settings,
            Function<RedisURI, NodeScripts> scripts,
            LockClock clock) {
        Context context = context(settings.effective(), clock);
        RedlockTransport transport = new RedlockTransport(network, nodes, settings.nodeTimeout(), context, scripts);
        try {
            await(transport.server(), Optional::empty, transport.connect(), LIMIT);
        } catch (RuntimeException e) {
            context.scheduler().shutdownNow();
            context.notices().close(Duration.ZERO);
            transport.close(context.commandTimeout());
            throw e;
        }
        return locks(transport, context);
    }

    static LockInspector inspecting(Network network, RedisURI uri, LockOptions options, LockClock clock) {
        Context context = context(options, clock).inspecting();
        return new LockInspector(connect(network, context, limit(uri), to(network, uri)));
    }

    static LockInspector inspectingCluster(Network network, List<RedisURI> seeds, LockOptions options) {
        Context context = context(options, LockClock.system()).inspecting();
        return new LockInspector(connect(network, context, LIMIT_OF_SEVERAL, toCluster(network, seeds)));
    }

    private static Duration limit(RedisURI uri) {
        return uri.getSentinels().isEmpty() ? LIMIT : LIMIT_OF_SEVERAL;
    }

    private static Routing to(Network network, RedisURI uri) {
        return context -> new OneServer(network, uri, context);
    }

    private static Routing toCluster(Network network, List<RedisURI> seeds) {
        return context -> new ClusterRoute(network, seeds, context);
    }

    private static Context context(LockOptions options, LockClock clock) {
        return Context.of(options, clock, scheduler(), new Notices(options.listener()));
    }

    /** What was connected. */
    record Parts(Network network, Context context, Route route, LettuceTransport transport) {

        /** Disconnects for whoever holds no lock. */
        void close() {
            context.scheduler().shutdownNow();
            context.notices().close(Duration.ZERO);
            transport.close(context.commandTimeout());
        }
    }

    private static Parts connect(Network network, Context context, Duration limit, Routing routing) {
        Route route = routing.route(context);
        Parts parts = new Parts(network, context, route, new LettuceTransport(network, route, context));
        try {
            await(route, parts.transport().connect(), limit);
        } catch (RuntimeException e) {
            parts.close();
            throw e;
        }
        return parts;
    }

    private static Locks locks(Parts parts) {
        return locks(parts.transport(), parts.context());
    }

    private static Locks locks(LockTransport transport, Context context) {
        return HookedLocks.of(new ConnectedLocks(
                transport,
                context.options(),
                context.clock(),
                new SecureRandom(),
                context.scheduler(),
                context.notices()));
    }

    static void await(Route route, CompletableFuture<Void> connected, Duration limit) {
        await(route.server(), route::lastTried, connected, limit);
    }

    private static void await(
            String server, Supplier<Optional<String>> lastTried, CompletableFuture<Void> connected, Duration limit) {
        try {
            Void unused = Uninterruptibly.await(connected, limit);
        } catch (SendFailure failure) {
            Throwable cause = failure.getCause();
            if (cause instanceof FencelineException ours) {
                throw ours;
            }
            String tried = lastTried.get().map(last -> " (last: " + last + ")").orElse("");
            throw new BackendUnavailableException(
                    "No connection to " + server + ": " + failure.getMessage() + tried
                            + ". Nothing was sent; check host, port and whether the server runs.",
                    failure);
        }
    }

    private static ScheduledThreadPoolExecutor scheduler() {
        ScheduledThreadPoolExecutor scheduler = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "fenceline-lock");
            thread.setDaemon(true);
            return thread;
        });
        // A process takes and releases many locks within one period; their tasks must not pile up.
        scheduler.setRemoveOnCancelPolicy(true);
        scheduler.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        return scheduler;
    }
}
