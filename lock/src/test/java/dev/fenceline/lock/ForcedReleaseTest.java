package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.eventually;
import static dev.fenceline.lock.Fixture.fenced;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.Lease;
import dev.fenceline.LeaseLostException;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.lock.LockState.Status;
import dev.fenceline.lock.LockTransport.AcquireReply.Granted;
import dev.fenceline.testkit.ChildJvm;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.RedisServer;
import dev.fenceline.testkit.SharedServers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A lock is taken from a holder that will not give it back. */
@Tag("server")
class ForcedReleaseTest {

    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final LockName REPORT = LockName.of("report", "nightly");

    private final RedisServer redis = SharedServers.redis();
    private final LockOptions options =
            Fixture.options().lease(Duration.ofSeconds(2)).build();
    private final KeySpace keys = new KeySpace(options.keyPrefix());
    private LockInspector inspector;

    @BeforeEach
    void connect() {
        inspector = LockInspector.connect(redis.uri(), options);
    }

    @AfterEach
    void disconnect() {
        inspector.close();
    }

    private LockState seen() {
        return inspector.find(LockKind.FENCED, ACCOUNT).orElseThrow();
    }

    @Test
    void theHolderLearnsOfItAndTheNextTokenIsHigher() throws Exception {
        try (Locks locks = RedisLocks.connect(redis.uri(), options);
                Locks others = RedisLocks.connect(redis.uri(), options)) {
            FencedLease lease = locks.fenced(ACCOUNT).acquire();
            CompletableFuture<LeaseLostException> lost = new CompletableFuture<>();
            lease.onLost(lost::complete);
            assertThat(inspector.forceRelease(seen())).isEqualTo(ForcedRelease.RELEASED);
            assertThat(inspector.find(LockKind.FENCED, ACCOUNT)).isEmpty();
            try (FencedLease next = others.fenced(ACCOUNT).tryAcquire().orElseThrow()) {
                assertThat(next.token().value()).isGreaterThan(lease.token().value());
                assertThat(lost.get(10, TimeUnit.SECONDS).reason()).isEqualTo(LeaseLostException.Reason.REFUSED);
                assertThatThrownBy(lease::requireHeld).isInstanceOf(LeaseLostException.class);
                lease.close();
                assertThat(next.isHeld()).isTrue();
                assertThat(seen().token())
                        .as("the old holder took nothing back")
                        .contains(next.token());
            }
        }
    }

    @Test
    void aHolderInAnotherProcessLearnsOfItAndAWaiterIsHandedTheLockAtOnce() throws Exception {
        try (ChildJvm holder = ChildJvm.start(Holder.class, redis.uri(), options.keyPrefix(), "60000");
                Locks locks = RedisLocks.connect(redis.uri(), options)) {
            long token = Long.parseLong(holder.awaitLine("held ", LIMIT).substring(5));
            CompletableFuture<FencedLease> waiter = locks.fenced(ACCOUNT).acquireAsync(LIMIT);
            eventually("it waits in the queue", () -> seen().waiting() == 1);
            LockState seen = seen();
            assertThat(seen.process()).hasValueSatisfying(process -> {
                assertThat(process.application()).isEqualTo("holder");
                assertThat(process.pid()).isEqualTo(holder.pid());
            });
            holder.pause();
            assertThat(holder.state()).as("it cannot give it back itself").isEqualTo('T');
            assertThat(inspector.forceRelease(seen)).isEqualTo(ForcedRelease.RELEASED);
            // Its lease would last for a minute: the lock was handed over.
            try (FencedLease next = waiter.get(10, TimeUnit.SECONDS)) {
                assertThat(next.token().value()).isGreaterThan(token);
                assertThat(holder.state()).isEqualTo('T');
                holder.resume();
                holder.send("check");
                assertThat(holder.awaitLine("checked ", LIMIT)).isEqualTo("checked held");
                assertThat(next.isHeld())
                        .as("it believes in its lease, and has no lock")
                        .isTrue();
            }
        }
    }

    @Test
    void aHolderInAnotherProcessFindsItsLeaseLostAtItsNextRenewal() {
        try (ChildJvm holder = ChildJvm.start(Holder.class, redis.uri(), options.keyPrefix(), "1000")) {
            holder.awaitLine("held ", LIMIT);
            assertThat(inspector.forceRelease(seen())).isEqualTo(ForcedRelease.RELEASED);
            assertThat(holder.awaitLine("lost ", LIMIT)).isEqualTo("lost REFUSED");
        }
    }

