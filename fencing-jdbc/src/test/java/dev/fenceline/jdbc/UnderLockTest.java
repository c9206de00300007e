package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencedLease;
import dev.fenceline.FencedLock;
import dev.fenceline.FencelineEvent.LeaseLost;
import dev.fenceline.FencingToken;
import dev.fenceline.LeaseLostException;
import dev.fenceline.LockName;
import dev.fenceline.LockNotAcquiredException;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.StaleTokenException;
import dev.fenceline.lock.RedisLocks;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.Servers;
import java.io.IOException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("server")
class UnderLockTest {

    static TestDatabase database;

    PostgresFence fence;
    FencedLock lock;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
    }

    @BeforeEach
    void grant() {
        fence = PostgresFence.on(database.source());
        lock = Grants.lock(Grants.freshLock());
        database.account(1, 100);
    }

    private void assertFree() {
        try (FencedLease free = lock.tryAcquire().orElseThrow(() -> new AssertionError("still held"))) {
            assertThat(free.isHeld()).isTrue();
        }
    }

    @Test
    void workIsCommittedUnderTheLockAndTheLockIsReleased() throws Exception {
        long left = fence.under(lock).waitAtMost(Duration.ofSeconds(5)).call(c -> {
            assertThat(lock.tryAcquire()).as("held meanwhile").isEmpty();
            TestDatabase.write(c, 1, 90);
            return TestDatabase.read(c, 1);
        });

        assertThat(left).isEqualTo(90);
        assertThat(database.balance(1)).isEqualTo(90);
        assertFree();
        fence.under(lock).run(c -> TestDatabase.write(c, 1, 80));
        assertThat(database.balance(1)).isEqualTo(80);
        assertFree();
    }

    @Test
    void theUsersExceptionsComeOutAsTheyAreAndTheLockIsReleased() {
        IOException checked = new IOException("checked");
        assertThatThrownBy(() -> fence.under(lock).run(c -> {
                    TestDatabase.write(c, 1, 0);
                    throw checked;
                }))
                .isSameAs(checked);
        assertFree();
        IllegalStateException unchecked = new IllegalStateException("unchecked");
        assertThatThrownBy(() -> fence.under(lock).call(c -> {
                    TestDatabase.write(c, 1, 0);
                    throw unchecked;
                }))
                .isSameAs(unchecked);
        assertFree();
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void aHeldLockIsWaitedForNoLongerThanSaid() {
        try (FencedLease held = Grants.lease(lock.name())) {
            assertThatThrownBy(() ->
                            fence.under(lock).waitAtMost(Duration.ofMillis(20)).run(c -> {}))
                    .isInstanceOf(LockNotAcquiredException.class)
                    .hasMessageMatching("Lock '" + lock.name() + "' not acquired within [0-9]+ ms: held by .*");
            assertThat(held.isHeld()).isTrue();
        }
        assertThatThrownBy(() -> fence.under(lock).waitAtMost(Duration.ofMillis(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("waitAtMost of -1 ms is negative; zero tries once without waiting.");
        assertThatThrownBy(() -> fence.under(lock).waitAtMost(Duration.ofDays(366_000)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("waitAtMost of 366000 days is longer than 366 days.");
    }

    @Test
    void anInterruptWhileWaitingForTheLockLeavesNothingHeld() throws Exception {
        try (FencedLease held = Grants.lease(lock.name())) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() ->
                            fence.under(lock).waitAtMost(Duration.ofSeconds(20)).run(c -> {}))
                    .isInstanceOf(InterruptedException.class);
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            assertThat(held.isHeld()).isTrue();
        }
        assertFree();
    }

    @Test
    void aStaleClaimReleasesAndTheNextCallPassesTheMark() throws Exception {
        FencingToken last = Grants.next(lock.name());
        // As after a restore of Redis from a backup, or a clock that went back: the database has seen a later token.
        FencingToken ahead = new FencingToken(lock.name(), last.value() + 3_600_000_000L, UUID.randomUUID());
        fence.claim(ahead);

        assertThatThrownBy(() -> fence.under(lock).run(c -> TestDatabase.write(c, 1, 0)))
                .isInstanceOfSatisfying(
                        StaleTokenException.class, e -> assertThat(e.newest()).isEqualTo(ahead))
                .hasMessageStartingWith("Claim on PostgreSQL guard '" + lock.name() + "' refused: token ");
        assertThat(database.balance(1)).isEqualTo(100);

        fence.under(lock).run(c -> TestDatabase.write(c, 1, 90));
        assertThat(database.balance(1)).isEqualTo(90);
        assertThat(database.mark(ahead).value()).isGreaterThan(ahead.value());
    }

    @Test
    void aTransactionThatFindsItselfStaleRaisesTheFloorToo() throws Exception {
        AtomicReference<FencingToken> ahead = new AtomicReference<>();
        // The claim takes the first connection; before the transaction's, somebody claims far ahead.
        var source = new HookedSource(database.source(), number -> {
            if (number == 2) {
                fence.claim(ahead.get());
            }
        });
        FencingToken last = Grants.next(lock.name());
        ahead.set(new FencingToken(lock.name(), last.value() + 3_600_000_000L, UUID.randomUUID()));

        assertThatThrownBy(() -> PostgresFence.on(source).under(lock).run(c -> TestDatabase.write(c, 1, 0)))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageStartingWith("Transaction on PostgreSQL guard '" + lock.name() + "' refused: token ");

        fence.under(lock).run(c -> TestDatabase.write(c, 1, 90));
        assertThat(database.balance(1)).isEqualTo(90);
    }

    @Test
    void aLeaseThatIsOverClaimsNothing() {
        FencedLease lease = Grants.lease(lock.name());
        FencingToken newest = lease.token();
        fence.claim(lease);
        lease.close();
        FencedLease over = Grants.lease(lock.name());
        over.close();

        assertThatThrownBy(() -> fence.claim(over))
                .isInstanceOfSatisfying(
                        LeaseLostException.class,
                        e -> assertThat(e.reason()).isEqualTo(LeaseLostException.Reason.CLOSED))
                .hasMessageContaining("Nothing was sent. Acquire the lock again and begin at the read.");
        assertThat(database.mark(newest)).as("the mark stays").isEqualTo(newest);
    }

    @Test
    void workThatCommittedReturnsNormallyAlthoughTheLeaseWasLostMeanwhile() throws Exception {
        RecordedEvents events = new RecordedEvents();
        LockOptions options = LockOptions.builder()
                .lease(Duration.ofMillis(300))
                .masterClockSkew(Duration.ZERO)
                .listener(events)
                .build();
        try (RedisProcess redis = Servers.embedded().redis(RedisSpec.master());
                Locks locks = RedisLocks.connect(redis.uri(), options)) {
            FencedLock shortLived = locks.fenced(LockName.of("account", "short"));

            String result = fence.under(shortLived)
                    .waitAtMost(Duration.ofSeconds(5))
                    .call(c -> {
                        redis.command("FLUSHALL");
                        TestDatabase.await(
                                "the lease is lost",
                                () -> !events.of(LeaseLost.class).isEmpty());
                        TestDatabase.write(c, 1, 90);
                        return "committed";
                    });

            assertThat(result).isEqualTo("committed");
            assertThat(database.balance(1)).isEqualTo(90);
            assertThat(events.of(LeaseLost.class)).hasSize(1);
        }
    }

    @Test
    void workWhoseLeaseWasLostAndThatWasOvertakenIsStale() {
        FencedLease lease = Grants.lease(lock.name());
        var claim = fence.claim(lease);
        lease.close();
        JdbcWork.add(claim, 1, 10);
        assertThat(database.balance(1)).as("nobody has taken over yet").isEqualTo(110);
        fence.claim(Grants.next(lock.name()));

        assertThatThrownBy(() -> claim.useTransaction(c -> TestDatabase.write(c, 1, 0)))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageContaining("A newer holder has taken over; stop, and do not retry with this token.");
        assertThat(database.balance(1)).isEqualTo(110);
    }
}
