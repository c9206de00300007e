package dev.fenceline.lock;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineException;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import io.lettuce.core.RedisURI;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;

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
        Duration limit = uri.getSentinels().isEmpty() ? LIMIT : LIMIT_OF_SEVERAL;
        return connect(network, options, limit, context -> new OneServer(network, uri, context));
    }

    static Locks toCluster(Network network, List<RedisURI> seeds, LockOptions options) {
        return connect(network, options, LIMIT_OF_SEVERAL, context -> new ClusterRoute(network, seeds, context));
    }

    private static Locks connect(Network network, LockOptions options, Duration limit, Routing routing) {
        LockClock clock = LockClock.system();
        ScheduledThreadPoolExecutor scheduler = scheduler();
        Notices notices = new Notices(options.listener());
        Context context = Context.of(options, clock, scheduler, notices);
        Route route = routing.route(context);
        LettuceTransport transport = new LettuceTransport(network, route, context);
        try {
            await(route, transport.connect(), limit);
        } catch (RuntimeException e) {
            scheduler.shutdownNow();
            notices.close(Duration.ZERO);
            transport.close(options.commandTimeout());
            throw e;
        }
        return HookedLocks.of(new ConnectedLocks(transport, options, clock, new SecureRandom(), scheduler, notices));
    }

    static void await(Route route, CompletableFuture<Void> connected, Duration limit) {
        try {
            Void unused = Uninterruptibly.await(connected, limit);
        } catch (SendFailure failure) {
            Throwable cause = failure.getCause();
            if (cause instanceof FencelineException ours) {
                throw ours;
            }
            String tried =
                    route.lastTried().map(last -> " (last: " + last + ")").orElse("");
            throw new BackendUnavailableException(
                    "No connection to " + route.server() + ": " + failure.getMessage() + tried
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
