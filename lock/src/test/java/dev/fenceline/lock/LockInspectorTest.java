package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.eventually;
import static dev.fenceline.lock.Fixture.fenced;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.FencingToken;
import dev.fenceline.HolderProcess;
import dev.fenceline.Lease;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.lock.LockState.Status;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.Servers;
import dev.fenceline.testkit.SharedServers;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What an operator sees of the locks of a real server. */
@Tag("server")
class LockInspectorTest {

    private final EmbeddedServers servers = Servers.embedded();
    private final RedisProcess redis = SharedServers.redis();
    private final LockOptions options = Fixture.options().build();
    private final KeySpace keys = new KeySpace(options.keyPrefix());

    @AfterEach
    void stopServersAndFindNoThreadLeft() {
        servers.close();
        eventually("no thread of a lock is left", () -> RedisLocksTest.ourThreads() == 0);
    }

    @Test
    void aHeldFencedLockShowsItsTokenItsHolderAndItsTime() throws InterruptedException {
        try (LockInspector inspector = LockInspector.connect(redis.uri(), options);
                Locks locks = RedisLocks.connect(redis.uri(), options);
                FencedLease lease = locks.fenced(ACCOUNT).acquire()) {
            LockState state = inspector.find(LockKind.FENCED, ACCOUNT).orElseThrow();
            assertThat(state.kind()).isEqualTo(LockKind.FENCED);
            assertThat(state.name()).isEqualTo(ACCOUNT);
            assertThat(state.status()).isEqualTo(Status.HELD);
            assertThat(state.token()).contains(lease.token());
            assertThat(state.process()).hasValueSatisfying(process -> {
                assertThat(process.application()).isEqualTo("payments");
                assertThat(process.pid()).isEqualTo(ProcessHandle.current().pid());
                assertThat(process.host()).isEqualTo(HostName.ours());
                assertThat(process.since()).isBeforeOrEqualTo(state.serverTime());
            });
            assertThat(state.heldFor())
                    .hasValueSatisfying(held -> assertThat(held).isBetween(Duration.ZERO, Duration.ofSeconds(30)));
            assertThat(state.timeToLive())
                    .hasValueSatisfying(left -> assertThat(left).isBetween(Duration.ofMillis(1), options.lease()));
            assertThat(state.waiting()).isZero();
            assertThat(state.first()).isEmpty();
            assertThat(state.counter()).isEqualTo(OptionalLong.of(lease.token().value()));
            assertThat(state.floor()).isEmpty();
            assertThat(inspector.find(LockKind.EFFICIENCY, ACCOUNT))
                    .as("the same name is another lock in the other kind")
                    .isEmpty();
        }
    }

    @Test
    void aFreeLockShowsNothing() throws InterruptedException {
        try (LockInspector inspector = LockInspector.connect(redis.uri(), options);
                Locks locks = RedisLocks.connect(redis.uri(), options)) {
            assertThat(inspector.find(LockKind.FENCED, ACCOUNT)).isEmpty();
            locks.fenced(ACCOUNT).acquire().close();
            assertThat(inspector.find(LockKind.FENCED, ACCOUNT)).isEmpty();
            assertThat(inspector.list(LockFilter.all())).isEmpty();
        }
    }

    @Test
    void aRaisedFloorIsShown() throws InterruptedException {
        try (LockInspector inspector = LockInspector.connect(redis.uri(), options);
                Locks locks = RedisLocks.connect(redis.uri(), options)) {
            long mark = Fixture.serverMicros(redis) + 3_600_000_000L;
            locks.fenced(ACCOUNT).raiseFloor(new FencingToken(ACCOUNT, mark, UUID.randomUUID()));
            try (FencedLease lease = locks.fenced(ACCOUNT).acquire()) {
                assertThat(inspector
                                .find(LockKind.FENCED, ACCOUNT)
                                .orElseThrow()
                                .floor())
                        .isEqualTo(OptionalLong.of(lease.token().value()));
            }
        }
    }

