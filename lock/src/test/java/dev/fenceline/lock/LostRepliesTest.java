package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.answer;
import static dev.fenceline.lock.Fixture.awaitFree;
import static dev.fenceline.lock.Fixture.eventually;
import static dev.fenceline.lock.Fixture.fenced;
import static dev.fenceline.lock.Fixture.value;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.FencelineEvent;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.lock.LockTransport.AcquireReply;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.FaultProxy.Armed;
import dev.fenceline.testkit.FaultProxy.Cut;
import dev.fenceline.testkit.RedisServer;
import dev.fenceline.testkit.SharedServers;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Requests and replies that get lost or late. Whatever happens, nobody waits a whole lease for a lock that nobody holds: the
 * lease here is ten seconds, and each lock is free long before.
 */
@Tag("server")
class LostRepliesTest {

    private static final Duration SOON = Duration.ofSeconds(3);
    private static final Duration TIMEOUT = Duration.ofMillis(800);

    /** What a loaded machine may take on top; far less than a lease, for which a wait without its limit would last. */
    private static final Duration ALLOWANCE = Duration.ofSeconds(2);

    private final RedisServer redis = SharedServers.redis();
    private final FaultProxy proxy = FaultProxy.to(redis.host(), redis.port());
    private final String uri = "redis://" + proxy.host() + ":" + proxy.port();
    private final List<FencelineEvent> events = new CopyOnWriteArrayList<>();
    private final LockOptions options =
            Fixture.options().commandTimeout(TIMEOUT).listener(events::add).build();
    private final KeySpace keys = new KeySpace(options.keyPrefix());
    private final Locks locks = RedisLocks.connect(uri, options);

    @BeforeEach
    void makeTheScriptsKnown() throws InterruptedException {
        try (FencedLease lease = locks.fenced(ACCOUNT).acquire()) {
            lease.renew();
        }
        events.clear();
    }

    @AfterEach
    void close() {
        proxy.heal();
        locks.close();
        proxy.close();
    }

