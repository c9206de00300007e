package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.eventually;
import static dev.fenceline.lock.Fixture.serverMicros;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.FencedLock;
import dev.fenceline.FencingToken;
import dev.fenceline.Lease;
import dev.fenceline.LeaseLostException;
import dev.fenceline.LockName;
import dev.fenceline.LockNotAcquiredException;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.RedisProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Nodes that are silent, away, or answer late. */
@Tag("server")
class RedlockOutagesTest {

    /** So long that whoever waited for a silent node, or for the end of a lease, would be seen. */
    private static final Duration NODE_TIMEOUT = Duration.ofSeconds(4);

    /** Where nodes are waited for in vain; the others have to answer in this time. */
    private static final Duration IMPATIENT = Duration.ofMillis(800);

    private static final Duration LEASE = Duration.ofSeconds(60);

    private final LockOptions options = Fixture.options()
            .lease(LEASE)
            .commandTimeout(Duration.ofSeconds(10))
            .build();
    private final List<FaultProxy> proxies = FiveServers.NODES.stream()
            .map(node -> FaultProxy.to(node.host(), node.port()))
            .toList();
    private final List<Locks> open = new ArrayList<>();

    @AfterEach
    void close() {
        proxies.forEach(FaultProxy::heal);
        open.forEach(Locks::close);
        proxies.forEach(FaultProxy::close);
    }

    private Locks connect(LockOptions with, Duration nodeTimeout) {
        Locks locks = Redlock.of(proxies.stream()
                        .map(proxy -> "redis://" + proxy.host() + ":" + proxy.port())
                        .toArray(String[]::new))
                .options(with)
                .nodeTimeout(nodeTimeout)
                .firstStart()
                .connect();
        open.add(locks);
        return locks;
    }

    private LockOptions impatient() {
        return Fixture.options()
                .keyPrefix(options.keyPrefix())
                .lease(LEASE)
                .commandTimeout(IMPATIENT.multipliedBy(2))
                .build();
    }

    private long taken() {
        return FiveServers.taken(options, ACCOUNT);
    }

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

    /** The answers of a majority come when nobody waits for them any more; without a release they would hold for a minute. */
    @Test
    void anAnswerThatComesLateIsReleased() throws InterruptedException {
        FencedLock lock = connect(options, IMPATIENT).fenced(ACCOUNT);
        lock.acquireWithin(Duration.ofSeconds(10)).close();
        String acquire = NodeScripts.STANDARD.acquire().digest();
        List<FaultProxy.Armed> held = proxies.subList(0, 3).stream()
                .map(proxy -> proxy.onRequest(acquire).holdRequest())
                .toList();
        assertThatThrownBy(lock::tryAcquire)
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("2 of 5 nodes answered and 3 are needed");
        held.forEach(fault -> fault.awaitFired(Duration.ofSeconds(10)));
        held.forEach(FaultProxy.Armed::letGo);
        eventually("the lock is free at all nodes", () -> taken() == 0);
        lock.acquireWithin(Duration.ofSeconds(10)).close();
    }

    /** As after a restart: the release finds its script, and the acquire in front of it does not and comes after it. */
    private List<FaultProxy.Armed> acquireThatIsOvertaken(int nodes) {
        FiveServers.NODES.subList(0, nodes).forEach(node -> {
            node.command("SCRIPT", "FLUSH");
            node.command("SCRIPT", "LOAD", NodeScripts.STANDARD.release().source());
        });
        return proxies.subList(0, nodes).stream()
                .map(proxy ->
                        proxy.onRequest(NodeScripts.STANDARD.acquire().digest()).holdReply())
                .toList();
    }

    @Test
    void aReleaseThatOvertakesItsAcquireIsSentAgain() throws InterruptedException {
        FencedLock lock = connect(options, IMPATIENT).fenced(ACCOUNT);
        lock.acquireWithin(Duration.ofSeconds(10)).close();
        List<FaultProxy.Armed> held = acquireThatIsOvertaken(3);
        assertThatThrownBy(lock::tryAcquire).isInstanceOf(BackendUnavailableException.class);
        held.forEach(FaultProxy.Armed::letGo);
        eventually("the lock is free at all nodes", () -> taken() == 0);
        lock.acquireWithin(Duration.ofSeconds(10)).close();
    }

    @Test
    void theEndOfALeaseThatOvertakesTheAcquireOfASlowNodeIsSentAgain() throws InterruptedException {
        FencedLock lock = connect(options, NODE_TIMEOUT).fenced(ACCOUNT);
        lock.acquire().close();
        List<FaultProxy.Armed> held = acquireThatIsOvertaken(2);
        List<RedisProcess> slow = FiveServers.NODES.subList(0, 2);
        List<Long> before =
                slow.stream().map(node -> Fixture.calls(node, "eval")).toList();
        lock.acquire().close();
        held.forEach(fault -> fault.awaitFired(Duration.ofSeconds(10)));
        held.forEach(FaultProxy.Armed::letGo);
        eventually(
                "the slow nodes have carried the request out",
                () -> Fixture.calls(slow.get(0), "eval") > before.get(0)
                        && Fixture.calls(slow.get(1), "eval") > before.get(1));
        eventually("the lock is free at all nodes", () -> taken() == 0);
    }

