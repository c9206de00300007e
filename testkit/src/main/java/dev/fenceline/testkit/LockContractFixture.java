package dev.fenceline.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.Lease;
import dev.fenceline.LeaseLostException;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;

/** What the rules of {@link LockContract} need: connections that are closed after each test, and leases that end. */
abstract class LockContractFixture {

    private final String prefix = "contract-" + UUID.randomUUID();
    final LockName name = LockName.of("contract", 1);
    private final Deque<Locks> open = new ArrayDeque<>();
    private Optional<Locks> probing = Optional.empty();

    /**
     * Connects to the lock service, as another process would.
     *
     * @param options to be taken as they are; connections with the same key prefix see the same locks
     * @return new locks, which the contract closes
     */
    protected abstract Locks connect(LockOptions options);

    /** How long a thing that must happen may take: long enough for a machine that is busy with other things. */
    Duration limit() {
        return Duration.ofSeconds(20);
    }

    final LockOptions.Builder options(String application) {
        // No test here exchanges masters, so a fresh server need not wait before its first grant.
        return LockOptions.builder()
                .keyPrefix(prefix)
                .masterClockSkew(Duration.ZERO)
                .application(application)
                .listener(event -> {});
    }

    final Locks locks(LockOptions.Builder options) {
        Locks locks = connect(options.build());
        open.push(locks);
        return locks;
    }

    final Locks locks(String application) {
        return locks(options(application));
    }

    /** Locks whose leases soon end by themselves: renewal ends with the first lease. */
    final Locks shortLived(String application) {
        Duration lease = Duration.ofMillis(500);
        return locks(options(application).lease(lease).maxHold(lease));
    }

    @AfterEach
    void closeAll() {
        open.forEach(Locks::close);
    }

    final LockOptions.Builder patient(String application) {
        return options(application).maxWait(limit());
    }

    final LeaseLostException awaitLost(Lease lease, AtomicInteger calls) throws InterruptedException {
        List<LeaseLostException> heard = new ArrayList<>();
        CountDownLatch lost = new CountDownLatch(1);
        lease.onLost(e -> {
            heard.add(e);
            calls.incrementAndGet();
            lost.countDown();
        });
        assertThat(lost.await(limit().toMillis(), TimeUnit.MILLISECONDS))
                .as("the lease is lost when its time has passed")
                .isTrue();
        return heard.get(0);
    }

    /** Far less than a lease: a grant that was left behind would last ten seconds. */
    final void assertFreeSoon(LockName free) {
        Locks next = probing.orElseGet(() -> locks("next"));
        probing = Optional.of(next);
        Polling.until(
                "lock '" + free + "' is free",
                Duration.ofSeconds(3),
                () -> next.fenced(free)
                        .tryAcquire()
                        .map(lease -> {
                            lease.close();
                            return true;
                        })
                        .orElse(false));
    }
}
