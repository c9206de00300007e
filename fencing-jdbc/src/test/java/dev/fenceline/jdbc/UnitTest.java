package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.fenceline.FencedLease;
import dev.fenceline.FencelineException;
import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.LockNotAcquiredException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.UnfencedWriteException;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How units open, join and refuse each other. The numbers are those of the design's list. */
@Tag("server")
class UnitTest extends OneUnit {

    private void assertFree(LockName name) {
        try (FencedLease lease = Grants.lease(name)) {
            assertThat(lease.isHeld())
                    .as("the lock was released, or never taken")
                    .isTrue();
        }
    }

    @Test
    void theWorkHasTheClaimAndItsResultComesOut() throws Exception {
        FencingToken token = fence.unit(lock).call(claim -> {
            assertThat(fence.current()).containsSame(claim);
            write(1, read(1) + 10);
            return claim.token();
        });

        assertThat(database.balance(1)).isEqualTo(110);
        assertThat(database.mark(token)).isEqualTo(token);
        assertThat(fence.current()).isEmpty();
        assertFree(lock.name());
    }

    @Test
    void n5AUnitInsideOfATransactionOfTheThreadIsRefusedBeforeALockIsAcquired() throws Exception {
        try (Connection ambient = source.getConnection()) {
            ambient.setAutoCommit(false);
            assertThat(TestDatabase.read(ambient, 1)).isEqualTo(100);

            assertThatThrownBy(() -> unit(claim -> write(1, 0)))
                    .isInstanceOf(UnfencedWriteException.class)
                    .hasMessage(
                            "Unit of '" + lock.name() + "' refused: this thread has a connection of the fence's data"
                                    + " source in a transaction already (auto-commit is off), and what that has read may be older"
                                    + " than the claim. Nothing was acquired. Open the unit outside of the transaction: around the"
                                    + " @Transactional method, not inside of it.");
            assertFree(lock.name());
            assertThat(database.number("SELECT count(*) FROM fenceline.guard WHERE lock = '" + lock.name() + "'"))
                    .as("claims")
                    .isZero();
            ambient.rollback();
        }
        unit(claim -> write(1, 90));
        assertThat(database.balance(1)).isEqualTo(90);
    }

    @Test
    void n5WithoutThatAnUpdateIsLost() throws Exception {
        // The naive form: the transaction is not of the fence's data source, and nobody sees it.
        try (Connection ambient = database.source().getConnection()) {
            ambient.setAutoCommit(false);
            ambient.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            TestDatabase.read(ambient, 2);
            unit(claim -> write(1, 150));

            fence.unit(lock).run(claim -> {
                long old = TestDatabase.read(ambient, 1);
                write(1, old + 10);
            });
        }
        assertThat(database.balance(1)).as("50 were accepted and are gone").isEqualTo(110);
    }

    @Test
    void n5AConnectionTakenBeforeTheUnitIsRefusedInside() throws Exception {
        try (HikariDataSource two = twoConnections()) {
            PostgresFence onTwo = PostgresFence.on(two);
            try (Connection before = onTwo.dataSource().getConnection();
                    var prepared = before.prepareStatement("UPDATE account SET balance = 0")) {
                onTwo.unit(lock).run(claim -> {
                    for (var use : List.<dev.fenceline.Action<Connection, SQLException>>of(
                            c -> TestDatabase.write(c, 1, 0),
                            c -> prepared.executeUpdate(),
                            c -> c.setAutoCommit(false),
                            c -> c.unwrap(org.postgresql.PGConnection.class),
                            c -> c.getMetaData().getTables(null, null, "account", null))) {
                        assertThatThrownBy(() -> use.with(before))
                                .isInstanceOf(UnfencedWriteException.class)
                                .hasMessageContaining("() in a unit on PostgreSQL guard '" + lock.name()
                                        + "' refused: the connection was taken outside of it, and nothing would be fenced that"
                                        + " it reads or writes. Nothing was sent.");
                    }
                    assertThat(before.isClosed()).isFalse();
                });
                assertThat(TestDatabase.write(before, 1, 90)).as("afterwards").isEqualTo(1);
            }
        }
        assertThat(database.balance(1)).isEqualTo(90);
    }

    private static HikariDataSource twoConnections() {
        HikariDataSource two = new HikariDataSource();
        two.setDataSource(database.sourceNamed("two"));
        two.setMaximumPoolSize(2);
        two.setMinimumIdle(0);
        return two;
    }

    @Test
    void n6TheSameLockJoinsWithoutAGrantAndWithoutARelease() throws Exception {
        unit(outer -> {
            write(1, 110);
            FencingToken inner = fence.unit(Grants.lock(lock.name()))
                    .waitAtMost(Duration.ZERO)
                    .call(joined -> {
                        assertThat(joined).isSameAs(outer);
                        write(1, read(1) + 1);
                        return joined.token();
                    });
            assertThat(inner).isEqualTo(outer.token());
            assertThat(Grants.lock(lock.name()).tryAcquire()).as("still held").isEmpty();
            assertThat(fence.current()).containsSame(outer);
        });
        assertThat(database.balance(1)).isEqualTo(111);
        assertThat(events.of(dev.fenceline.FencelineEvent.ClaimEnded.class)).hasSize(1);
    }

