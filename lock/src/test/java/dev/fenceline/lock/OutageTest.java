package dev.fenceline.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.EfficiencyLock;
import dev.fenceline.FencelineEvent;
import dev.fenceline.FencelineEvent.OutageBypassed;
import dev.fenceline.Lease;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.WhenUnavailable;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.RedisServer;
import dev.fenceline.testkit.SharedServers;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Jobs while the lock server is down: what was chosen takes effect, and is told. */
@Tag("server")
class OutageTest {

    private static final LockName REPORT = LockName.of("report", "nightly");

    private final RedisServer redis = SharedServers.redis();
    private final FaultProxy proxy = FaultProxy.to(redis.host(), redis.port());
    private final List<FencelineEvent> events = new CopyOnWriteArrayList<>();
    private final LockOptions options = Fixture.options()
            .commandTimeout(Duration.ofMillis(300))
            .listener(events::add)
            .build();
    private final Locks locks = RedisLocks.connect("redis://" + proxy.host() + ":" + proxy.port(), options);
    private final EfficiencyLock lock = locks.efficiency(REPORT);
    private final AtomicInteger runs = new AtomicInteger();

    @BeforeEach
    void takeTheServerAway() {
        proxy.refuse();
        assertThatThrownBy(lock::tryAcquire).isInstanceOf(BackendUnavailableException.class);
        events.clear();
    }

    @AfterEach
    void close() {
        proxy.heal();
        locks.close();
        proxy.close();
    }

    @Test
    void theWorkFailsUnlessSomethingElseWasChosen() {
        assertThatThrownBy(() -> lock.tryRun(lease -> runs.incrementAndGet()))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("Lock 'report:nightly' not acquired");
        assertThatThrownBy(() -> lock.whenUnavailable(WhenUnavailable.FAIL).tryRun(lease -> runs.incrementAndGet()))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("Lock 'report:nightly' not acquired");
        assertThat(runs).hasValue(0);
        assertThat(bypassed()).isEmpty();
    }

    @Test
    void theWorkIsSkippedIfThatWasChosenAndThisIsTold() {
        var jobs = lock.whenUnavailable(WhenUnavailable.SKIP);
        assertThat(jobs.tryRun(lease -> runs.incrementAndGet())).isFalse();
        assertThat(jobs.<Integer, RuntimeException>tryCall(lease -> runs.incrementAndGet()))
                .isEmpty();
        assertThat(runs).hasValue(0);
        assertThat(bypassed()).hasSize(2).allSatisfy(told -> {
            assertThat(told.lock()).isEqualTo(REPORT);
            assertThat(told.choice()).isEqualTo(WhenUnavailable.SKIP);
            assertThat(told.cause()).isInstanceOf(BackendUnavailableException.class);
        });
    }

    @Test
    void theWorkRunsWithoutALeaseIfThatWasChosenAndThisIsToldBeforeItBegins() {
        Optional<Optional<Lease>> result = lock.whenUnavailable(WhenUnavailable.RUN_ANYWAY)
                .tryCall(lease -> {
                    assertThat(bypassed()).hasSize(1);
                    return lease;
                });
        assertThat(result).contains(Optional.empty());
        assertThat(bypassed())
                .singleElement()
                .satisfies(told -> assertThat(told.choice()).isEqualTo(WhenUnavailable.RUN_ANYWAY));
    }

    @Test
    void whatWorkWithoutALeaseThrowsComesOutAsItIs() {
        IOException thrown = new IOException("disk full");
        assertThatThrownBy(
                        () -> lock.whenUnavailable(WhenUnavailable.RUN_ANYWAY).tryRun(lease -> {
                            throw thrown;
                        }))
                .isSameAs(thrown);
    }

    @Test
    void theChoiceEndsWithTheOutage() {
        proxy.heal();
        Fixture.eventually(
                "the server is back",
                () -> lock.whenUnavailable(WhenUnavailable.SKIP)
                        .tryRun(lease -> lease.orElseThrow().requireHeld()));
    }

    @ParameterizedTest
    @EnumSource
    void anExceptionOfTheWorkIsNeverTakenForAnOutage(WhenUnavailable choice) {
        theChoiceEndsWithTheOutage();
        events.clear();
        BackendUnavailableException thrown = new BackendUnavailableException("of another service", null);
        assertThatThrownBy(() -> lock.whenUnavailable(choice).tryRun(lease -> {
                    runs.incrementAndGet();
                    throw thrown;
                }))
                .isSameAs(thrown);
        assertThat(runs).hasValue(1);
        assertThat(bypassed()).isEmpty();
    }

    @Test
    void aServerThatRefusesUsForItsSettingsIsNoOutage() {
        proxy.heal();
        String user = "jobs-" + options.keyPrefix();
        redis.command("ACL", "SETUSER", user, "on", ">secret", "allcommands", "allkeys", "allchannels");
        String uri = "redis://" + user + ":secret@" + redis.host() + ":" + redis.port();
        try (Locks limited = RedisLocks.connect(uri, options)) {
            redis.command("ACL", "SETUSER", user, "resetkeys");
            assertThatThrownBy(() -> limited.efficiency(REPORT)
                            .whenUnavailable(WhenUnavailable.RUN_ANYWAY)
                            .tryRun(lease -> runs.incrementAndGet()))
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessageContaining("restore the grants of this user");
            assertThat(runs).hasValue(0);
        } finally {
            redis.command("ACL", "DELUSER", user);
        }
    }

    private List<OutageBypassed> bypassed() {
        return events.stream()
                .filter(OutageBypassed.class::isInstance)
                .map(OutageBypassed.class::cast)
                .toList();
    }
}
