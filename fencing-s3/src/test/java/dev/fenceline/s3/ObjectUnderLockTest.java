package dev.fenceline.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencedLease;
import dev.fenceline.FencedLock;
import dev.fenceline.FencelineListener;
import dev.fenceline.FencingToken;
import dev.fenceline.LeaseLostException;
import dev.fenceline.LockNotAcquiredException;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.StaleTokenException;
import dev.fenceline.UnfencedWriteException;
import dev.fenceline.lock.RedisLocks;
import dev.fenceline.testkit.S3FaultProxy;
import dev.fenceline.testkit.S3Request;
import dev.fenceline.testkit.SharedServers;
import java.io.IOException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.s3.S3Client;

@Tag("server")
class ObjectUnderLockTest {

    static TestStore store;
    static Locks locks;

    String key;
    EnvelopeFence fence;
    FencedLock lock;

    @BeforeAll
    static void create() {
        store = TestStore.fresh();
        locks = RedisLocks.connect(
                SharedServers.redis().uri(),
                LockOptions.builder()
                        .masterClockSkew(Duration.ZERO)
                        .listener(FencelineListener.none())
                        .build());
    }

    @AfterAll
    static void close() {
        locks.close();
    }

    @BeforeEach
    void fence() {
        key = TestStore.freshKey();
        fence = store.envelope();
        lock = locks.fenced(TestStore.lock(key));
    }

    private void assertFree() {
        try (FencedLease free = lock.tryAcquire().orElseThrow(() -> new AssertionError("still held"))) {
            assertThat(free.isHeld()).isTrue();
        }
    }

    @Test
    void workReadsAndWritesUnderTheLockAndTheLockIsReleased() throws Exception {
        fence.under(lock, key).run(report -> report.write(S3Body.of("1")));
        String seen = fence.under(lock, key).waitAtMost(Duration.ofSeconds(5)).call(report -> {
            assertThat(lock.tryAcquire()).as("held meanwhile").isEmpty();
            String text = report.read().orElseThrow().text();
            report.write(S3Body.of(text + "2"));
            return text;
        });
        assertThat(seen).isEqualTo("1");
        assertThat(fence.read(key).orElseThrow().text()).isEqualTo("12");
        assertFree();
    }

    @Test
    void theUsersExceptionComesOutAsItIsAndTheLockIsReleased() {
        IOException own = new IOException("own");
        assertThatThrownBy(() -> fence.under(lock, key).run(report -> {
                    report.write(S3Body.of("before it"));
                    throw own;
                }))
                .isSameAs(own);
        assertThat(fence.read(key).orElseThrow().text())
                .as("each write is by itself")
                .isEqualTo("before it");
        assertFree();
    }

    @Test
    void aLeakedClaimIsRefused() throws Exception {
        AtomicReference<EnvelopeClaim> leaked = new AtomicReference<>();
        fence.under(lock, key).run(leaked::set);
        assertThatThrownBy(() -> leaked.get().write(S3Body.of("late")))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageStartingWith(
                        "Write on " + store.resource(key) + " refused: the work that this claim was made for");
        assertThatThrownBy(() -> leaked.get().read()).isInstanceOf(UnfencedWriteException.class);
        assertThat(fence.read(key)).isEmpty();
    }

    @Test
    void aSwallowedRefusalIsThrownAgainAndTheNextGrantPassesTheMark() throws Exception {
        FencingToken[] newer = new FencingToken[1];
        assertThatThrownBy(() -> fence.under(lock, key).run(report -> {
                    newer[0] = new FencingToken(
                            lock.name(), report.token().value() + TimeUnit.MINUTES.toMicros(5), UUID.randomUUID());
                    fence.claim(newer[0], key);
                    try {
                        report.write(S3Body.of("late"));
                    } catch (StaleTokenException swallowed) {
                        assertThat(swallowed.newest()).isEqualTo(newer[0]);
                    }
                }))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageStartingWith("Work on " + store.resource(key));
        assertFree();
        fence.under(lock, key).run(report -> {
            assertThat(report.token().value()).isGreaterThan(newer[0].value());
            report.write(S3Body.of("next"));
        });
        assertThat(fence.read(key).orElseThrow().text()).isEqualTo("next");
    }

    @Test
    void aLostLeaseEndsNoClaimButMakesNone() throws Exception {
        FencedLease lease = lock.acquire();
        EnvelopeClaim claim = fence.claim(lease, key);
        lease.close();
        claim.write(S3Body.of("the fence decides"));
        assertThat(fence.read(key).orElseThrow().text()).isEqualTo("the fence decides");
        assertThatThrownBy(() -> fence.claim(lease, key)).isInstanceOf(LeaseLostException.class);
    }

    @Test
    void aClaimWhoseLeaseEndsWhileItLooksIsNotSent() throws Exception {
        FencedLease lease = lock.acquire();
        try (S3FaultProxy proxy = S3FaultProxy.to(SharedServers.s3());
                S3Client slow = TestStore.client(SharedServers.s3(), proxy.endpoint(), TestStore::withoutRetries)) {
            S3FaultProxy.Armed look = proxy.on("GET", key).holdRequest();
            Thread closer = new Thread(() -> {
                look.awaitFired(Duration.ofSeconds(30));
                lease.close();
                look.letGo();
            });
            closer.start();
            assertThatThrownBy(() -> store.by(slow).envelope().claim(lease, key))
                    .isInstanceOf(LeaseLostException.class);
            closer.join();
            assertThat(proxy.requests()).extracting(S3Request::method).containsExactly("GET");
        }
        assertThat(S3Fence.reader(store.client, store.bucket).mark(key)).isEmpty();
    }

    @Test
    void theWaitForTheLockIsLimitedAndChecked() throws Exception {
        UnderLock<EnvelopeClaim> under = fence.under(lock, key);
        for (Duration wrong : java.util.List.of(Duration.ofMillis(-1), Duration.ofDays(367))) {
            assertThatThrownBy(() -> under.waitAtMost(wrong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("waitAtMost of " + wrong.toMillis()
                            + " ms is not between zero, which tries once, and 366 days.");
        }
        try (FencedLease held = lock.acquire()) {
            assertThatThrownBy(() -> under.waitAtMost(Duration.ZERO).run(report -> report.write(S3Body.of("never"))))
                    .isInstanceOf(LockNotAcquiredException.class);
            assertThat(held.isHeld()).isTrue();
        }
        assertThat(fence.read(key)).isEmpty();
    }
}
