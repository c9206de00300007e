package dev.fenceline.examples;

import dev.fenceline.FencedLease;
import dev.fenceline.FencedLeases;
import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.Locks;
import dev.fenceline.lock.RedisLocks;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The ways to take a lock by itself: for some work, several at once, and without a thread that waits. */
public final class TakeLocks {

    private static final LockName ACCOUNT = LockName.of("account", 42);
    private static final LockName OTHER = LockName.of("account", 43);

    private TakeLocks() {}

    /**
     * Takes locks in each way.
     *
     * @param args the URI of Redis
     * @throws InterruptedException when interrupted while waiting
     */
    public static void main(String[] args) throws InterruptedException {
        try (Locks locks = RedisLocks.connect(args[0])) {
            System.out.println(forSomeWork(locks));
            System.out.println(several(locks));
            System.out.println(withoutAThread(locks).join());
        }
    }

    static FencingToken forSomeWork(Locks locks) throws InterruptedException {
        // snippet: take-for-work
        return locks.fenced(ACCOUNT)
                .callWithin(Duration.ofSeconds(10), FencedLease::token); // any work; also run, tryCall, tryRun
        // end snippet
    }

    static List<FencingToken> several(Locks locks) throws InterruptedException {
        // snippet: take-several
        // In the order of their names, whatever order is given: no two callers wait for each other.
        try (FencedLeases leases = locks.fencedAll(OTHER, ACCOUNT).acquire()) {
            return List.of(leases.lease(ACCOUNT).token(), leases.lease(OTHER).token());
        }
        // end snippet
    }

    static CompletableFuture<FencingToken> withoutAThread(Locks locks) {
        // snippet: take-async
        CompletableFuture<FencedLease> grant = locks.fenced(ACCOUNT).acquireAsync(Duration.ofSeconds(10));
        return grant.thenCompose(lease -> lease.closeAsync().thenApply(closed -> lease.token()));
        // end snippet
    }
}