    @Test
    void n6SomeOfTheLocksJoinAndAnotherIsRefusedBeforeItIsAcquired() throws Exception {
        LockName second = Grants.freshLock();
        LockName third = Grants.freshLock();
        fence.unit(Grants.locks(List.of(lock.name(), second))).run(outer -> {
            fence.unit(Grants.lock(second)).run(joined -> write(2, 50));
            fence.unit(Grants.locks(List.of(second, lock.name()))).run(joined -> write(1, 50));
            assertThatThrownBy(() ->
                            fence.unit(Grants.locks(List.of(second, third))).run(refused -> write(1, 0)))
                    .isInstanceOf(UnfencedWriteException.class)
                    .hasMessageStartingWith("Unit of '" + second + "', '" + third + "' refused inside of one of '")
                    .hasMessageEndingWith(": all locks of a unit are taken and claimed together, before the first read."
                            + " Nothing was acquired; name all of them where the unit is opened (fencedAll).");
        });
        assertFree(third);
        assertThat(database.balance(1) + database.balance(2)).isEqualTo(100);
    }

    @Test
    void n6AUnitOverAnotherDataSourceInsideIsRefused() throws Exception {
        PostgresFence other = PostgresFence.on(database.source());
        unit(claim -> {
            assertThat(other.current()).isEmpty();
            assertThatThrownBy(() -> other.unit(Grants.lock(Grants.freshLock())).run(refused -> {}))
                    .isInstanceOf(UnfencedWriteException.class)
                    .hasMessageContaining("' over another data source: a thread is in one unit at a time.");
            try (Connection plain = other.dataSource().getConnection()) {
                assertThat(TestDatabase.read(plain, 1)).as("is in no unit").isEqualTo(100);
            }
        });
    }

    @Test
    void n6OtherWaysToTheLockOfTheUnitAreRefusedAndItsClaimIsGood() throws Exception {
        FencingToken stolen =
                new FencingToken(lock.name(), Grants.next(lock.name()).value() + 1, java.util.UUID.randomUUID());
        unit(claim -> {
            String refused =
                    " on PostgreSQL guard '" + lock.name() + "' refused: this thread is inside a unit under token "
                            + claim.token()
                            + " of the same lock, and would wait for itself or end its own claim. Use the claim that"
                            + " the work of the unit was given, or do this before it begins or after it has ended.";
            assertThatThrownBy(() -> fence.under(Grants.lock(lock.name())).run(c -> {}))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("Acquiring the lock for work" + refused);
            assertThatThrownBy(() -> fence.claim(stolen))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("Claim under token " + stolen + refused);

            assertThat(fence.claim(claim.token()).token()).isEqualTo(claim.token());
            claim.useTransaction(c -> TestDatabase.write(c, 1, 90));
            assertThat(claim.update("UPDATE account SET balance = balance + 1 WHERE id = 1"))
                    .isEqualTo(1);
            write(1, read(1) + 1);
        });
        assertThat(database.balance(1)).isEqualTo(92);
    }

    @Test
    void n6AnotherLockMayBeTakenForATransactionOfItsOwn() throws Exception {
        unit(claim -> fence.under(Grants.lock(Grants.freshLock())).run(c -> TestDatabase.write(c, 2, 7)));
        assertThat(database.balance(2)).isEqualTo(7);
    }

    @Test
    void n8WhatTheWorkThrowsComesOutAsItIs() {
        IOException users = new IOException("the user's");
        assertThatThrownBy(() -> unit(claim -> {
                    throw users;
                }))
                .isSameAs(users);
        assertFree(lock.name());
        assertThat(fence.current()).isEmpty();
    }

    @Test
    void n9AThreadOfAPoolIsNotInTheUnitAndItsWriteIsAccepted() throws Exception {
        ExecutorService threads = Executors.newSingleThreadExecutor();
        try {
            unit(claim -> {
                assertThat(threads.submit(() -> fence.current().isPresent()).get(20, TimeUnit.SECONDS))
                        .isFalse();
                overtake();
                // Only enforced mode would refuse this; see ProtectedScopeTest.
                threads.submit(() -> {
                            write(1, 5);
                            return null;
                        })
                        .get(20, TimeUnit.SECONDS);
            });
        } finally {
            threads.shutdownNow();
        }
        assertThat(database.balance(1)).as("written without the fence").isEqualTo(5);
    }