    private static final String OTHER = "0123456789abcdef0123456789abcdef|7|1700000000000000|17|elsewhere|reports";

    /** With a mark to pass all attempts would propose the token that follows it, and one's release end the other's grant. */
    @Test
    void aLateReleaseOfAnAttemptLeavesTheNextOneAloneThatHasTheSameMarkToPass() throws Exception {
        Locks locks = connect(options, NODE_TIMEOUT);
        awaitThatAllNodesTakePart(locks);
        String key = new KeySpace(options.keyPrefix()).lock(Fixture.fenced(ACCOUNT));
        List<RedisProcess> others = FiveServers.NODES.subList(0, 3);
        RedisProcess node = FiveServers.NODES.get(3);
        others.forEach(each -> each.command("SET", key, OTHER, "PX", "60000"));
        node.command("SCRIPT", "FLUSH");
        node.command("SCRIPT", "LOAD", NodeScripts.STANDARD.acquire().source());
        FaultProxy.Armed held = proxies.get(3)
                .onRequest(NodeScripts.STANDARD.release().digest())
                .holdReply();
        FencedLock lock = locks.fenced(ACCOUNT);
        lock.raiseFloor(new FencingToken(ACCOUNT, serverMicros(node) + 3_600_000_000L, UUID.randomUUID()));
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            Future<FencedLease> waiting = thread.submit(() -> lock.acquireWithin(Duration.ofSeconds(20)));
            held.awaitFired(Duration.ofSeconds(10));
            others.forEach(each -> each.command("DEL", key));
            FencedLease lease = waiting.get(20, TimeUnit.SECONDS);
            String granted = "|" + lease.token().value() + "|";
            // Of the others two are enough: the last may have been asked while somebody else still had the lock there.
            eventually("the node has granted it", () -> node.command("GET", key).contains(granted));
            long before = Fixture.calls(node, "eval");
            held.letGo();
            // It did not know the script, and gets its text now.
            eventually("the node has heard of the release", () -> Fixture.calls(node, "eval") > before);
            awaitThatAllNodesTakePart(locks);
            assertThat(node.command("GET", key)).contains(granted);
            lease.close();
        } finally {
            thread.shutdownNow();
        }
    }

    private void awaitThatAllNodesTakePart(Locks locks) {
        LockName other = LockName.of("account", 43);
        eventually("all nodes take part", () -> {
            try (Lease lease = locks.fenced(other).acquire()) {
                return lease.isHeld() && FiveServers.taken(options, other) == 5;
            }
        });
    }

    /** The old connection of a node was slow and the new one is quick: its request comes when the lease is over. */
    @Test
    void aRequestThatWasLostAndComesBehindTheEndOfItsLeaseHoldsNothing() throws InterruptedException {
        Locks locks = connect(impatient(), IMPATIENT);
        awaitThatAllNodesTakePart(locks);
        FaultProxy.Armed held = proxies.get(0)
                .onRequest(NodeScripts.STANDARD.acquire().digest())
                .holdRequest();
        FencedLease lease = locks.fenced(ACCOUNT).acquire();
        held.awaitFired(Duration.ofSeconds(10));
        proxies.get(0).cutAll(FaultProxy.Cut.FIN);
        awaitThatAllNodesTakePart(locks);
        assertThat(taken()).isEqualTo(4);
        lease.close();
        long counted = counter(0);
        held.letGo();
        eventually("the node has granted it", () -> counter(0) > counted);
        eventually("the lock is free at all nodes", () -> taken() == 0);
    }

    private long counter(int node) {
        KeySpace keys = new KeySpace(options.keyPrefix());
        String bucket = Integer.toString(keys.bucketOf(Fixture.fenced(ACCOUNT)));
        String counter = FiveServers.NODES.get(node).command("HGET", keys.node(), bucket);
        return counter.isEmpty() ? 0 : Long.parseLong(counter);
    }

    /** It does not count for the grant, and is part of the lease all the same. */
    @Test
    void aNodeWhoseAnswerWasLostIsRenewedAndReleasedWithTheOthers() throws InterruptedException {
        Locks locks = connect(options, NODE_TIMEOUT);
        awaitThatAllNodesTakePart(locks);
        FaultProxy.Armed lost = proxies.get(0)
                .onRequest(NodeScripts.STANDARD.acquire().digest())
                .loseReply(FaultProxy.Cut.RST);
        FencedLease lease = locks.fenced(ACCOUNT).acquire();
        lost.awaitFired(Duration.ofSeconds(10));
        eventually("all nodes have granted it", () -> taken() == 5);
        awaitThatAllNodesTakePart(locks);
        String key = new KeySpace(options.keyPrefix()).lock(Fixture.fenced(ACCOUNT));
        RedisProcess node = FiveServers.NODES.get(0);
        assertThat(node.command("PEXPIRE", key, "30000")).isEqualTo("1");
        lease.renew();
        eventually("the node has renewed it", () -> Long.parseLong(node.command("PTTL", key)) > 30_000);
        lease.close();
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

    private String node() {
        return new KeySpace(options.keyPrefix()).node();
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
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            long asked = Fixture.calls(FiveServers.NODES.get(0), "evalsha");
            Future<FencedLease> lease =
                    thread.submit(() -> locks.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(20)));
            eventually(
                    "it was asked for without success",
                    () -> lease.isDone() || Fixture.calls(FiveServers.NODES.get(0), "evalsha") > asked + 4);
            proxies.get(2).heal();
            lease.get(20, TimeUnit.SECONDS).close();
        } finally {
            thread.shutdownNow();
        }
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
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            long asked = Fixture.calls(FiveServers.NODES.get(0), "evalsha");
            Future<FencedLease> lease =
                    thread.submit(() -> locks.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(20)));
            eventually(
                    "it was asked for without success",
                    () -> lease.isDone() || Fixture.calls(FiveServers.NODES.get(0), "evalsha") > asked + 4);
            proxies.subList(3, 5).forEach(FaultProxy::heal);
            long token = lease.get(20, TimeUnit.SECONDS).token().value();
            assertThat(token).isLessThan(serverMicros(ahead));
        } finally {
            thread.shutdownNow();
        }
    }

    /** Each request costs all nodes a command, so there are pauses; and what becomes free is found. */
    @Test
    void whoeverWaitsAsksFromTimeToTimeAndFindsTheLockFree() throws Exception {
        Locks locks = connect(options, NODE_TIMEOUT);
        awaitThatAllNodesTakePart(locks);
        String key = new KeySpace(options.keyPrefix()).lock(Fixture.fenced(ACCOUNT));
        FiveServers.NODES.forEach(node -> node.command("SET", key, OTHER, "PX", "60000"));
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            long asked = Fixture.calls(FiveServers.NODES.get(0), "evalsha");
            long start = System.nanoTime();
            Future<FencedLease> lease =
                    thread.submit(() -> locks.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(20)));
            eventually(
                    "it was asked for 20 times",
                    () -> lease.isDone() || Fixture.calls(FiveServers.NODES.get(0), "evalsha") >= asked + 20);
            // The pauses are half of 5 to 50 ms at least: whoever asked without any would need a hundredth of this.
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(200));
            FiveServers.NODES.forEach(node -> node.command("DEL", key));
            lease.get(20, TimeUnit.SECONDS).close();
        } finally {
            thread.shutdownNow();
        }
    }

    @Test
    void anEfficiencyLockDoesNotMakeTheCounterOfItsBucketForgotten() throws InterruptedException {
        Locks locks = connect(options, NODE_TIMEOUT);
        String ahead = Long.toString(serverMicros(FiveServers.NODES.get(0)) + 8_000_000);
        String bucket = Integer.toString(new KeySpace(options.keyPrefix()).bucketOf(Fixture.fenced(ACCOUNT)));
        FiveServers.NODES.forEach(node -> node.command("HSET", node(), bucket, ahead));
        locks.fenced(ACCOUNT).acquire().close();
        locks.efficiency(ACCOUNT).tryAcquire().orElseThrow().close();
        eventually("the locks are free at all nodes", () -> taken() == 0);
        // Of the scripts only one that grants asks for these; how often a release is sent depends on who is slow.
        long before = Fixture.calls(FiveServers.NODES.get(0), "hmget");
        locks.fenced(ACCOUNT).acquire().close();
        eventually("node 0 has heard of the round", () -> Fixture.calls(FiveServers.NODES.get(0), "hmget") > before);
        eventually("the lock is free at all nodes", () -> taken() == 0);
        // In one round: nobody else has drawn a number.
        assertThat(Fixture.calls(FiveServers.NODES.get(0), "hmget")).isEqualTo(before + 1);
    }

    /** A lock that is taken at two nodes by one and at two by another has no holder; each gives up what it has. */
    @Test
    void whoGetsNoMajorityGivesUpWhatItHas() {
        FencedLock lock = connect(impatient(), IMPATIENT).fenced(ACCOUNT);
        String key = new KeySpace(options.keyPrefix()).lock(Fixture.fenced(ACCOUNT));
        FiveServers.NODES.subList(0, 3).forEach(node -> node.command("SET", key, OTHER, "PX", "60000"));
        assertThat(lock.tryAcquire()).isEmpty();
        eventually("only the other has anything", () -> taken() == 3);
        assertThatThrownBy(() -> lock.acquireWithin(Duration.ofMillis(50)))
                .isInstanceOf(LockNotAcquiredException.class)
                .hasMessageContaining("reports")
                .hasMessageContaining("elsewhere");
        FiveServers.NODES.get(0).command("DEL", key);
        assertThat(lock.tryAcquire().map(lease -> {
                    lease.close();
                    return true;
                }))
                .contains(true);
        LockName name = LockName.of("account", 43);
        assertThat(FiveServers.taken(options, name)).isZero();
    }
}
