package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.refusedUntilItSays;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.FencedLock;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.Servers;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A server that forgets its locks grants them twice, unless it grants nothing until those leases are over. */
@Tag("server")
class RestartDelayTest {

    private static final EmbeddedServers SERVERS = Servers.embedded();
    private static final Duration LEASE = Duration.ofSeconds(3);

    @AfterAll
    static void stopServers() {
        SERVERS.close();
    }

    private static LockOptions options(Duration delay) {
        return Fixture.options().lease(LEASE).restartDelay(delay).build();
    }

    /** The control: two processes believe in the lock at once. */
    @Test
    void withoutADelayAServerThatForgetsALockGrantsItTwice() throws InterruptedException {
        RedisProcess redis = SERVERS.redis(RedisSpec.master());
        LockOptions options = options(Duration.ZERO);
        try (Locks one = RedisLocks.connect(redis.uri(), options);
                Locks other = RedisLocks.connect(redis.uri(), options)) {
            FencedLease first = one.fenced(ACCOUNT).acquire();
            redis.command("FLUSHALL");
            FencedLease second = other.fenced(ACCOUNT).acquire();
            assertThat(first.isHeld()).isTrue();
            assertThat(second.isHeld()).isTrue();
            assertThat(second.token().value()).isGreaterThan(first.token().value());
        }
    }

    @Test
    void withADelayOfOneLeaseTheFirstOneIsOverBefore() throws InterruptedException {
        RedisProcess redis = SERVERS.redis(RedisSpec.master());
        LockOptions options = options(LEASE);
        try (Locks one = RedisLocks.connect(redis.uri(), options);
                Locks other = RedisLocks.connect(redis.uri(), options)) {
            FencedLease first = one.fenced(ACCOUNT).acquireWithin(LEASE.multipliedBy(3));
            redis.command("FLUSHALL");
            FencedLock lock = other.fenced(ACCOUNT);
            assertThatThrownBy(() -> lock.acquireWithin(Duration.ofMillis(100)))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("Lock 'account:42' not acquired")
                    .hasMessageContaining(
                            "restarted, was promoted, lost its data or was given this slot, and grants nothing for another ")
                    .hasMessageContaining("(restartDelay of 3 s)");
            FencedLease second = lock.acquireWithin(LEASE.multipliedBy(3));
            assertThat(first.isHeld()).isFalse();
            assertThat(second.token().value()).isGreaterThan(first.token().value());
        }
    }

    /** A restart with all data: the client knows since when this server is another, so each counter need not wait anew. */
    @Test
    void aRestartIsWaitedForOnceAndNotForEachName() throws InterruptedException {
        RedisProcess redis = SERVERS.redis(RedisSpec.master().persistent());
        LockOptions options = options(LEASE);
        LockName other = LockName.of("order", 7);
        try (Locks locks = RedisLocks.connect(redis.uri(), options)) {
            locks.fenced(ACCOUNT).acquireWithin(LEASE.multipliedBy(3)).close();
            locks.fenced(other).acquireWithin(LEASE.multipliedBy(3)).close();
            redis.restart();
            refusedUntilItSays(locks.fenced(ACCOUNT), "restartDelay");
            locks.fenced(ACCOUNT).acquireWithin(LEASE.multipliedBy(3)).close();
            assertThat(locks.fenced(other).tryAcquire()).isPresent();
        }
    }
}
