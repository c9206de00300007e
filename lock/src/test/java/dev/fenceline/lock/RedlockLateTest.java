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
import dev.fenceline.Locks;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.RedisProcess;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Requests, answers and releases that come late, or in another order than they were sent in. */
@Tag("server")
class RedlockLateTest extends RedlockThroughProxies {

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
}
