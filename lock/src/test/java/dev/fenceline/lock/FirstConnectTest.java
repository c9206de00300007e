package dev.fenceline.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a program that starts during a failover waits for, and what it does not. */
class FirstConnectTest {

    private final BackendMisconfiguredException replica =
            new BackendMisconfiguredException("a replica", new ReplicaFound());
    private final BackendMisconfiguredException noLogin = new BackendMisconfiguredException("no login", null);
    private final BackendUnavailableException gone = new BackendUnavailableException("gone", null);

    private final AtomicLong nanos = new AtomicLong();
    private final AtomicInteger attempts = new AtomicInteger();
    private final ScheduledThreadPoolExecutor scheduler = new ScheduledThreadPoolExecutor(1);
    private final Notices notices = new Notices(Fixture.options().build().listener());
    private final LockClock clock = new LockClock() {
        @Override
        public long nanoTime() {
            return nanos.get();
        }

        @Override
        public long wallMicros() {
            return 0;
        }
    };

    @AfterEach
    void stop() {
        scheduler.shutdownNow();
        notices.close(Duration.ZERO);
    }

    @Test
    void aReplicaAndAMasterThatIsGoneAreWaitedFor() {
        assertThat(connect(() -> switch (attempts.incrementAndGet()) {
                    case 1 -> CompletableFuture.failedFuture(replica);
                    case 2 -> CompletableFuture.failedFuture(gone);
                    default -> CompletableFuture.completedFuture(null);
                }))
                .succeedsWithin(10, TimeUnit.SECONDS);
        assertThat(attempts).hasValue(3);
    }

    @Test
    void whatIsWrongForGoodIsToldAtOnce() {
        assertThat(connect(() -> {
                    attempts.incrementAndGet();
                    return CompletableFuture.failedFuture(noLogin);
                }))
                .failsWithin(10, TimeUnit.SECONDS)
                .withThrowableOfType(ExecutionException.class)
                .withCause(noLogin);
        assertThat(attempts).hasValue(1);
    }

    @Test
    void afterTheTimeForAFailoverTheLastFailureIsTold() {
        CompletableFuture<Void> connected = connect(() -> {
            attempts.incrementAndGet();
            nanos.addAndGet(FirstConnect.PATIENCE.toNanos() / 2);
            return CompletableFuture.failedFuture(replica);
        });
        assertThatThrownBy(() -> connected.get(10, TimeUnit.SECONDS)).hasCause(replica);
        assertThat(attempts).hasValue(2);
    }

    private CompletableFuture<Void> connect(Supplier<CompletableFuture<Void>> attempt) {
        Context context = Context.of(Fixture.options().build(), clock, scheduler, notices);
        return FirstConnect.patiently(context, attempt, why -> {});
    }
}
