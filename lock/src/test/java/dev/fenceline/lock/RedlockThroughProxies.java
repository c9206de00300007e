package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.eventually;

import dev.fenceline.Lease;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.testkit.FaultProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;

/** For tests of Redlock over the five servers, each behind a proxy, which does no harm when a test begins. */
abstract class RedlockThroughProxies {

    /** So long that whoever waited for a silent node, or for the end of a lease, would be seen. */
    static final Duration NODE_TIMEOUT = Duration.ofSeconds(4);

    /** Where nodes are waited for in vain; the others have to answer in this time. */
    static final Duration IMPATIENT = Duration.ofMillis(800);

    static final Duration LEASE = Duration.ofSeconds(60);

    /** What lies under a lock that somebody else has. */
    static final String OTHER = "0123456789abcdef0123456789abcdef|7|1700000000000000|17|elsewhere|reports";

    final LockOptions options = Fixture.options()
            .lease(LEASE)
            .commandTimeout(Duration.ofSeconds(10))
            .build();
    final List<FaultProxy> proxies = FiveServers.NODES.stream()
            .map(node -> FaultProxy.to(node.host(), node.port()))
            .toList();
    final List<Locks> open = new ArrayList<>();

    @AfterEach
    void close() {
        proxies.forEach(FaultProxy::heal);
        open.forEach(Locks::close);
        proxies.forEach(FaultProxy::close);
    }

    Locks connect(LockOptions with, Duration nodeTimeout) {
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

    LockOptions impatient() {
        return Fixture.options()
                .keyPrefix(options.keyPrefix())
                .lease(LEASE)
                .commandTimeout(IMPATIENT.multipliedBy(2))
                .build();
    }

    long taken() {
        return FiveServers.taken(options, ACCOUNT);
    }

    void awaitThatAllNodesTakePart(Locks locks) {
        LockName other = LockName.of("account", 43);
        eventually("all nodes take part", () -> {
            try (Lease lease = locks.fenced(other).acquire()) {
                return lease.isHeld() && FiveServers.taken(options, other) == 5;
            }
        });
    }

    String node() {
        return new KeySpace(options.keyPrefix()).node();
    }
}