    @Test
    void thoseWhoWaitAreCountedAndTheFirstAreNamedInTheirOrder() throws Exception {
        try (LockInspector inspector = LockInspector.connect(redis.uri(), options);
                Locks locks = RedisLocks.connect(redis.uri(), options)) {
            FencedLease lease = locks.fenced(ACCOUNT).acquire();
            List<Locks> others = new ArrayList<>();
            List<CompletableFuture<FencedLease>> waiting = new ArrayList<>();
            try {
                for (int i = 1; i <= 12; i++) {
                    Locks other = RedisLocks.connect(
                            redis.uri(),
                            LockOptions.builder()
                                    .keyPrefix(options.keyPrefix())
                                    .application("waiter " + i)
                                    .masterClockSkew(Duration.ZERO)
                                    .listener(options.listener())
                                    .build());
                    others.add(other);
                    waiting.add(other.fenced(ACCOUNT).acquireAsync());
                    // A second one in the same process has no place of its own at the server.
                    waiting.add(other.fenced(ACCOUNT).acquireAsync());
                    int expected = i;
                    eventually("it waits", () -> waiters(inspector) == expected);
                }
                LockState state = inspector.find(LockKind.FENCED, ACCOUNT).orElseThrow();
                assertThat(state.first())
                        .extracting(WaitingProcess::application)
                        .containsExactly(
                                "waiter 1",
                                "waiter 2",
                                "waiter 3",
                                "waiter 4",
                                "waiter 5",
                                "waiter 6",
                                "waiter 7",
                                "waiter 8",
                                "waiter 9",
                                "waiter 10");
                assertThat(state.first())
                        .isSortedAccordingTo((a, b) -> a.since().compareTo(b.since()));
                assertThat(state.first()).allSatisfy(waiter -> {
                    assertThat(waiter.pid()).isEqualTo(ProcessHandle.current().pid());
                    assertThat(waiter.since()).isBetween(state.serverTime().minusSeconds(60), state.serverTime());
                    assertThat(waiter).asString().contains("(host " + HostName.ours() + ", pid ");
                });
            } finally {
                waiting.forEach(future -> future.cancel(false));
                lease.close();
                others.forEach(Locks::close);
            }
        }
    }

    private static int waiters(LockInspector inspector) {
        return inspector.find(LockKind.FENCED, ACCOUNT).map(LockState::waiting).orElse(0);
    }

    /** As a process that was killed leaves it in the queue. */
    @Test
    void whoeverStoppedToAskIsNotCounted() throws Exception {
        try (LockInspector inspector = LockInspector.connect(redis.uri(), options);
                WaitingClient holder = new WaitingClient(redis, options, fenced(ACCOUNT));
                WaitingClient gone = new WaitingClient(redis, options, fenced(ACCOUNT))) {
            eventually("it is granted", () -> holder.ask() instanceof LockTransport.AcquireReply.Granted);
            gone.ask();
            assertThat(waiters(inspector)).isOne();
            String entry = redis.command("HGET", keys.waiters(fenced(ACCOUNT)), LockValue.hex(gone.holder()));
            redis.command(
                    "HSET",
                    keys.waiters(fenced(ACCOUNT)),
                    LockValue.hex(gone.holder()),
                    "1" + entry.substring(entry.indexOf('|')));
            assertThat(waiters(inspector)).isZero();
        }
    }

    @Test
    void aLockThatIsKeptForItsLeastTimeIsToldFromOneThatIsHeld() throws InterruptedException {
        LockName report = LockName.of("report", "nightly");
        try (LockInspector inspector = LockInspector.connect(redis.uri(), options);
                Locks locks = RedisLocks.connect(redis.uri(), options)) {
            Lease lease =
                    locks.efficiency(report).holdAtLeast(Duration.ofMinutes(1)).acquire();
            LockState held = inspector.find(LockKind.EFFICIENCY, report).orElseThrow();
            assertThat(held.status()).isEqualTo(Status.HELD);
            assertThat(held.token()).as("it has none").isEmpty();
            assertThat(held.counter()).isEmpty();
            lease.close();
            LockState kept = inspector.find(LockKind.EFFICIENCY, report).orElseThrow();
            assertThat(kept.status()).isEqualTo(Status.KEPT);
            assertThat(kept.process()).isEqualTo(held.process());
            assertThat(kept.timeToLive())
                    .hasValueSatisfying(left -> assertThat(left).isGreaterThan(Duration.ofSeconds(30)));
        }
    }

    @Test
    void whatSomebodyElseWroteThereIsShownAsUnknown() {
        redis.command("SET", keys.lock(fenced(ACCOUNT)), "by hand");
        try (LockInspector inspector = LockInspector.connect(redis.uri(), options)) {
            assertThat(inspector.find(LockKind.FENCED, ACCOUNT)).hasValueSatisfying(state -> {
                assertThat(state.status()).isEqualTo(Status.UNKNOWN);
                assertThat(state.process()).isEmpty();
                assertThat(state.token()).isEmpty();
                assertThat(state.timeToLive()).as("it never ends").isEmpty();
                assertThat(state.heldFor()).isEmpty();
                assertThat(state.stored()).isEqualTo("by hand");
            });
        }
    }

