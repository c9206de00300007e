package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencingToken;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.RowExistsException;
import dev.fenceline.StaleTokenException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Two sessions meet at one row, for every statement of row mode. */
@Tag("server")
class RowRaceTest extends OneRow {

    private void rowAsNeeded(RowForms form) {
        if (!form.needsRow) {
            remove();
        }
    }

    private Future<?> start(RowForms.Ready statement) {
        return threads.submit(() -> {
            statement.run();
            return null;
        });
    }

    @ParameterizedTest
    @EnumSource
    void aStaleOneBehindANewerCommitIsRefused(RowForms form) throws Exception {
        rowAsNeeded(form);
        RowForms.Ready statement = form.ready(named("stale"), older, id);
        try (Connection newcomer = transaction(database.source())) {
            raise(newcomer, newer);
            Future<?> stale = start(statement);
            database.awaitLockWait("stale");
            newcomer.commit();

            assertThatThrownBy(() -> stale.get(20, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOfSatisfying(
                            StaleTokenException.class,
                            e -> assertThat(e.newest()).isEqualTo(newer))
                    .hasMessageContaining(" on " + resource + " refused: token " + older + " is older by ")
                    .hasMessageEndingWith("A newer holder has taken over; stop, and do not retry with this token.");
        }
        assertThat(stored()).isEqualTo(form.before());
    }

    @ParameterizedTest
    @EnumSource
    void aStaleOneBehindANewerRollbackIsApplied(RowForms form) throws Exception {
        rowAsNeeded(form);
        RowForms.Ready statement = form.ready(named("stale"), older, id);
        try (Connection newcomer = transaction(database.source())) {
            raise(newcomer, newer);
            Future<?> stale = start(statement);
            database.awaitLockWait("stale");
            newcomer.rollback();
            stale.get(20, TimeUnit.SECONDS);
        }
        assertThat(stored()).isEqualTo(form.after);
    }

    @ParameterizedTest
    @EnumSource
    void aStaleOneAfterADeletionIsRefusedAndTheRowDoesNotComeBack(RowForms form) throws SQLException {
        rowAsNeeded(form);
        RowForms.Ready statement = form.ready(rows, older, id);
        RowClaim<Long> claim = rows.claim(newer, id, VALUE);
        claim.upsert(value(1));
        claim.delete();

        assertThatThrownBy(statement::run)
                .isInstanceOfSatisfying(
                        StaleTokenException.class, e -> assertThat(e.newest()).isEqualTo(newer));
        assertThat(stored()).isEqualTo("none");
    }

    @ParameterizedTest
    @EnumSource(names = {"UPDATE", "UPSERT", "DELETE", "INSERT"})
    void aNewerClaimBehindACurrentWriterReadsWhatItWrote(RowForms form) throws Exception {
        rowAsNeeded(form);
        RowClaim<Long> current = rows.claim(older, id, VALUE);
        try (Connection connection = transaction(database.source())) {
            write(form, current.in(connection));
            Future<RowClaim<Long>> newcomer =
                    threads.submit(() -> named("newer").claim(newer, id, VALUE));
            database.awaitLockWait("newer");
            connection.commit();

            assertThat(newcomer.get(20, TimeUnit.SECONDS)
                            .row()
                            .map(String::valueOf)
                            .orElse("none"))
                    .isEqualTo(form.after);
        }
        assertThatThrownBy(() -> current.update(value(7))).isInstanceOf(StaleTokenException.class);
        assertThat(stored()).isEqualTo(form.after);
    }

    @ParameterizedTest
    @EnumSource(names = {"UPDATE", "UPSERT", "DELETE", "INSERT"})
    void aNewerClaimBehindACurrentWriterThatRollsBackReadsWhatWasThere(RowForms form) throws Exception {
        rowAsNeeded(form);
        RowClaim<Long> current = rows.claim(older, id, VALUE);
        try (Connection connection = transaction(database.source())) {
            write(form, current.in(connection));
            Future<RowClaim<Long>> newcomer =
                    threads.submit(() -> named("newer").claim(newer, id, VALUE));
            database.awaitLockWait("newer");
            connection.rollback();

            assertThat(newcomer.get(20, TimeUnit.SECONDS)
                            .row()
                            .map(String::valueOf)
                            .orElse("none"))
                    .isEqualTo(form.before());
        }
        assertThat(stored()).isEqualTo(form.before());
    }

    private static void write(RowForms form, RowClaim<Long> claim) throws SQLException {
        switch (form) {
            case UPDATE -> claim.update(value(110));
            case UPSERT -> claim.upsert(value(110));
            case INSERT -> claim.insert(value(110));
            case DELETE -> claim.delete();
            default -> throw new IllegalArgumentException(form.name());
        }
    }

    @Test
    void ofTwoThatInsertWithTheFirstMarkOfAGuardTheOlderOneIsRefused() throws Exception {
        remove();
        try (Connection connection = transaction(database.source())) {
            // No guard row yet, and no claim: the newer one writes it, and the older one waits for that very row.
            rows.claim(newer, id, VALUE).in(connection).insert(value(1));
            Future<?> stale = start(() -> named("stale").blind(older, id).insert(value(2)));
            database.awaitLockWait("stale");
            connection.commit();
            assertThatThrownBy(() -> stale.get(20, TimeUnit.SECONDS)).cause().isInstanceOf(StaleTokenException.class);
        }
        assertThat(stored()).isEqualTo("1");
    }

    @Test
    void aNewerInsertBehindACurrentOneFindsThatTheRowExists() throws Exception {
        remove();
        RowClaim<Long> current = rows.claim(older, id, VALUE);
        try (Connection connection = transaction(database.source())) {
            current.in(connection).insert(value(1));
            Future<?> newcomer = start(() -> named("newer").blind(newer, id).insert(value(2)));
            database.awaitLockWait("newer");
            connection.commit();

            assertThatThrownBy(() -> newcomer.get(20, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOf(RowExistsException.class)
                    .hasMessage("Insert of " + resource + " under token " + newer
                            + " refused: the row exists, and its mark is " + older
                            + ". Nothing happened. Read it under a claim and update it, or use upsert.");
        }
        assertThat(stored()).isEqualTo("1");
    }

    // Two transactions of one claim: two threads, or a resumed request.

    @Test
    void twoTransactionsOfOneClaimThatReadFirstLoseNothing() throws Exception {
        RowClaim<Long> claim = rows.claim(older, id, VALUE);

        Race.of(4, turn -> {
            for (int i = 0; i < 10; i++) {
                try (Connection connection = transaction(database.source())) {
                    RowClaim<Long> within = claim.in(connection);
                    within.update(value(within.read().orElseThrow() + 1));
                    connection.commit();
                }
            }
        });

        assertThat(stored()).isEqualTo("140");
    }

    @Test
    void twoTransactionsOfOneClaimThatFindNoRowLoseNothingEither() throws Exception {
        remove();
        RowClaim<Long> claim = rows.claim(older, id, VALUE);
        try (Connection first = transaction(database.source());
                Connection second = transaction(database.sourceNamed("second"))) {
            assertThat(claim.in(first).read()).isEmpty();
            Future<?> late = threads.submit(() -> {
                RowClaim<Long> within = claim.in(second);
                within.upsert(value(within.read().orElse(0L) + 10));
                second.commit();
                return null;
            });
            database.awaitLockWait("second");
            claim.in(first).upsert(value(10));
            first.commit();
            late.get(20, TimeUnit.SECONDS);
        }
        assertThat(stored()).as("10 + 10").isEqualTo("20");
    }

    @Test
    void twoThreadsOfOneClaimThatDoNotLockTheRowLoseAnUpdate() throws Exception {
        RowClaim<Long> claim = rows.claim(older, id, VALUE);
        CountDownLatch bothHaveRead = new CountDownLatch(2);

        Race.of(2, turn -> {
            long read = claim.read().orElseThrow();
            bothHaveRead.countDown();
            assertThat(bothHaveRead.await(20, TimeUnit.SECONDS)).isTrue();
            claim.update(value(read + 10));
        });

        assertThat(stored()).as("100 + 10 + 10").isEqualTo("110");
    }

    @ParameterizedTest
    @ValueSource(strings = {"repeatable read", "serializable"})
    void aTransactionOfOneClaimWithASnapshotIsRetriedInsteadOfWorkingOnAnOldState(String isolation) throws Exception {
        RowClaim<Long> claim = rows.claim(older, id, VALUE);
        var source = database.sourceNamed("second");
        source.setOptions("-c default_transaction_isolation=" + isolation.replace(" ", "\\ "));
        try (Connection first = transaction(database.source());
                Connection second = transaction(source)) {
            claim.in(first).update(value(150));
            Future<?> late = threads.submit(() -> {
                RowClaim<Long> within = claim.in(second);
                within.update(value(within.read().orElseThrow() + 1));
                return null;
            });
            database.awaitLockWait("second");
            first.commit();

            assertThatThrownBy(() -> late.get(20, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOf(RetryableConflictException.class)
                    .hasMessageContaining("could not serialize access due to concurrent update (SQLSTATE 40001). Its"
                            + " transaction has failed: roll back, and run it again under the same claim");
        }
        assertThat(stored()).isEqualTo("150");
    }

    @ParameterizedTest
    @ValueSource(strings = {"repeatable read", "serializable"})
    void underAStricterDefaultAWriteBehindANewerClaimIsRetryableAndThenStale(String isolation) throws Exception {
        var source = database.sourceNamed("stale");
        source.setOptions("-c default_transaction_isolation=" + isolation.replace(" ", "\\ "));
        RowClaim<Long> claim = on(source).claim(older, id, VALUE);
        try (Connection newcomer = transaction(database.source())) {
            raise(newcomer, newer);
            Future<?> stale = start(() -> claim.update(value(7)));
            database.awaitLockWait("stale");
            newcomer.commit();
            assertThatThrownBy(() -> stale.get(20, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOf(RetryableConflictException.class)
                    .hasMessage("Update of " + resource + " under token " + older
                            + " refused: ERROR: could not serialize access due to concurrent update (SQLSTATE 40001)."
                            + " Nothing of it happened. The claim is still good; read the row again under it, and try"
                            + " again.");
        }
        assertThatThrownBy(() -> claim.update(value(7))).isInstanceOf(StaleTokenException.class);
        assertThat(stored()).isEqualTo("100");
    }

    @Test
    void aClaimUnderAStricterDefaultIsRepeatedByItself() throws Exception {
        var source = database.sourceNamed("newer");
        source.setOptions("-c default_transaction_isolation=serializable");
        RowClaim<Long> current = rows.claim(older, id, VALUE);
        try (Connection connection = transaction(database.source())) {
            current.in(connection).update(value(150));
            Future<RowClaim<Long>> newcomer = threads.submit(() -> on(source).claim(newer, id, VALUE));
            database.awaitLockWait("newer");
            connection.commit();
            assertThat(newcomer.get(20, TimeUnit.SECONDS).row()).contains(150L);
        }
    }

    @Test
    void inARaceOfManyInsertsAndDeletionsEachClaimSeesWhatTheOneBeforeItLeft() throws Exception {
        // In order by their tokens, but all at once: a claim that is late is refused, and one that is admitted goes on
        // from what the one before it wrote.
        remove();
        List<FencingToken> tokens =
                Stream.generate(() -> Grants.next(TABLE.lock(id))).limit(24).toList();
        AtomicInteger next = new AtomicInteger();
        AtomicInteger accepted = new AtomicInteger();

        Race.of(3, turn -> {
            for (int i = next.getAndIncrement(); i < tokens.size(); i = next.getAndIncrement()) {
                try {
                    RowClaim<Long> claim = rows.claim(tokens.get(i), id, VALUE);
                    if (claim.row().isEmpty()) {
                        claim.insert(value(1));
                    } else {
                        claim.update(value(claim.row().get() + 1));
                    }
                    accepted.incrementAndGet();
                } catch (StaleTokenException overtaken) {
                    assertThat(overtaken.newest().value())
                            .isGreaterThan(tokens.get(i).value());
                }
            }
        });

        assertThat(stored()).isEqualTo(String.valueOf(accepted.get()));
        assertThat(accepted.get()).isPositive();
    }
}
