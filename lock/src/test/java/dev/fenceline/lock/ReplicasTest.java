package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.awaitFree;
import static dev.fenceline.lock.Fixture.fenced;
import static dev.fenceline.lock.Fixture.value;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.Servers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Grants that wait for a replica, and what they save. */
@Tag("server")
class ReplicasTest {

    private static final LockName OTHER = LockName.of("account", 43);

    private final EmbeddedServers servers = Servers.embedded();
    private final LockOptions options = Fixture.options().replicas(1).build();
    private final LockOptions naive =
            Fixture.options().keyPrefix(options.keyPrefix()).build();

    private RedisProcess master;
    private RedisProcess replica;

    @BeforeEach
    void startServers() {
        master = servers.redis(RedisSpec.master());
        replica = servers.redis(RedisSpec.master().replicaOf(master));
        master.awaitReplicaInSync();
    }

    @AfterEach
    void stopServers() {
        servers.close();
    }

    @Test
    void aGrantIsAtTheReplicaWhenItIsReturned() throws InterruptedException {
        try (Locks locks = RedisLocks.connect(master.uri(), options)) {
            for (int i = 0; i < 20; i++) {
                try (FencedLease lease = locks.fenced(ACCOUNT).acquire()) {
                    assertThat(value(replica, options, fenced(ACCOUNT)))
                            .contains(Long.toString(lease.token().value()));
                }
            }
        }
    }

    @Test
    void aGrantThatNoReplicaHasIsTakenBackAndTheFiguresAreTold() {
        try (Locks locks = RedisLocks.connect(master.uri(), options)) {
            replica.pause();
            assertThatThrownBy(() -> locks.fenced(ACCOUNT).tryAcquire())
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("Lock 'account:42' not acquired")
                    .hasMessageContaining("has the grant at 0 of 1 replicas after 250 ms (WAIT)")
                    .hasMessageContaining("Nothing is held, a release was sent");
            awaitFree(master, options, ACCOUNT, Duration.ofSeconds(5));
            replica.resume();
            assertThat(locks.fenced(ACCOUNT).tryAcquire()).isPresent();
        }
    }