    @Test
    void oddNamesAreListedAndFoundAndFiltered() throws InterruptedException {
        List<LockName> odd = List.of(
                LockName.of("account", "*"),
                LockName.of("account", "[a-z]?\\"),
                LockName.of("account", "{b7}:lock:f:x"),
                LockName.of("account", "a:b", "c%"),
                LockName.of("account", ""),
                LockName.of("account", "ünïcode ☃ \u2028 'quote\""),
                LockName.of("accounting", 1),
                LockName.of("account"),
                LockName.of("a", "x".repeat(500)));
        try (LockInspector inspector = LockInspector.connect(redis.uri(), options);
                Locks locks = RedisLocks.connect(redis.uri(), options)) {
            List<Lease> leases = new ArrayList<>();
            for (LockName name : odd) {
                leases.add(locks.fenced(name).acquire());
                assertThat(inspector.find(LockKind.FENCED, name)).isPresent();
            }
            LockName plain = LockName.of("account", "plain");
            leases.add(locks.efficiency(plain).acquire());

            assertThat(inspector.list(LockFilter.all().kind(LockKind.FENCED)).map(LockState::name))
                    .containsExactlyInAnyOrderElementsOf(odd);
            assertThat(inspector
                            .list(LockFilter.all().kind(LockKind.EFFICIENCY))
                            .map(LockState::name))
                    .containsExactly(plain);
            assertThat(inspector
                            .list(LockFilter.all().startingWith("accounting"))
                            .map(LockState::name))
                    .containsExactly(odd.get(6));
            assertThat(inspector
                            .list(LockFilter.all().startingWith("account:*"))
                            .map(LockState::name))
                    .as("a star is a star")
                    .containsExactly(odd.get(0));
            assertThat(inspector
                            .list(LockFilter.all().startingWith("account:[a-z]?\\"))
                            .map(LockState::name))
                    .containsExactly(odd.get(1));
            assertThat(inspector.list(LockFilter.all().startingWith("account:")))
                    .hasSize(7);
            assertThat(inspector.list(LockFilter.all())).hasSize(10);
            leases.forEach(Lease::close);
        }
    }

    /** Under our prefix, and none of ours: by another release, by hand, of another type, in the wrong bucket. */
    @Test
    void keysThatAreNoLocksOfOursAreLeftOut() throws InterruptedException {
        String bucket = keys.bucket(keys.bucketOf(fenced(ACCOUNT)));
        redis.command("SET", bucket + ":lock:f:not a name", "x");
        redis.command("SET", bucket + ":lock:g:account:42", "x");
        redis.command("SET", keys.bucket((keys.bucketOf(fenced(ACCOUNT)) + 1) % 1024) + ":lock:f:account:42", "x");
        redis.command("LPUSH", keys.lock(fenced(LockName.of("list"))), "x");
        redis.command("SET", "x" + keys.lock(fenced(ACCOUNT)), "x");
        try (LockInspector inspector = LockInspector.connect(redis.uri(), options);
                Locks locks = RedisLocks.connect(redis.uri(), options);
                FencedLease lease = locks.fenced(ACCOUNT).acquire()) {
            assertThat(inspector
                            .list(LockFilter.all())
                            .map(state -> state.token().orElseThrow()))
                    .containsExactly(lease.token());
        } finally {
            redis.command("DEL", keys.lock(fenced(LockName.of("list"))));
        }
    }

    @Test
    void tenThousandLocksAreListedInSmallSteps() {
        int many = 10_000;
        hold(redis, many);
        long keysBefore = Fixture.calls(redis, "keys");
        long scansBefore = Fixture.calls(redis, "scan");
        try (LockInspector inspector = LockInspector.connect(redis.uri(), options)) {
            List<LockState> all = inspector.list(LockFilter.all()).toList();
            assertThat(all).hasSize(many);
            assertThat(all.stream().map(LockState::name).distinct()).hasSize(many);
            assertThat(all).allSatisfy(state -> assertThat(state.status()).isEqualTo(Status.HELD));
            long scans = Fixture.calls(redis, "scan") - scansBefore;
            assertThat(scans).as("at most some hundred keys in a step").isGreaterThan(10);

            try (Stream<LockState> some = inspector.list(LockFilter.all())) {
                assertThat(some.limit(3)).hasSize(3);
            }
            assertThat(Fixture.calls(redis, "scan") - scansBefore - scans)
                    .as("whoever wants three does not go through all")
                    .isLessThan(scans / 2);
        }
        assertThat(Fixture.calls(redis, "keys")).isEqualTo(keysBefore);
    }