    @Test
    void n9AFencedConnectionThatIsHandedToAnotherThreadStaysFenced() throws Exception {
        ExecutorService threads = Executors.newSingleThreadExecutor();
        try {
            assertThatThrownBy(() -> unit(claim -> {
                        try (Connection connection = source.getConnection()) {
                            threads.submit(() -> TestDatabase.write(connection, 1, 110))
                                    .get(20, TimeUnit.SECONDS);
                            overtake();
                            assertThatThrownBy(() -> threads.submit(() -> TestDatabase.write(connection, 1, 0))
                                            .get(20, TimeUnit.SECONDS))
                                    .hasCauseInstanceOf(StaleTokenException.class);
                        }
                    }))
                    .isInstanceOf(StaleTokenException.class);
            assertThat(threads.submit(() -> fence.claim(Grants.next(Grants.freshLock())) != null)
                            .get(20, TimeUnit.SECONDS))
                    .as("nothing is left behind on that thread")
                    .isTrue();
        } finally {
            threads.shutdownNow();
        }
        assertThat(database.balance(1)).isEqualTo(110);
    }

    @Test
    void aConnectionKeptBeyondItsUnitIsRefused() throws Exception {
        Connection[] kept = new Connection[1];
        unit(claim -> {
            kept[0] = source.getConnection();
            TestDatabase.write(kept[0], 1, 90);
        });

        assertThatThrownBy(() -> TestDatabase.write(kept[0], 1, 0))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessage("Use of a connection on PostgreSQL guard '" + lock.name()
                        + "' refused: the unit that it was taken in has ended, and nothing protects a write any more. Take a"
                        + " connection where it is used.");
        assertThat(kept[0].isClosed()).isTrue();
        kept[0].close();
        assertThat(database.balance(1)).isEqualTo(90);
    }

    @Test
    void theWaitForTheLockIsLimitedAndInterruptible() throws Exception {
        try (FencedLease held = Grants.lease(lock.name())) {
            assertThatThrownBy(() -> fence.unit(lock).waitAtMost(Duration.ZERO).run(claim -> {}))
                    .isInstanceOf(LockNotAcquiredException.class)
                    .hasMessageContaining("'" + lock.name() + "'");
            Thread.currentThread().interrupt();
            assertThatThrownBy(() ->
                            fence.unit(lock).waitAtMost(Duration.ofSeconds(20)).run(claim -> {}))
                    .isInstanceOf(InterruptedException.class);
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            assertThat(held.isHeld()).isTrue();
        }
        assertThatThrownBy(() -> fence.unit(lock).waitAtMost(Duration.ofMillis(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("waitAtMost of -1 ms is negative; zero tries once without waiting.");
    }

    @Test
    void aRefusalUnderAFrameworksExceptionHasTheNextGrantPassTheMarkToo() throws Exception {
        FencingToken last = Grants.next(lock.name());
        FencingToken ahead = new FencingToken(lock.name(), last.value() + 3_600_000_000L, java.util.UUID.randomUUID());
        assertThatThrownBy(() -> unit(claim -> {
                    PostgresFence.on(database.source()).claim(ahead);
                    try {
                        write(1, 0);
                    } catch (StaleTokenException e) {
                        throw new IOException("the framework's", e);
                    }
                }))
                .isInstanceOf(IOException.class)
                .satisfies(e -> assertThat(FencelineException.in(e)).containsInstanceOf(StaleTokenException.class));

        unit(claim -> write(1, 90));
        assertThat(database.balance(1)).isEqualTo(90);
    }

    @Test
    void theDataSourceShowsWhatIsBelowIt() throws SQLException {
        assertThat(source.isWrapperFor(HikariDataSource.class)).isTrue();
        assertThat(source.unwrap(HikariDataSource.class)).isSameAs(pool);
        assertThat(source.unwrap(DataSource.class)).isSameAs(source);
        assertThat(source.isWrapperFor(Runnable.class)).isFalse();
        assertThat(source.getLoginTimeout()).isEqualTo(pool.getLoginTimeout());
    }

    @Test
    void theDataSourcesOfAFenceAreOne() {
        assertThat(fence.dataSource())
                .as("frameworks look for a transaction's connection by it")
                .isEqualTo(PostgresFence.on(pool).dataSource())
                .hasSameHashCodeAs(PostgresFence.on(pool).dataSource())
                .isNotEqualTo(PostgresFence.on(database.source()).dataSource())
                .isNotEqualTo(pool);
    }

    @Test
    void aFenceOnTheDataSourceOfAnotherIsOverTheSameOne() throws Exception {
        PostgresFence again = PostgresFence.on(source);
        unit(claim -> assertThat(again.current()).containsSame(claim));
    }

    @Test
    void aConnectionOfAnotherUserIsFencedToo() throws Exception {
        PostgresFence direct = PostgresFence.on(database.source());
        DataSource unpooled = direct.dataSource();
        String user = database.server().superuser();
        assertThatThrownBy(() -> direct.unit(lock).run(claim -> {
                    try (Connection connection = unpooled.getConnection(user, null)) {
                        TestDatabase.write(connection, 1, 110);
                    }
                    FencingToken mine = claim.token();
                    PostgresFence.on(database.sourceNamed("another-process"))
                            .claim(new FencingToken(mine.lock(), mine.value() + 1, java.util.UUID.randomUUID()));
                    try (Connection connection = unpooled.getConnection(user, null)) {
                        TestDatabase.write(connection, 1, 0);
                    }
                }))
                .isInstanceOf(StaleTokenException.class);
        assertThat(database.balance(1)).isEqualTo(110);
    }
}
