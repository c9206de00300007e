package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.eventually;
import static dev.fenceline.lock.Fixture.fenced;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.fenceline.FencedLease;
import dev.fenceline.FencelineEvent;
import dev.fenceline.FencelineListener;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.testkit.RedisServer;
import dev.fenceline.testkit.SharedServers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Code of users that runs in the background, and how little it can harm. */
@Tag("server")
class NoticesTest {

    private static final Duration LEASE = Duration.ofMillis(600);

    private final RedisServer redis = SharedServers.redis();
    private final List<FencelineEvent> events = new CopyOnWriteArrayList<>();
    private final LockOptions.Builder builder = Fixture.options().lease(LEASE).listener(events::add);

    @Test
    void aListenerThatDoesNotReturnCostsNoLease() throws InterruptedException {
        CountDownLatch told = new CountDownLatch(1);
        CountDownLatch returns = new CountDownLatch(1);
        LockOptions options = builder.listener(event -> {
                    events.add(event);
                    if (event instanceof FencelineEvent.LeaseRenewed) {
                        told.countDown();
                        passed(returns);
                    }
                })
                .build();
        try (Locks locks = RedisLocks.connect(redis.uri(), options);
                FencedLease first = locks.fenced(ACCOUNT).acquire();
                FencedLease second = locks.fenced(LockName.of("account", 7)).acquire()) {
            passed(told);
            long start = System.nanoTime();
            await("twice the lease is over")
                    .atMost(Duration.ofSeconds(5))
                    .until(() -> System.nanoTime() - start > 2 * LEASE.toNanos());
            first.requireHeld();
            second.requireHeld();
            long renewed = renewals();
            assertThat(renewed).isEqualTo(1);
            returns.countDown();
            eventually("what happened meanwhile is told", () -> renewals() >= 4);
        } finally {
            returns.countDown();
        }
    }

    @Test
    void closingTheLocksEndsAListenerThatDoesNotReturnByAnInterrupt() throws InterruptedException {
        CountDownLatch told = new CountDownLatch(1);
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        LockOptions options = builder.build();
        Locks locks = RedisLocks.connect(redis.uri(), options);
        FencedLease lease = locks.fenced(ACCOUNT).acquire();
        lease.onLost(thrown -> {
            told.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                interrupted.complete(true);
            }
        });
        redis.command("DEL", new KeySpace(options.keyPrefix()).lock(fenced(ACCOUNT)));
        passed(told);
        long start = System.nanoTime();
        locks.close();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(options.commandTimeout());
        assertThat(interrupted).succeedsWithin(Duration.ofSeconds(5));
    }

    @Test
    void noticesThatNobodyTakesAreBoundedAndToldOnce() throws InterruptedException {
        CountDownLatch returns = new CountDownLatch(1);
        AtomicInteger ran = new AtomicInteger();
        List<Throwable> reported = new CopyOnWriteArrayList<>();
        Notices notices = new Notices(FencelineListener.none());
        Thread teller = new Thread(() -> {
            notices.run(() -> passed(returns));
            for (int i = 0; i < 2 * Notices.MOST_WAITING; i++) {
                notices.run(ran::incrementAndGet);
            }
        });
        teller.setUncaughtExceptionHandler((thread, thrown) -> reported.add(thrown));
        teller.start();
        teller.join(10_000);
        returns.countDown();
        notices.close(Duration.ofSeconds(10));
        assertThat(ran.get()).isBetween(Notices.MOST_WAITING - 1, Notices.MOST_WAITING);
        assertThat(reported)
                .singleElement()
                .isInstanceOf(IllegalStateException.class)
                .extracting(Throwable::getMessage)
                .asString()
                .contains("10000 notices wait")
                .contains("leases are renewed as before");
    }

    private long renewals() {
        return events.stream()
                .filter(FencelineEvent.LeaseRenewed.class::isInstance)
                .count();
    }

    private static void passed(CountDownLatch latch) {
        try {
            assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
