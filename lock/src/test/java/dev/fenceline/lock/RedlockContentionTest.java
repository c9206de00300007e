package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.eventually;
import static dev.fenceline.lock.Fixture.serverMicros;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencedLease;
import dev.fenceline.FencedLock;
import dev.fenceline.LockNotAcquiredException;
import dev.fenceline.Locks;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What others ask for at the same nodes. */
@Tag("server")
class RedlockContentionTest extends RedlockThroughProxies {

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

    /** Two nodes are left where somebody else has three: no majority, and what was granted by two is given up. */
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
        eventually("only the other has anything", () -> taken() == 2);
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
}