    private void hold(RedisProcess at, int many) {
        List<String> words = new ArrayList<>(List.of(
                "EVAL", "for i = 1, #ARGV, 2 do redis.call('SET', ARGV[i], ARGV[i + 1], 'PX', 60000) end", "0"));
        for (int i = 0; i < many; i++) {
            words.add(keys.lock(fenced(LockName.of("many", i))));
            words.add(LockValue.hex(UUID.randomUUID()) + "|" + (1 + i) + "|1764460800000000|" + i + "|host|bulk");
        }
        at.command(words.toArray(String[]::new));
    }

    /** Its cursor means something else there: what it would go on with is some part of the locks. */
    @Test
    void aListingDoesNotGoOnAtTheProcessThatCameAfter() {
        RedisProcess own = servers.redis(RedisSpec.master());
        hold(own, 3_000);
        try (LockInspector inspector = LockInspector.connect(own.uri(), options)) {
            Iterator<LockState> listing = inspector.list(LockFilter.all()).iterator();
            assertThat(listing.next().status()).isEqualTo(Status.HELD);
            own.restart();
            hold(own, 3_000);
            eventually("it is connected again", () -> {
                try {
                    return inspector
                            .find(LockKind.FENCED, LockName.of("many", 1))
                            .isPresent();
                } catch (BackendUnavailableException e) {
                    return false;
                }
            });
            assertThatThrownBy(() -> listing.forEachRemaining(state -> {}))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageStartingWith("Locks not listed: the connection to Redis at " + own.host() + ":"
                            + own.port() + " was lost");
            assertThat(inspector.list(LockFilter.all())).hasSize(3_000);
        }
    }

    @Test
    void lookingNeedsLittleOfAnAccessListAndSaysWhatIsMissing() throws InterruptedException {
        String pattern = options.keyPrefix() + ":v1:*";
        redis.command("ACL", "SETUSER", "looker", "on", ">secret", "resetchannels", "~" + pattern, "-@all");
        redis.command("ACL SETUSER looker +eval +evalsha +time +get +pttl +zrange +hget".split(" "));
        String uri = "redis://looker:secret@" + redis.host() + ":" + redis.port();
        try (Locks locks = RedisLocks.connect(redis.uri(), options);
                FencedLease lease = locks.fenced(ACCOUNT).acquire();
                LockInspector inspector = LockInspector.connect(uri, options)) {
            LockState seen = inspector.find(LockKind.FENCED, ACCOUNT).orElseThrow();
            assertThat(seen.token()).contains(lease.token());
            assertThatThrownBy(() -> inspector.list(LockFilter.all()).toList())
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessageContaining("Locks not listed: ")
                    .hasMessageContaining("'info' command")
                    .hasMessageEndingWith(
                            "Nothing was changed; give this user what the command names, with ACL SETUSER.");
            redis.command("ACL", "SETUSER", "looker", "+scan", "+info");
            assertThat(inspector.list(LockFilter.all())).hasSize(1);
            assertThatThrownBy(() -> inspector.forceRelease(seen))
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessageStartingWith("Lock 'account:42' not released: ");
            assertThat(lease.isHeld()).isTrue();
            assertThat(inspector.find(LockKind.FENCED, ACCOUNT).flatMap(LockState::token))
                    .isEqualTo(seen.token());
        } finally {
            redis.command("ACL", "DELUSER", "looker");
        }
    }

    @Test
    void aHolderProcessIsReadAsItWasWritten() {
        String value = "0".repeat(31) + "1|7|1764460800000000|42|web-1|order|batch";
        redis.command("SET", keys.lock(fenced(ACCOUNT)), value);
        try (LockInspector inspector = LockInspector.connect(redis.uri(), options)) {
            assertThat(inspector.find(LockKind.FENCED, ACCOUNT).flatMap(LockState::process))
                    .contains(new HolderProcess("order|batch", "web-1", 42, Instant.parse("2025-11-30T00:00:00Z")));
        }
    }
}
