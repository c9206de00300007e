package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencedLease;
import dev.fenceline.FencingToken;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.UnfencedWriteException;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Who would wait for a transaction of his own thread is told so at once. */
@Tag("server")
class OpenTransactionsTest extends TwoGrants {

    HookedSource source;
    PostgresFence fence;
    Claim<Connection> claim;
    int opened;

    @BeforeEach
    void claim() {
        source = new HookedSource(database.source(), number -> {});
        fence = PostgresFence.on(source);
        claim = fence.claim(older);
    }

    private void assertRefused(String step, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(step + " on PostgreSQL guard '" + older.lock()
                        + "' refused: this thread is inside a transaction under token " + older
                        + " of the same lock, and would wait for itself. Use the connection or handle that the work of that one"
                        + " was given, or do this before it begins or after it has ended.");
        assertThat(source.opened())
                .as("connections opened: none for what is refused")
                .isEqualTo(opened);
    }

    @Test
    void everyWayToTheSameLockIsRefusedInsideItsTransaction() throws SQLException {
        FencingToken other = Grants.next(Grants.freshLock());
        Claim<Connection> resumed = fence.resume(older);
        claim.useTransaction(c -> {
            TestDatabase.write(c, 1, 90);
            opened = source.opened();
            assertRefused("Claim under token " + newer, () -> fence.claim(newer));
            assertRefused(
                    "Claim under token " + older,
                    () -> fence.claimTimeout(Duration.ofSeconds(1)).claim(older));
            assertRefused("Claim under token " + newer, () -> fence.claim(List.of(other, newer)));
            assertRefused("Transaction under token " + older, () -> resumed.useTransaction(inner -> {}));
            assertRefused("Transaction under token " + older, () -> resumed.update("UPDATE account SET balance = 0"));
            assertRefused(
                    "Acquiring the lock for work",
                    () -> fence.under(Grants.lock(older.lock())).run(inner -> {}));
            assertRefused(
                    "Acquiring the lock for work",
                    () -> fence.under(Grants.locks(List.of(older.lock(), other.lock())))
                            .run(inner -> {}));
        });
        try (FencedLease free = Grants.lease(older.lock())) {
            assertThat(free.isHeld()).as("nothing was acquired").isTrue();
        }
        assertThat(database.balance(1)).isEqualTo(90);
    }

    @Test
    void aTransactionOfSomebodyElseThatEntersTheSameLockIsRefusedAndSpoilt() throws SQLException {
        try (Connection second = database.source().getConnection()) {
            second.setAutoCommit(false);
            claim.useTransaction(c -> {
                TestDatabase.write(c, 1, 90);
                opened = source.opened();
                assertRefused("Entering under token " + older, () -> fence.enter(second, older));
            });
            assertThatThrownBy(() -> TestDatabase.write(second, 2, 0))
                    .as("who swallows it writes nothing")
                    .hasMessageContaining("current transaction is aborted");
            second.rollback();
        }
        assertThat(database.balance(1)).isEqualTo(90);
    }

    @Test
    void enteringOnTheConnectionOfTheTransactionItselfWaitsForNobody() throws SQLException {
        claim.useTransaction(c -> {
            fence.enter(c, older);
            TestDatabase.write(c, 1, 90);
        });
        assertThat(database.balance(1)).isEqualTo(90);
    }

    @Test
    void aTransactionOfAnotherLockInsideIsNotThatOneAndIsRolledBack() throws SQLException {
        Claim<Connection> inner = fence.claim(Grants.next(Grants.freshLock()));
        claim.useTransaction(c -> {
            TestDatabase.write(c, 1, 90);
            assertThatThrownBy(() -> inner.useTransaction(second -> {
                        TestDatabase.write(second, 2, 0);
                        opened = source.opened();
                        assertRefused("Entering under token " + older, () -> fence.enter(second, older));
                    }))
                    .as("whoever swallows it")
                    .isInstanceOf(UnfencedWriteException.class)
                    .hasMessageContaining(
                            "Entering the fence was refused, so this transaction can only be rolled back");
        });
        assertThat(database.balance(1)).isEqualTo(90);
    }