    @Test
    void whatCameAfterTheLookIsLeftAsItIs() throws Exception {
        try (Locks locks = RedisLocks.connect(redis.uri(), options)) {
            FencedLease first = locks.fenced(ACCOUNT).acquire();
            LockState old = seen();
            first.close();
            assertThat(inspector.forceRelease(old)).isEqualTo(ForcedRelease.FREE);
            try (FencedLease second = locks.fenced(ACCOUNT).acquire()) {
                assertThat(second.token().holder()).isNotEqualTo(first.token().holder());
                assertThat(inspector.forceRelease(old)).isEqualTo(ForcedRelease.CHANGED);
                second.renew();
                assertThat(seen().token()).contains(second.token());
            }
            assertThat(inspector.forceRelease(old)).isEqualTo(ForcedRelease.FREE);
            assertThat(redis.command("EXISTS", keys.lock(fenced(ACCOUNT)))).isEqualTo("0");
        }
    }

    /** The control: what an operator types who has read the name of the key. */
    @Test
    void deletingTheKeyLosesAnotherHoldersLockAndServesNobodyWhoWaits() throws Exception {
        try (WaitingClient first = new WaitingClient(redis, options, fenced(ACCOUNT));
                WaitingClient second = new WaitingClient(redis, options, fenced(ACCOUNT));
                WaitingClient third = new WaitingClient(redis, options, fenced(ACCOUNT))) {
            eventually("it is granted", () -> first.ask() instanceof Granted);
            LockState old = seen();
            first.release();
            eventually("the second one has it", () -> second.ask() instanceof Granted);
            third.ask();
            redis.command("DEL", keys.lock(fenced(ACCOUNT)));
            assertThat(inspector.find(LockKind.FENCED, ACCOUNT))
                    .as("the lock of a holder that nobody looked at is gone")
                    .isEmpty();
            assertThat(third.wasOffered()).as("and it was handed to nobody").isFalse();
            assertThat(redis.command("ZCARD", keys.queue(fenced(ACCOUNT)))).isEqualTo("1");
            assertThat(inspector.forceRelease(old)).isEqualTo(ForcedRelease.FREE);
        }
    }

    @Test
    void theFirstInTheQueueIsOfferedTheLockAndTheOthersKeepTheirPlaces() throws Exception {
        try (WaitingClient holder = new WaitingClient(redis, options, fenced(ACCOUNT));
                WaitingClient first = new WaitingClient(redis, options, fenced(ACCOUNT));
                WaitingClient second = new WaitingClient(redis, options, fenced(ACCOUNT))) {
            eventually("it is granted", () -> holder.ask() instanceof Granted);
            first.ask();
            second.ask();
            LockState old = seen();
            assertThat(old.waiting()).isEqualTo(2);
            assertThat(inspector.forceRelease(old)).isEqualTo(ForcedRelease.RELEASED);
            first.awaitOffer();
            LockState now = seen();
            assertThat(now.token()).hasValueSatisfying(token -> {
                assertThat(token.holder()).isEqualTo(first.holder());
                assertThat(token.value())
                        .isGreaterThan(old.token().orElseThrow().value());
            });
            assertThat(now.waiting()).isOne();
            assertThat(second.wasOffered()).isFalse();
            assertThat(second.wasToldToWatch()).isTrue();
            assertThat(first.ask()).isInstanceOf(Granted.class);
            assertThat(holder.ask())
                    .as("the old holder stands in line")
                    .isInstanceOf(LockTransport.AcquireReply.Held.class);
        }
    }

    @Test
    void anEfficiencyLockIsReleasedHeldOrKept() throws InterruptedException {
        try (Locks locks = RedisLocks.connect(redis.uri(), options)) {
            Lease lease =
                    locks.efficiency(REPORT).holdAtLeast(Duration.ofMinutes(1)).acquire();
            LockState held = inspector.find(LockKind.EFFICIENCY, REPORT).orElseThrow();
            lease.close();
            LockState kept = inspector.find(LockKind.EFFICIENCY, REPORT).orElseThrow();
            assertThat(kept.status()).isEqualTo(Status.KEPT);
            assertThat(inspector.forceRelease(held)).isEqualTo(ForcedRelease.CHANGED);
            assertThat(inspector.forceRelease(kept)).isEqualTo(ForcedRelease.RELEASED);
            try (Lease next = locks.efficiency(REPORT).tryAcquire().orElseThrow()) {
                assertThat(inspector.forceRelease(
                                inspector.find(LockKind.EFFICIENCY, REPORT).orElseThrow()))
                        .isEqualTo(ForcedRelease.RELEASED);
                assertThatThrownBy(next::renew).isInstanceOf(LeaseLostException.class);
            }
        }
    }

