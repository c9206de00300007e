package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.eventually;
import static dev.fenceline.lock.Fixture.serverMicros;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.FencedLock;
import dev.fenceline.Lease;
import dev.fenceline.LeaseLostException;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.RedisProcess;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Nodes that are silent or away. */
@Tag("server")
class RedlockOutagesTest extends RedlockThroughProxies {

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void silentNodesAreNotWaitedFor(int silent) throws InterruptedException {
        FencedLock lock = connect(options, NODE_TIMEOUT).fenced(ACCOUNT);
        lock.acquire().close();
        proxies.subList(0, silent).forEach(FaultProxy::blackhole);
        long start = System.nanoTime();
        for (int i = 0; i < 20; i++) {
            try (FencedLease lease = lock.acquire()) {
                lease.renew();
            }
        }
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(NODE_TIMEOUT);
        proxies.forEach(FaultProxy::heal);
        // What they heard late was released as late.
        eventually("the lock is free at all nodes", () -> taken() == 0);
    }

    @Test
    void withThreeSilentNodesItFailsInTimeAndLeavesNothingLockedAnywhere() throws InterruptedException {
        FencedLock lock = connect(impatient(), IMPATIENT).fenced(ACCOUNT);
        lock.acquireWithin(Duration.ofSeconds(10)).close();
        // A release that is still on its way to a slow node would be held up there too.
        eventually("the lock is free at all nodes", () -> taken() == 0);
        proxies.subList(0, 3).forEach(FaultProxy::blackhole);
        long start = System.nanoTime();
        assertThatThrownBy(() -> lock.acquireWithin(Duration.ofMillis(300)))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageStartingWith(
                        "Lock 'account:42' not acquired: 2 of 5 nodes answered and 3 are needed; Redis at ")
                .hasMessageContaining(" did not answer within 800 ms; ")
                .hasMessageContaining(
                        "Nothing is held, a release was sent in case it was granted; trying again is fine.");
        // Its limit and one command timeout, and seconds for a busy machine.
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(6));
        eventually("the lock is free at the nodes that answered", () -> taken() == 0);
        // Now they get what was sent to them, in whatever order their connections bring it.
        proxies.forEach(FaultProxy::heal);
        eventually("all nodes are connected again", () -> {
            try (FencedLease lease = lock.acquireWithin(Duration.ofMillis(100))) {
                return lease.isHeld() && taken() == 5;
            } catch (BackendUnavailableException e) {
                return false;
            }
        });
        eventually("the lock is free at all nodes", () -> taken() == 0);
    }

    @Test
    void aLeaseIsRenewedByAMajorityAndLostWithoutOne() throws InterruptedException {
        LockOptions shorter = Fixture.options()
                .lease(Duration.ofSeconds(6))
                .commandTimeout(Duration.ofMillis(800))
                .build();
        FencedLock lock = connect(shorter, Duration.ofMillis(400)).fenced(ACCOUNT);
        try (FencedLease lease = lock.acquire()) {
            eventually("all nodes have granted it", () -> FiveServers.taken(shorter, ACCOUNT) == 5);
            proxies.subList(0, 2).forEach(FaultProxy::blackhole);
            lease.renew();
            FiveServers.NODES.get(2).command("DEL", new KeySpace(shorter.keyPrefix()).lock(Fixture.fenced(ACCOUNT)));
            // Two of five have it and two are silent: nobody can say whether it is still ours.
            assertThatThrownBy(lease::renew)
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageStartingWith("Lease of 'account:42' not renewed: ")
                    .hasMessageContaining("renewal is tried again in the background");
            proxies.forEach(FaultProxy::heal);
        }
    }

    /** It is at the nodes that granted it and at no other, also where those are up and free by now. */
    @Test
    void aLeaseThatABareMajorityGrantedIsNotRenewedWithoutOneOfThem() throws InterruptedException {
        Locks locks = connect(impatient(), IMPATIENT);
        awaitThatAllNodesTakePart(locks);
        String key = new KeySpace(options.keyPrefix()).lock(Fixture.fenced(ACCOUNT));
        List<RedisProcess> others = FiveServers.NODES.subList(3, 5);
        others.forEach(node -> node.command("SET", key, OTHER, "PX", "60000"));
        try (FencedLease lease = locks.fenced(ACCOUNT).acquire()) {
            others.forEach(node -> node.command("DEL", key));
            lease.renew();
            assertThat(taken()).isEqualTo(3);
            proxies.get(0).refuse();
            assertThatThrownBy(lease::renew)
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageStartingWith("Lease of 'account:42' not renewed: ");
            assertThat(others)
                    .allSatisfy(node -> assertThat(node.command("GET", key)).isEmpty());
            proxies.get(0).heal();
        }
    }

    @Test
    void aMajorityThatKnowsNothingOfALeaseEndsItEverywhere() throws InterruptedException {
        FencedLock lock = connect(options, NODE_TIMEOUT).fenced(ACCOUNT);
        FencedLease lease = lock.acquire();
        eventually("all nodes have granted it", () -> taken() == 5);
        String key = new KeySpace(options.keyPrefix()).lock(Fixture.fenced(ACCOUNT));
        FiveServers.NODES.subList(0, 2).forEach(node -> node.command("DEL", key));
        lease.renew();
        FiveServers.NODES.get(2).command("DEL", key);
        assertThatThrownBy(lease::renew)
                .isInstanceOf(LeaseLostException.class)
                .satisfies(lost ->
                        assertThat(((LeaseLostException) lost).reason()).isEqualTo(LeaseLostException.Reason.REFUSED));
        // Never recreated, and given up where it was left: those two have just prolonged it by a minute.
        eventually("the lock is free at all nodes", () -> taken() == 0);
        lease.close();
    }

    @Test
    void aNodeThatIsAwayIsConnectedToWhenItIsBack() throws InterruptedException {
        proxies.get(4).refuse();
        String[] uris = proxies.stream()
                .map(proxy -> "redis://" + proxy.host() + ":" + proxy.port())
                .toArray(String[]::new);
        var unused = FiveServers.redlock(options);
        Locks locks =
                Redlock.of(uris).options(options).nodeTimeout(NODE_TIMEOUT).connect();
        open.add(locks);
        locks.fenced(ACCOUNT).acquire().close();
        proxies.get(4).heal();
        eventually("all nodes take part", () -> {
            try (Lease lease = locks.fenced(ACCOUNT).acquire()) {
                return lease.isHeld() && taken() == 5;
            }
        });
    }

    /** Nodes come back while somebody waits for the lock who could not get it without them. */
    private static FencedLease leaseOnceBack(Locks locks, Runnable back) throws Exception {
        RedisProcess there = FiveServers.NODES.get(0);
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            long asked = Fixture.calls(there, "evalsha");
            Future<FencedLease> lease =
                    thread.submit(() -> locks.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(20)));
            eventually(
                    "it was asked for without success",
                    () -> lease.isDone() || Fixture.calls(there, "evalsha") > asked + 4);
            back.run();
            return lease.get(20, TimeUnit.SECONDS);
        } finally {
            thread.shutdownNow();
        }
    }

    /** Two forgot everything and wait for a lease of a minute; the one that is missing is away for a moment only. */
    @Test
    void aNodeThatIsAwayIsAskedAgainSoonThoughOthersWaitForALease() throws Exception {
        Locks locks = connect(options, IMPATIENT);
        locks.fenced(ACCOUNT).acquire().close();
        FiveServers.NODES.subList(3, 5).forEach(node -> node.command("DEL", node()));
        proxies.get(2).refuse();
        assertThatThrownBy(() -> locks.fenced(ACCOUNT).acquireWithin(Duration.ofMillis(50)))
                .isInstanceOf(BackendUnavailableException.class)
                // The third one may have been heard of as lost, or not be there any more.
                .hasMessageContaining("2 of 5 nodes answered and 3 are needed; ")
                .hasMessageContaining(" restarted or lost its data, and grants nothing for another ");
        leaseOnceBack(locks, () -> proxies.get(2).heal()).close();
    }

    /** One of the three that are left is so far ahead that the others take its next token in 9 s; the other two are back before. */
    @Test
    void whoeverWouldHaveToWaitForAClockLooksWhetherOthersAreBack() throws Exception {
        Locks locks = connect(options, IMPATIENT);
        awaitThatAllNodesTakePart(locks);
        RedisProcess ahead = FiveServers.NODES.get(2);
        String bucket = Integer.toString(new KeySpace(options.keyPrefix()).bucketOf(Fixture.fenced(ACCOUNT)));
        ahead.command("HSET", node(), bucket, Long.toString(serverMicros(ahead) + 19_900_000));
        proxies.subList(3, 5).forEach(FaultProxy::refuse);
        assertThatThrownBy(() -> locks.fenced(ACCOUNT).acquireWithin(Duration.ofMillis(50)))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("3 of 5 nodes answered and 3 are needed; ")
                .hasMessageContaining("; those that answered agree on no token for another ")
                .hasMessageContaining("Nothing is held");
        FencedLease lease = leaseOnceBack(locks, () -> proxies.subList(3, 5).forEach(FaultProxy::heal));
        assertThat(lease.token().value()).isLessThan(serverMicros(ahead));
    }
}