    @Test
    void enteringAnotherLockInATransactionIsRefusedInItsOwnWords() throws SQLException {
        FencingToken stale = Grants.next(Grants.freshLock());
        fence.claim(Grants.next(stale.lock()));
        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    assertThatThrownBy(() -> fence.enter(c, stale))
                            .isInstanceOf(UnfencedWriteException.class)
                            .hasMessageStartingWith("Entering under token " + stale + " on PostgreSQL guard '"
                                    + stale.lock() + "' refused inside of a fenced transaction of other locks: ERROR: ")
                            .hasMessageEndingWith(
                                    "(SQLSTATE FL001). That transaction is rolled back too. Claim all locks"
                                            + " together (fencedAll).");
                }))
                .as("whoever swallows it")
                .isInstanceOf(UnfencedWriteException.class);
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void aRowOfTheSameLockIsClaimedBeforeTheTransactionAndNotInside() throws SQLException {
        database.execute("CREATE TABLE IF NOT EXISTS claimed_row (id bigint PRIMARY KEY, balance bigint,"
                + " fence_token bigint NOT NULL DEFAULT 0, fence_holder uuid)");
        FencedTable<Long> table = FencedTable.of("claimed_row").key("id", id -> older.lock());
        PostgresRows<Long> rows = PostgresRows.on(source, table);
        claim.useTransaction(c -> {
            TestDatabase.write(c, 1, 90);
            opened = source.opened();
            assertRefused("Claim under token " + older, () -> rows.claim(older, 7L, row -> row.getLong("balance")));
        });
        assertThat(rows.claim(older, 7L, row -> row.getLong("balance")).row()).isEmpty();
    }

    @Test
    void aRowOfTheSameLockIsNeitherMadeNorRemovedInsideAndMayBeChanged() throws SQLException {
        database.execute(
                "CREATE TABLE IF NOT EXISTS written_row (id bigint PRIMARY KEY, balance bigint,"
                        + " fence_token bigint NOT NULL DEFAULT 0, fence_holder uuid); INSERT INTO written_row VALUES (1, 100)");
        FencedTable<Long> table = FencedTable.of("written_row").key("id", id -> older.lock());
        PostgresRows<Long> rows = PostgresRows.on(source, table);
        RowClaim<Long> absent = rows.claim(older, 7L, row -> row.getLong("balance"));
        RowClaim<Long> present = rows.claim(older, 1L, row -> row.getLong("balance"));
        RowValues values = RowValues.of("balance", 90L);
        claim.useTransaction(c -> {
            TestDatabase.write(c, 1, 90);
            // What makes a row or removes it raises the mark of the guard too, which this transaction keeps.
            opened = source.opened();
            assertRefused("Insert under token " + older, () -> absent.insert(values));
            assertRefused("Upsert under token " + older, () -> absent.upsert(values));
            assertRefused(
                    "Upsert under token " + older, () -> rows.blind(older, 7L).upsert(values));
            assertRefused("Delete under token " + older, present::delete);
            present.update(values);
            absent.in(c).insert(values);
        });
        assertThat(database.number("SELECT sum(balance) FROM written_row")).isEqualTo(180);
    }

    @Test
    void jdbisTransactionsAreKnownLikewise() {
        JdbiFence onJdbi = JdbiFence.on(Jdbi.create(database.source()));
        Claim<Handle> claimed = onJdbi.claim(older);
        claimed.useTransaction(handle -> {
            onJdbi.enter(handle, older);
            handle.execute("UPDATE account SET balance = 90 WHERE id = 1");
            opened = source.opened();
            assertRefused("Claim under token " + newer, () -> onJdbi.claim(newer));
            assertRefused(
                    "Transaction under token " + older,
                    () -> onJdbi.update(claimed, "UPDATE account SET balance = 0", update -> {}));
        });
        assertThat(database.balance(1)).isEqualTo(90);
    }

    @Test
    void whatWaitsForNobodyIsFine() throws SQLException {
        FencingToken other = Grants.next(Grants.freshLock());
        claim.useTransaction(c -> {
            TestDatabase.write(c, 1, 90);
            assertThat(claim.<Long, SQLException>readOnly(reader -> TestDatabase.read(reader, 1)))
                    .isEqualTo(100);
            assertThat(fence.resume(older).token()).isEqualTo(older);
            fence.claim(other).useTransaction(inner -> TestDatabase.read(inner, 1));
        });
        claim.readOnly(reader -> {
            TestDatabase.read(reader, 1);
            return fence.claim(newer);
        });
        assertThat(database.mark(newer)).isEqualTo(newer);
    }

    @Test
    void anotherThreadWaitsAsBefore() throws Exception {
        PostgresFence elsewhere =
                PostgresFence.on(new HookedSource(database.sourceNamed("other-thread"), number -> {}));
        Claim<Connection> held = elsewhere.claim(older);
        ExecutorService pool = Executors.newSingleThreadExecutor();
        try {
            Future<Claim<Connection>> newcomer = held.<Future<Claim<Connection>>, SQLException>inTransaction(c -> {
                TestDatabase.write(c, 1, 90);
                Future<Claim<Connection>> waiting = pool.submit(() -> elsewhere.claim(newer));
                database.awaitLockWait("other-thread");
                return waiting;
            });
            assertThat(newcomer.get(20, TimeUnit.SECONDS).token()).isEqualTo(newer);
        } finally {
            pool.shutdownNow();
        }
    }

    @Test
    void howeverATransactionEndsItIsNotOpenAnyMore() {
        FencingToken other = Grants.next(Grants.freshLock());
        HookedSource broken = new HookedSource(database.source(), number -> {
            if (number > 1) {
                throw new SQLException("no more connections");
            }
        });
        Claim<Connection> unopened = PostgresFence.on(broken).claim(other);
        Stream.<ThrowingCallable>of(
                        () -> claim.useTransaction(c -> {
                            throw new IOException("the work's own");
                        }),
                        () -> claim.useTransaction(Connection::commit),
                        () -> claim.useTransaction(c -> claim.useTransaction(inner -> {})),
                        () -> claim.update("UPDATE nowhere SET x = 1"),
                        () -> unopened.useTransaction(c -> {}))
                .forEach(ending -> assertThatThrownBy(ending).isInstanceOf(Exception.class));
        assertThatCode(() -> claim.useTransaction(c -> TestDatabase.write(c, 1, 90)))
                .doesNotThrowAnyException();
        fence.claim(newer);
        assertThatThrownBy(() -> claim.useTransaction(c -> TestDatabase.write(c, 1, 0)))
                .isInstanceOf(StaleTokenException.class);
        assertThat(fence.claim(Grants.next(older.lock())).token().lock()).isEqualTo(older.lock());
        assertThatThrownBy(() -> PostgresFence.on(broken).claim(other))
                .hasMessageContaining("no more connections")
                .isNotInstanceOf(IllegalStateException.class);
    }

    @Test
    void aFenceOnAnotherDataSourceIsNotKnownAndWaitsForItsTimeout() throws SQLException {
        // The naive way, which is what happened with one data source too.
        PostgresFence stranger =
                PostgresFence.on(database.sourceNamed("stranger")).claimTimeout(Duration.ofMillis(50));
        claim.useTransaction(c -> {
            TestDatabase.write(c, 1, 90);
            assertThatThrownBy(() -> stranger.claim(newer))
                    .isInstanceOf(RetryableConflictException.class)
                    .hasMessageContaining("was blocked for longer than 50 ms, by pid ");
        });
    }
}