    @ParameterizedTest
    @EnumSource(Cut.class)
    void theGrantWhoseReplyWasLostIsFoundAgainWithItsToken(Cut cut) throws InterruptedException {
        Armed fault = onAcquire().loseReply(cut);
        try (FencedLease lease = locks.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(5))) {
            assertThat(fault.fired()).isTrue();
            assertThat(value(redis, options, fenced(ACCOUNT)))
                    .startsWith(LockValue.hex(lease.token().holder()) + "|"
                            + lease.token().value() + "|");
            assertThat(redis.command("GET", keys.counter(fenced(ACCOUNT))))
                    .as("no second token was made")
                    .isEqualTo(Long.toString(lease.token().value()));
        }
        assertThat(value(redis, options, fenced(ACCOUNT))).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Cut.class)
    void aSingleTryWhoseReplyWasLostTakesTheGrantBack(Cut cut) {
        Armed fault = onAcquire().loseReply(cut);
        assertThatThrownBy(() -> locks.fenced(ACCOUNT).tryAcquire())
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("Lock 'account:42' not acquired: the connection to Redis at ")
                .hasMessageContaining("was lost")
                .hasMessageContaining("a release was sent in case it was granted");
        assertThat(fault.fired()).isTrue();
        awaitFree(redis, options, ACCOUNT, SOON);
    }

    @ParameterizedTest
    @EnumSource(Cut.class)
    void aRequestThatWasLostIsSentAgain(Cut cut) throws InterruptedException {
        Armed fault = onAcquire().dropRequest(cut);
        try (FencedLease lease = locks.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(5))) {
            assertThat(fault.fired()).isTrue();
            assertThat(lease.isHeld()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(Cut.class)
    void aReleaseThatWasLostIsSentAgain(Cut cut) throws InterruptedException {
        FencedLease lease = locks.fenced(ACCOUNT).acquire();
        Armed fault = on(Script.RELEASE).dropRequest(cut);
        lease.close();
        assertThat(fault.fired()).isTrue();
        awaitFree(redis, options, ACCOUNT, SOON);
        assertThat(events).noneMatch(FencelineEvent.ReleaseFailed.class::isInstance);
    }

    @ParameterizedTest
    @EnumSource(Cut.class)
    void aRenewalWhoseReplyWasLostCostsNothing(Cut cut) throws InterruptedException {
        FencedLease lease = locks.fenced(ACCOUNT).acquire();
        Armed fault = on(Script.RENEW).loseReply(cut);
        assertThatThrownBy(lease::renew)
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("Lease of 'account:42' not renewed")
                .hasMessageContaining("It goes on for ");
        assertThat(fault.fired()).isTrue();
        eventually("a later renewal succeeds", () -> {
            try {
                lease.renew();
                return true;
            } catch (BackendUnavailableException e) {
                return false;
            }
        });
        lease.close();
        assertThat(value(redis, options, fenced(ACCOUNT))).isEmpty();
    }

    @Test
    void theLeaseIsCountedFromBeforeTheRequestNotFromTheReply() throws InterruptedException {
        long start = System.nanoTime();
        onAcquire().delayReply(Duration.ofMillis(300));
        try (FencedLease lease = locks.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(5))) {
            Duration took = Duration.ofNanos(System.nanoTime() - start);
            assertThat(took).isGreaterThanOrEqualTo(Duration.ofMillis(300));
            assertThat(lease.remaining()).isLessThanOrEqualTo(options.lease().minusMillis(300 + 102));
        }
    }

    @Test
    void aReplyThatIsLateIsAskedForAgainUnderTheSameHolder() throws InterruptedException {
        Armed fault = onAcquire().holdReply();
        try (FencedLease lease = locks.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(5))) {
            assertThat(fault.fired()).isTrue();
            assertThat(redis.command("GET", keys.counter(fenced(ACCOUNT))))
                    .isEqualTo(Long.toString(lease.token().value()));
        }
        fault.letGo();
        assertThat(value(redis, options, fenced(ACCOUNT))).isEmpty();
    }

    @Test
    void anInterruptionWhileTheReplyIsOnItsWayFreesTheLockAtOnce() throws Exception {
        Armed fault = onAcquire().holdReply();
        CompletableFuture<Throwable> outcome = new CompletableFuture<>();
        Thread waiter = new Thread(() -> {
            try (FencedLease unexpected = locks.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(30))) {
                outcome.completeExceptionally(new AssertionError("got " + unexpected));
            } catch (InterruptedException | RuntimeException e) {
                outcome.complete(e);
            }
        });
        waiter.start();
        fault.awaitFired(SOON);
        assertThat(value(redis, options, fenced(ACCOUNT)))
                .as("granted, unknown to the waiter")
                .isNotEmpty();
        waiter.interrupt();
        assertThat(outcome.get(10, TimeUnit.SECONDS)).isInstanceOf(InterruptedException.class);
        awaitFree(redis, options, ACCOUNT, Duration.ofMillis(500));
        fault.letGo();
        awaitFree(redis, options, ACCOUNT, SOON);
    }

    @Test
    void aRequestThatArrivesBehindItsReleaseIsReleasedOnceMore() throws Exception {
        String before = redis.command("GET", keys.counter(fenced(ACCOUNT)));
        long gets = Fixture.calls(redis, "get");
        Armed fault = onAcquire().holdRequest();
        CompletableFuture<Throwable> outcome = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                outcome.completeExceptionally(
                        new AssertionError("got " + locks.fenced(ACCOUNT).tryAcquire()));
            } catch (RuntimeException e) {
                outcome.complete(e);
            }
        });
        thread.start();
        fault.awaitFired(SOON);
        // The client's side ends, the request stays on its way: its release takes another connection, and overtakes it.
        proxy.cutAll(Cut.RST);
        assertThat(outcome.get(10, TimeUnit.SECONDS)).isInstanceOf(BackendUnavailableException.class);
        // Two looks at the new connection's server, and the release.
        eventually("the first release is carried out", () -> Fixture.calls(redis, "get") - gets >= 3);
        fault.letGo();
        eventually(
                "the late request is carried out",
                () -> !redis.command("GET", keys.counter(fenced(ACCOUNT))).equals(before));
        awaitFree(redis, options, ACCOUNT, SOON);
    }

    @Test
    void aRequestThatArrivesBehindTheReleaseOfALaterGrantIsReleasedOnceMore() throws Exception {
        Armed fault = onAcquire().holdRequest();
        CompletableFuture<FencedLease> waiter = waiter(Duration.ofSeconds(5));
        fault.awaitFired(SOON);
        proxy.cutAll(Cut.RST);
        FencedLease lease = waiter.get(10, TimeUnit.SECONDS);
        lease.close();
        assertThat(value(redis, options, fenced(ACCOUNT))).isEmpty();
        String before = redis.command("GET", keys.counter(fenced(ACCOUNT)));
        fault.letGo();
        eventually(
                "the late request is carried out",
                () -> !redis.command("GET", keys.counter(fenced(ACCOUNT))).equals(before));
        awaitFree(redis, options, ACCOUNT, SOON);
    }

    @Test
    void oneReleaseWouldLeaveALateRequestsLockToNobody() throws SendFailure {
        // The control of the test before: a client that releases once, and thinks that this is enough.
        UUID holder = UUID.randomUUID();
        try (Fixture.Wire late = new Fixture.Wire(uri, options);
                Fixture.Wire direct = new Fixture.Wire(redis, options)) {
            Armed fault = onAcquire().holdRequest();
            assertThatThrownBy(() -> late.acquire(ACCOUNT, holder)).isInstanceOf(SendFailure.class);
            answer(direct.transport().release(fenced(ACCOUNT), holder, Duration.ZERO));
            fault.letGo();
            eventually(
                    "the lock is held by nobody",
                    () -> value(redis, options, fenced(ACCOUNT)).startsWith(LockValue.hex(holder)));
            answer(direct.transport().release(fenced(ACCOUNT), holder, Duration.ZERO));
        }
    }

    @Test
    void aCommandInFlightIsNotSentAgainByTheConnectionThatReplacesItsOwn() throws SendFailure {
        UUID holder = UUID.randomUUID();
        try (Fixture.Wire wire = new Fixture.Wire(uri, options)) {
            wire.nextToken(ACCOUNT);
            long before = Fixture.calls(redis, "mget");
            onAcquire().loseReply(Cut.FIN);
            assertThatThrownBy(() -> wire.acquire(ACCOUNT, holder))
                    .isInstanceOfSatisfying(
                            SendFailure.class,
                            failure -> assertThat(failure.kind()).isEqualTo(SendFailure.Kind.UNANSWERED));
            eventually("a new connection is there", () -> {
                try {
                    answer(wire.transport().release(fenced(ACCOUNT), holder, Duration.ZERO));
                    return true;
                } catch (SendFailure failure) {
                    return false;
                }
            });
            // The acquisition once, and the two probes of the new connection.
            assertThat(Fixture.calls(redis, "mget") - before).isEqualTo(3);
        }
    }

    @Test
    void aScriptThatTheServerForgotIsSentAsTextWithinTheSameTimeout() throws SendFailure {
        try (Fixture.Wire wire = new Fixture.Wire(uri, options)) {
            wire.nextToken(ACCOUNT);
            redis.command("SCRIPT", "FLUSH");
            assertThat(wire.acquire(ACCOUNT, UUID.randomUUID())).isInstanceOf(AcquireReply.Granted.class);
            redis.command("SCRIPT", "FLUSH");
            Armed unknown = onAcquire().delayReply(TIMEOUT.dividedBy(2));
            Armed text = proxy.onRequest("-- Invariant: a free lock goes to").holdReply();
            long start = System.nanoTime();
            assertThatThrownBy(() -> wire.acquire(ACCOUNT, UUID.randomUUID()))
                    .isInstanceOf(SendFailure.class)
                    .hasMessageContaining("did not answer within 800 ms");
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(TIMEOUT.plus(ALLOWANCE));
            assertThat(List.of(unknown.fired(), text.fired())).containsOnly(true);
            text.letGo();
        }
    }

    @Test
    void aDeadLineEndsTheWaitWithinItsLimitAndOneTimeout() {
        proxy.blackhole();
        Duration wait = Duration.ofMillis(700);
        long start = System.nanoTime();
        assertThatThrownBy(() -> locks.fenced(ACCOUNT).acquireWithin(wait))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("Lock 'account:42' not acquired")
                .hasMessageContaining("trying again is fine");
        assertThat(Duration.ofNanos(System.nanoTime() - start))
                .isBetween(wait, wait.plus(TIMEOUT).plus(ALLOWANCE));
        start = System.nanoTime();
        assertThatThrownBy(() -> locks.fenced(ACCOUNT).tryAcquire()).isInstanceOf(BackendUnavailableException.class);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(TIMEOUT.plus(ALLOWANCE));
        proxy.heal();
        awaitFree(redis, options, ACCOUNT, Duration.ofSeconds(6));
        eventually("locks can be had again", this::canLock);
    }

    @Test
    void aServerThatRefusesConnectionsEndsTheWaitWithinItsLimit() throws InterruptedException {
        proxy.refuse();
        assertThat(canLock())
                .as("whose request may be the last on the old connection")
                .isFalse();
        Duration wait = Duration.ofMillis(500);
        long start = System.nanoTime();
        assertThatThrownBy(() -> locks.fenced(ACCOUNT).acquireWithin(wait))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("is not connected (")
                .hasMessageEndingWith("Nothing is held; trying again is fine.");
        assertThat(Duration.ofNanos(System.nanoTime() - start))
                .isBetween(wait, wait.plus(TIMEOUT).plus(ALLOWANCE));
    }

    @Test
    void aServerThatComesBackWithinTheWaitGrants() throws Exception {
        proxy.refuse();
        CompletableFuture<FencedLease> waiter = waiter(Duration.ofSeconds(20));
        assertThat(waiter).isNotDone();
        proxy.heal();
        try (FencedLease lease = waiter.get(10, TimeUnit.SECONDS)) {
            assertThat(lease.isHeld()).isTrue();
        }
    }

    @Test
    void aReleaseThatCannotBeSentIsReportedOnceAndGoesOnInTheBackground() throws InterruptedException {
        FencedLease lease = locks.fenced(ACCOUNT).acquire();
        proxy.refuse();
        long start = System.nanoTime();
        lease.close();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(TIMEOUT.plus(ALLOWANCE));
        assertThat(events)
                .filteredOn(FencelineEvent.ReleaseFailed.class::isInstance)
                .hasSize(1);
        proxy.heal();
        awaitFree(redis, options, ACCOUNT, SOON);
        assertThat(events)
                .filteredOn(FencelineEvent.ReleaseFailed.class::isInstance)
                .hasSize(1);
    }

    @Test
    void closingTheLocksOverADeadLineTakesOneTimeout() throws InterruptedException {
        Locks some = RedisLocks.connect(uri, options);
        FencedLease lease = some.fenced(ACCOUNT).acquire();
        proxy.blackhole();
        long start = System.nanoTime();
        some.close();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(TIMEOUT.plus(ALLOWANCE));
        assertThat(lease.isHeld()).isFalse();
        assertThat(events)
                .filteredOn(FencelineEvent.ReleaseFailed.class::isInstance)
                .hasSize(1);
    }

    private boolean canLock() throws InterruptedException {
        try (FencedLease lease = locks.fenced(ACCOUNT).acquireWithin(Duration.ofMillis(500))) {
            return lease.isHeld();
        } catch (BackendUnavailableException e) {
            return false;
        }
    }

    private CompletableFuture<FencedLease> waiter(Duration limit) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return locks.fenced(ACCOUNT).acquireWithin(limit);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
    }

    private FaultProxy.OnRequest onAcquire() {
        return on(Script.ACQUIRE);
    }

    /** The name by which a script is called is on the wire, since the server knows it by now. */
    private FaultProxy.OnRequest on(Script script) {
        return proxy.onRequest(script.digest());
    }
}