    /** WAIT holds up what follows on its connection, and a part of a command timeout of that is borne. */
    @Test
    void aLeaseIsRenewedWhileGrantsWaitInVain() throws Exception {
        try (Locks locks = RedisLocks.connect(master.uri(), options);
                FencedLease held = locks.fenced(OTHER).acquire()) {
            replica.pause();
            List<CompletableFuture<Optional<FencedLease>>> waiting = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                LockName name = LockName.of("waiting", i);
                waiting.add(
                        CompletableFuture.supplyAsync(() -> locks.fenced(name).tryAcquire()));
            }
            for (int i = 0; i < 5; i++) {
                held.renew();
            }
            List<String> why = new ArrayList<>();
            for (CompletableFuture<Optional<FencedLease>> grant : waiting) {
                assertThat(grant)
                        .failsWithin(10, TimeUnit.SECONDS)
                        .withThrowableOfType(ExecutionException.class)
                        .havingCause()
                        .isInstanceOf(BackendUnavailableException.class)
                        .withMessageContaining("Nothing is held")
                        .satisfies(e -> why.add(e.getMessage()));
            }
            // Whoever asks behind the WAIT of others may hear nothing in time, and is told that.
            assertThat(why).anySatisfy(message -> assertThat(message).contains("0 of 1 replicas"));
            assertThat(held.isHeld()).isTrue();
        }
    }

    @Test
    void theLockIsNotGrantedTwiceWhenItsMasterDies() {
        assertThat(grantsOverTheLossOfTheMaster(options)).isEqualTo(1);
    }

    /** The naive variant: the first lease still runs, and the replica that took over has never heard of it. */
    @Test
    void withoutWaitingAGrantIsLostWithItsMasterAndTheLockGrantedTwice() {
        assertThat(grantsOverTheLossOfTheMaster(naive)).isEqualTo(2);
    }

    private int grantsOverTheLossOfTheMaster(LockOptions first) {
        int grants = 0;
        try (Locks locks = RedisLocks.connect(master.uri(), first)) {
            replica.pause();
            // Else what was sent already would wait for it in its socket.
            master.command("CLIENT", "KILL", "TYPE", "replica");
            try {
                grants += locks.fenced(ACCOUNT).tryAcquire().isPresent() ? 1 : 0;
            } catch (BackendUnavailableException e) {
                assertThat(e).hasMessageContaining("0 of 1 replicas");
            }
            master.kill();
            replica.resume();
            replica.command("REPLICAOF", "NO", "ONE");
            try (Locks others = RedisLocks.connect(replica.uri(), naive)) {
                grants += others.fenced(ACCOUNT).tryAcquire().isPresent() ? 1 : 0;
            }
        }
        return grants;
    }

    @Test
    void aServerWithFewerReplicasIsRefusedWithBothNumbers() {
        LockOptions two = Fixture.options().replicas(2).build();
        assertThatThrownBy(() -> RedisLocks.connect(master.uri(), two))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageContaining("has 1 replicas (connected_slaves)")
                .hasMessageContaining("option replicas = 2")
                .hasMessageContaining("Attach replicas");
    }

    /** Else every lease would be lost with the next connection, for the sake of grants that wait anyway. */
    @Test
    void aHeldLeaseSurvivesAReconnectWhileTheReplicaIsDown() throws InterruptedException {
        try (Locks locks = RedisLocks.connect(master.uri(), options);
                FencedLease held = locks.fenced(OTHER).acquire()) {
            replica.kill();
            Fixture.eventually(
                    "the master has noticed",
                    () -> master.command("INFO", "replication").contains("connected_slaves:0"));
            master.command("CLIENT", "KILL", "TYPE", "normal");
            Fixture.eventually("the locks are connected again", () -> {
                try {
                    held.renew();
                    return true;
                } catch (BackendUnavailableException e) {
                    return false;
                }
            });
            assertThat(held.isHeld()).isTrue();
            assertThatThrownBy(() -> locks.fenced(ACCOUNT).tryAcquire())
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("has the grant at 0 of 1 replicas");
        }
    }

    @Test
    void theRightToWaitIsNeededOnlyWhereItIsUsed() {
        master.command("ACL", "SETUSER", "app", "on", ">secret", "~*", "&*", "+@all", "-wait");
        String uri = "redis://app:secret@" + master.host() + ":" + master.port();
        assertThatThrownBy(() -> RedisLocks.connect(uri, options))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageContaining("Missing: +wait.");
        RedisLocks.connect(uri, naive).close();
    }

    /** A right that is lost while locks are in use: the grant was made, so it has to be taken back. */
    @Test
    void aGrantThatMayNotWaitAnyMoreIsTakenBack() {
        master.command("ACL", "SETUSER", "app", "on", ">secret", "~*", "&*", "+@all");
        try (Locks locks = RedisLocks.connect("redis://app:secret@" + master.host() + ":" + master.port(), options)) {
            master.command("ACL", "SETUSER", "app", "-wait");
            assertThatThrownBy(() -> locks.fenced(ACCOUNT).tryAcquire())
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("'wait'");
            awaitFree(master, options, ACCOUNT, Duration.ofSeconds(5));
        }
    }

    @Test
    void whoeverGoesOnWaitingGetsTheLockWhenTheReplicaIsBack() throws Exception {
        try (Locks locks = RedisLocks.connect(master.uri(), options)) {
            replica.pause();
            CompletableFuture<FencedLease> waiter = CompletableFuture.supplyAsync(() -> {
                try {
                    return locks.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(20));
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            Fixture.eventually(
                    "the server has made the grant",
                    () -> !value(master, options, fenced(ACCOUNT)).isEmpty());
            String granted = value(master, options, fenced(ACCOUNT));
            replica.resume();
            try (FencedLease lease = waiter.get(20, TimeUnit.SECONDS)) {
                assertThat(granted).contains(Long.toString(lease.token().value()));
            }
        }
    }
}
