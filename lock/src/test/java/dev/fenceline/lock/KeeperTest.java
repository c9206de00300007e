package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.FencedLease;
import dev.fenceline.FencedLock;
import dev.fenceline.FencelineEvent;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.testkit.RedisServer;
import dev.fenceline.testkit.SharedServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How many renewals and keys remain of many cycles. */
@Tag("server")
class KeeperTest {

    private final RedisServer redis = SharedServers.redis();

    /** A peer sends one for each cycle that went before. */
    @Test
    void aLeaseIsRenewedOncePerPeriodHoweverManyCyclesWentBefore() throws InterruptedException {
        List<FencelineEvent.LeaseRenewed> renewals = new CopyOnWriteArrayList<>();
        LockOptions options = Fixture.options()
                .lease(Duration.ofSeconds(3))
                .renewalPeriod(Duration.ofMillis(300))
                .listener(event -> {
                    if (event instanceof FencelineEvent.LeaseRenewed renewed) {
                        renewals.add(renewed);
                    }
                })
                .build();
        try (Locks locks = RedisLocks.connect(redis.uri(), options)) {
            FencedLock lock = locks.fenced(ACCOUNT);
            for (int i = 0; i < 10_000; i++) {
                lock.acquire().close();
            }
            renewals.clear();
            long start = System.nanoTime();
            try (FencedLease lease = lock.acquire()) {
                eventually("ten renewals", () -> renewals.size() >= 10);
                long periods = Duration.ofNanos(System.nanoTime() - start).toMillis() / 300;
                assertThat((long) renewals.size()).isLessThanOrEqualTo(periods).isLessThanOrEqualTo(11);
                assertThat(lease.isHeld()).isTrue();
            }
            assertThat(renewals).extracting(FencelineEvent.LeaseRenewed::lock).containsOnly(ACCOUNT);
        }
    }

    /** One wake-up serves them all, and each is renewed in time. */
    @Test
    void manyLeasesAreAllRenewed() throws InterruptedException {
        LockOptions options = Fixture.options().lease(Duration.ofMillis(900)).build();
        try (Locks locks = RedisLocks.connect(redis.uri(), options)) {
            List<FencedLease> leases = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                leases.add(locks.fenced(LockName.of("order", i)).acquire());
            }
            long start = System.nanoTime();
            eventually("three leases are over", () -> System.nanoTime() - start > 2_700_000_000L);
            assertThat(leases).allMatch(FencedLease::isHeld);
            leases.forEach(FencedLease::close);
        }
    }

    /** Memory does not grow with the names ever used: a peer's users found 25 million token keys. */
    @Test
    @Tag("slow")
    void aHundredThousandNamesLeaveACounterAndABootKeyForEachBucket() throws Exception {
        LockOptions options = Fixture.options().build();
        try (Locks locks = RedisLocks.connect(redis.uri(), options)) {
            List<WaitingThread<Integer>> workers = new ArrayList<>();
            for (int from = 0; from < 100_000; from += 5_000) {
                int first = from;
                workers.add(WaitingThread.start(() -> {
                    for (int i = first; i < first + 5_000; i++) {
                        locks.fenced(LockName.of("order", i)).acquire().close();
                    }
                    return first;
                }));
            }
            for (WaitingThread<Integer> worker : workers) {
                worker.end(Duration.ofMinutes(5));
            }
        }
        // Of these locks alone: keys that other tests left on this server expire meanwhile.
        long left = redis.command("KEYS", options.keyPrefix() + ":*").lines().count();
        assertThat(left).isBetween(2_000L, 2L * KeySpace.BUCKETS);
    }
}
