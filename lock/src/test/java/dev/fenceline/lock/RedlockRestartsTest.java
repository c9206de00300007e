package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.eventually;
import static dev.fenceline.lock.Fixture.serverMicros;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.testkit.RedisProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Nodes without persistence that restart or are wiped. */
@Tag("server")
class RedlockRestartsTest {

    private static final Duration LEASE = Duration.ofSeconds(1);

    private final LockOptions options = Fixture.options().lease(LEASE).build();

    /** A node grants again once it has marked itself and the lease has passed. */
    private void awaitDelayOver(RedisProcess node) {
        String key = new KeySpace(options.keyPrefix()).node();
        eventually("the node of port " + node.port() + " has waited for a lease", () -> {
            String boot = node.command("HGET", key, "boot");
            if (boot.isEmpty()) {
                return false;
            }
            String[] parts = boot.split("\\|", -1);
            return serverMicros(node) > Long.parseLong(parts[3]) + LEASE.toMillis() * 1_000;
        });
    }

    /** Three of five forget everything, one after the other and with time between them, and the load goes on. */
    @Test
    void tokensRiseAndHoldsDoNotOverlapWhileNodesAreWipedAndRestarted() throws Exception {
        RedlockConnector redlock = FiveServers.redlock(options);
        List<Long> tokens = new CopyOnWriteArrayList<>();
        AtomicInteger inside = new AtomicInteger();
        CountDownLatch stop = new CountDownLatch(1);
        ExecutorService threads = Executors.newCachedThreadPool();
        try (Locks one = redlock.connect();
                Locks other = redlock.connect()) {
            List<Future<?>> load = new ArrayList<>();
            for (Locks locks : List.of(one, other, one, other)) {
                load.add(threads.submit(() -> {
                    while (stop.getCount() > 0) {
                        try (FencedLease lease = locks.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(10))) {
                            assertThat(inside.incrementAndGet()).isEqualTo(1);
                            tokens.add(lease.token().value());
                            inside.decrementAndGet();
                        }
                    }
                    return null;
                }));
            }
            FiveServers.NODES.get(0).command("FLUSHALL");
            awaitDelayOver(FiveServers.NODES.get(0));
            FiveServers.NODES.get(1).restart();
            awaitDelayOver(FiveServers.NODES.get(1));
            int before = tokens.size();
            FiveServers.NODES.get(2).command("FLUSHALL");
            eventually("grants go on", () -> tokens.size() > before + 20);
            stop.countDown();
            for (Future<?> thread : load) {
                thread.get(20, TimeUnit.SECONDS);
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(tokens).hasSizeGreaterThan(20).isSorted().doesNotHaveDuplicates();
    }

    private void wipeAMajority() {
        FiveServers.NODES.subList(0, 3).forEach(node -> node.command("FLUSHALL"));
    }

    @Test
    void nodesThatForgotALeaseGrantNothingUntilItIsOver() throws InterruptedException {
        RedlockConnector redlock = FiveServers.redlock(options);
        try (Locks one = redlock.connect();
                Locks other = redlock.connect()) {
            FencedLease first = one.fenced(ACCOUNT).acquire();
            wipeAMajority();
            assertThatThrownBy(() -> other.fenced(ACCOUNT).acquireWithin(Duration.ofMillis(50)))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageStartingWith("Lock 'account:42' not acquired: so many nodes of Redlock over Redis at ")
                    .hasMessageContaining(
                            " are new, restarted or lost their data that the others are no majority, and they"
                                    + " grant nothing for another ")
                    .hasMessageContaining("(restartDelay of 1 s)")
                    .hasMessageEndingWith("Nothing is held; wait longer. A new deployment is spared this by"
                            + " RedlockConnector.firstStart(), or `fenceline redlock first-start`, before anybody connects to"
                            + " it.");
            FencedLease second = other.fenced(ACCOUNT).acquireWithin(LEASE.multipliedBy(4));
            assertThat(first.isHeld()).isFalse();
            assertThat(second.token().value()).isGreaterThan(first.token().value());
        }
    }

    /** The control: two processes believe in the lock at once. The token tells them apart. */
    @Test
    void withoutTheDelayNodesThatForgotALeaseGrantItTwice() throws InterruptedException {
        RedlockConnector redlock = FiveServers.redlock(options).withoutRestartDelay();
        try (Locks one = redlock.connect();
                Locks other = redlock.connect()) {
            FencedLease first = one.fenced(ACCOUNT).acquire();
            wipeAMajority();
            FencedLease second = other.fenced(ACCOUNT).acquire();
            assertThat(first.isHeld()).isTrue();
            assertThat(second.isHeld()).isTrue();
            assertThat(second.token().value()).isGreaterThan(first.token().value());
        }
    }

    @Test
    void anEfficiencyLockIsHeldBackAsWell() {
        RedlockConnector redlock = FiveServers.redlock(options);
        try (Locks locks = redlock.connect()) {
            locks.efficiency(ACCOUNT).tryAcquire().orElseThrow().close();
            wipeAMajority();
            assertThatThrownBy(() -> locks.efficiency(ACCOUNT).tryAcquire())
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("(restartDelay of 1 s)");
        }
    }

    @Test
    void aDeploymentThatNobodyMarkedAsNewWaitsOnce() throws InterruptedException {
        LockOptions fresh = Fixture.options().lease(Duration.ofMillis(500)).build();
        try (Locks locks = Redlock.of(FiveServers.uris())
                .options(fresh)
                .nodeTimeout(Duration.ofMillis(125))
                .connect()) {
            assertThatThrownBy(() -> Redlock.of(FiveServers.uris(FiveServers.NODES.subList(0, 3)))
                            .options(Fixture.options()
                                    .lease(Duration.ofSeconds(30))
                                    .build())
                            .connect()
                            .fenced(ACCOUNT)
                            .acquireWithin(Duration.ZERO))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("(restartDelay of 30 s)");
            locks.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(10)).close();
            assertThat(locks.fenced(ACCOUNT).tryAcquire().map(lease -> {
                        lease.close();
                        return true;
                    }))
                    .contains(true);
        }
    }
}