    /** All that are kept have one holder, nobody; the time of the grant tells them apart. */
    @Test
    void ofTwoKeptLocksOfOneNameOnlyTheOneThatWasSeenIsReleased() throws InterruptedException {
        try (Locks locks = RedisLocks.connect(redis.uri(), options)) {
            var lock = locks.efficiency(REPORT).holdAtLeast(Duration.ofMinutes(1));
            lock.acquire().close();
            LockState first = inspector.find(LockKind.EFFICIENCY, REPORT).orElseThrow();
            assertThat(inspector.forceRelease(first)).isEqualTo(ForcedRelease.RELEASED);
            lock.acquire().close();
            LockState second = inspector.find(LockKind.EFFICIENCY, REPORT).orElseThrow();
            assertThat(second.stored().substring(0, 32))
                    .isEqualTo(first.stored().substring(0, 32));
            assertThat(inspector.forceRelease(first)).isEqualTo(ForcedRelease.CHANGED);
            assertThat(inspector.forceRelease(second)).isEqualTo(ForcedRelease.RELEASED);
        }
    }

    @Test
    void whatSomebodyElseWroteThereIsReleasedToo() throws InterruptedException {
        try (Locks locks = RedisLocks.connect(redis.uri(), options)) {
            locks.fenced(ACCOUNT).acquire().close();
            redis.command("SET", keys.lock(fenced(ACCOUNT)), "by hand");
            assertThat(locks.fenced(ACCOUNT).tryAcquire()).isEmpty();
            assertThat(inspector.forceRelease(seen())).isEqualTo(ForcedRelease.RELEASED);
            assertThat(locks.fenced(ACCOUNT).tryAcquire()).hasValueSatisfying(FencedLease::close);
        }
    }

    /** A server that has just lost its data jumps ahead with its tokens: where it may grant nothing, it offers nobody. */
    @Test
    void whereTheTokenRuleSaysWaitTheLockIsFreedAndOfferedToNobody() throws Exception {
        LockOptions careful = LockOptions.builder()
                .keyPrefix(options.keyPrefix())
                .restartDelay(Duration.ofMinutes(10))
                .listener(options.listener())
                .build();
        try (WaitingClient holder = new WaitingClient(redis, options, fenced(ACCOUNT));
                WaitingClient first = new WaitingClient(redis, options, fenced(ACCOUNT));
                LockInspector strict = LockInspector.connect(redis.uri(), careful)) {
            eventually("it is granted", () -> holder.ask() instanceof Granted);
            first.ask();
            assertThat(strict.forceRelease(seen())).isEqualTo(ForcedRelease.RELEASED);
            assertThat(inspector.find(LockKind.FENCED, ACCOUNT)).isEmpty();
            eventually("the first in line is told when to look", first::wasToldToWatch);
            assertThat(first.wasOffered()).isFalse();
        }
    }

    @Test
    void aLostAnswerIsNoRefusalAndAskingAgainIsHarmless() throws InterruptedException {
        try (FaultProxy proxy = FaultProxy.to(redis.host(), redis.port());
                Locks locks = RedisLocks.connect(redis.uri(), options);
                LockInspector behind = LockInspector.connect("redis://" + proxy.host() + ":" + proxy.port(), options)) {
            FencedLease lease = locks.fenced(ACCOUNT).acquire();
            LockState seen = behind.find(LockKind.FENCED, ACCOUNT).orElseThrow();
            redis.command("SCRIPT", "LOAD", Script.FORCE.source());
            proxy.onRequest(Script.FORCE.digest()).loseReply(FaultProxy.Cut.RST);
            assertThatThrownBy(() -> behind.forceRelease(seen))
                    .isInstanceOf(OutcomeUnknownException.class)
                    .hasMessageStartingWith(
                            "Lock 'account:42' was to be taken from its holder, and it may have been or not: ")
                    .hasMessageEndingWith("Look at it again; trying again is fine.");
            eventually("it is connected again", () -> {
                try {
                    return behind.forceRelease(seen) == ForcedRelease.FREE;
                } catch (BackendUnavailableException e) {
                    return false;
                }
            });
            lease.close();
        }
    }
}
