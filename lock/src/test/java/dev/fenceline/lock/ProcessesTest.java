package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.awaitFree;
import static dev.fenceline.lock.Fixture.fenced;
import static dev.fenceline.lock.Fixture.value;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencedLease;
import dev.fenceline.LockNotAcquiredException;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.testkit.ChildJvm;
import dev.fenceline.testkit.RedisServer;
import dev.fenceline.testkit.SharedServers;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Locks between real processes that end and sleep. */
@Tag("server")
class ProcessesTest {

    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final RedisServer redis = SharedServers.redis();
    private final LockOptions options = Fixture.options().build();

    @Test
    void aProcessThatIsToldToEndFreesItsLock() {
        try (ChildJvm child = start(Duration.ofMinutes(10))) {
            child.awaitLine("held ", LIMIT);
            assertThat(value(redis, options, fenced(ACCOUNT))).contains("|" + child.pid() + "|");
            child.terminate();
            assertThat(child.awaitExit(LIMIT)).isEqualTo(128 + 15);
            awaitFree(redis, options, ACCOUNT, Duration.ofMillis(500));
        }
    }

    @Test
    void aProcessThatExitsFreesItsLock() {
        try (ChildJvm child = start(Duration.ofMinutes(10))) {
            child.awaitLine("held ", LIMIT);
            child.send("exit");
            assertThat(child.awaitExit(LIMIT)).isZero();
            awaitFree(redis, options, ACCOUNT, Duration.ofMillis(500));
        }
    }

    @Test
    void aProcessThatSleepsThroughItsLeaseWakesUpWithoutIt() throws InterruptedException {
        Duration lease = Duration.ofSeconds(1);
        try (ChildJvm child = start(lease);
                Locks locks = RedisLocks.connect(redis.uri(), options)) {
            long token = Long.parseLong(child.awaitLine("held ", LIMIT).substring(5));
            assertThatThrownBy(() -> locks.fenced(ACCOUNT).acquireWithin(lease.multipliedBy(2)))
                    .as("a process that is awake renews")
                    .isInstanceOf(LockNotAcquiredException.class)
                    .hasMessageContaining("held by holder (host ")
                    .hasMessageContaining("pid " + child.pid());
            child.pause();
            assertThat(child.state()).isEqualTo('T');
            try (FencedLease taken = locks.fenced(ACCOUNT).acquireWithin(LIMIT)) {
                assertThat(taken.token().value()).isGreaterThan(token);
                child.resume();
                child.send("check");
                assertThat(child.awaitLine("checked ", LIMIT))
                        .contains("The lease of 'account:42', acquired ")
                        .contains("is over: it was not renewed in time");
                assertThat(value(redis, options, fenced(ACCOUNT)))
                        .as("the sleeper takes nothing back")
                        .startsWith(LockValue.hex(taken.token().holder()));
            }
        }
    }

    private ChildJvm start(Duration lease) {
        return ChildJvm.start(Holder.class, redis.uri(), options.keyPrefix(), Long.toString(lease.toMillis()));
    }

    /** Stopped while it waits: it is offered the lock all the same, and the next in line does not wait for it to wake up. */
    @Test
    void aProcessThatSleepsInTheQueueHoldsNobodyUp() throws Exception {
        try (Locks locks = RedisLocks.connect(redis.uri(), options);
                Locks others = RedisLocks.connect(redis.uri(), options);
                ChildJvm sleeper = ChildJvm.start(
                        QueuingProcess.class, redis.uri(), options.keyPrefix(), "10000", "1", "1", "1")) {
            sleeper.awaitLine("ready", LIMIT);
            FencedLease held = locks.fenced(ACCOUNT).acquire();
            sleeper.send("go");
            KeySpace keys = new KeySpace(options.keyPrefix());
            Fixture.eventually(
                    "it waits at the server",
                    () -> redis.command("ZCARD", keys.queue(fenced(ACCOUNT))).equals("1"));
            sleeper.pause();
            assertThat(sleeper.state()).isEqualTo('T');
            WaitingThread<FencedLease> next =
                    WaitingThread.start(() -> others.fenced(ACCOUNT).acquireWithin(LIMIT));
            Fixture.eventually(
                    "the next in line waits too",
                    () -> redis.command("ZCARD", keys.queue(fenced(ACCOUNT))).equals("2"));
            held.close();
            FencedLease taken = next.result();
            assertThat(sleeper.state()).isEqualTo('T');
            sleeper.resume();
            Fixture.eventually(
                    "it hears of the offer too late, and waits again",
                    () -> redis.command("ZCARD", keys.queue(fenced(ACCOUNT))).equals("1"));
            assertThat(value(redis, options, fenced(ACCOUNT)))
                    .startsWith(LockValue.hex(taken.token().holder()));
            taken.renew();
            taken.close();
            assertThat(QueuingProcess.Turn.parse(sleeper.awaitLine("turn ", LIMIT))
                            .token())
                    .isGreaterThan(taken.token().value());
        }
    }
}
