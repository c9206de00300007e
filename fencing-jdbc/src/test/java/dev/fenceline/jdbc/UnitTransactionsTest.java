package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineEvent.WriteEnded;
import dev.fenceline.FencelineEvent.WriteOutcome;
import dev.fenceline.FencelineException;
import dev.fenceline.FencingToken;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.TransactionRolledBackException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** 2 of the design's list: transactions of one's own are real, and each of them is fenced. */
@Tag("server")
class UnitTransactionsTest extends OneUnit {

    private static void tidyUp(Connection connection) throws SQLException {
        connection.rollback();
        connection.setReadOnly(false);
        connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        connection.clearWarnings();
        connection.setAutoCommit(true);
        connection.close();
        connection.close();
    }

    @Test
    void eachCommitIsARealOneAndTheNextTransactionEntersAgain() throws Exception {
        unit(claim -> {
            try (Connection connection = source.getConnection()) {
                connection.setAutoCommit(false);
                assertThat(connection.getAutoCommit()).isFalse();
                TestDatabase.write(connection, 1, 110);
                assertThat(database.balance(1)).isEqualTo(100);
                connection.commit();
                assertThat(database.balance(1)).isEqualTo(110);
                TestDatabase.write(connection, 1, 120);
                connection.rollback();
                assertThat(database.balance(1)).isEqualTo(110);
                TestDatabase.write(connection, 2, TestDatabase.read(connection, 1));
                connection.setAutoCommit(true);
                assertThat(database.balance(2))
                        .as("turning auto-commit on commits")
                        .isEqualTo(110);
            }
        });
        assertThat(events.of(WriteEnded.class))
                .extracting(WriteEnded::outcome)
                .containsExactly(WriteOutcome.APPLIED, WriteOutcome.ROLLED_BACK, WriteOutcome.APPLIED);
    }

    @Test
    void aNewerHolderWaitsForTheTransactionAndThenTheNextOneIsRefused() throws Exception {
        AtomicReference<FencingToken> newer = new AtomicReference<>();
        assertThatThrownBy(() -> unit(claim -> {
                    try (Connection connection = source.getConnection()) {
                        connection.setAutoCommit(false);
                        TestDatabase.write(connection, 1, 110);
                        connection.commit();
                        TestDatabase.write(connection, 1, 120);
                        connection.commit();
                        newer.set(overtake());
                        TestDatabase.write(connection, 1, 0);
                    }
                }))
                .isInstanceOfSatisfying(
                        StaleTokenException.class, e -> assertThat(e.newest()).isEqualTo(newer.get()))
                .hasMessageStartingWith(
                        "Transaction (after 2 committed transactions of this unit, reads included) on PostgreSQL guard '"
                                + lock.name() + "' refused: token ");
        assertThat(database.balance(1)).isEqualTo(120);
    }

    @Test
    void whatAFrameworkTidiesUpAfterARefusalIsQuiet() throws Exception {
        assertThatThrownBy(() -> unit(claim -> {
                    Connection connection = source.getConnection();
                    connection.setAutoCommit(false);
                    overtake();
                    try {
                        TestDatabase.write(connection, 1, 0);
                    } finally {
                        tidyUp(connection);
                    }
                }))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageStartingWith("Transaction on PostgreSQL guard '")
                .hasNoSuppressedExceptions();
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void aRefusalThatIsSwallowedIsThrownByCommitAndWhenTheUnitEnds() throws Exception {
        assertThatThrownBy(() -> unit(claim -> {
                    try (Connection connection = source.getConnection()) {
                        connection.setAutoCommit(false);
                        overtake();
                        for (int i = 0; i < 2; i++) {
                            assertThatThrownBy(() -> TestDatabase.write(connection, 1, 0))
                                    .isInstanceOf(StaleTokenException.class);
                        }
                        assertThatThrownBy(connection::commit).isInstanceOf(StaleTokenException.class);
                        connection.rollback();
                        assertThatThrownBy(() -> TestDatabase.read(connection, 1))
                                .as("the next transaction")
                                .isInstanceOf(StaleTokenException.class);
                    }
                }))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageContaining("A newer holder has taken over");
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void aRefusalThatIsSwallowedByTurningAutoCommitOnComesAgainAtTheEnd() throws Exception {
        assertThatThrownBy(() -> unit(claim -> {
                    try (Connection connection = source.getConnection();
                            Connection blocker = database.source().getConnection()) {
                        blockMark(blocker);
                        connection.setAutoCommit(false);
                        assertThatThrownBy(() -> TestDatabase.write(connection, 1, 0))
                                .isInstanceOf(RetryableConflictException.class);
                        connection.setAutoCommit(true);
                    }
                }))
                .isInstanceOf(RetryableConflictException.class)
                .hasMessageContaining("it could not enter");
    }

    /** Cancels whoever enters, which is what waiting for too long looks like, only sooner. */
    private void blockMark(Connection blocker) throws SQLException {
        blocker.setAutoCommit(false);
        execute(blocker, "SELECT 1 FROM fenceline.guard WHERE lock = '" + lock.name() + "' FOR UPDATE");
        Thread cancelling = new Thread(() -> {
            database.awaitLockWait("pooled");
            database.number(
                    "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE application_name = 'pooled'"
                            + " AND datname = '" + database.name() + "' AND wait_event_type = 'Lock'");
        });
        cancelling.start();
    }

    @Test
    void anOutcomeThatPassesIsRetriedInANewTransaction() throws Exception {
        unit(claim -> {
            try (Connection connection = source.getConnection()) {
                connection.setAutoCommit(false);
                try (Connection blocker = database.source().getConnection()) {
                    blockMark(blocker);
                    assertThatThrownBy(() -> TestDatabase.write(connection, 1, 0))
                            .isInstanceOf(RetryableConflictException.class)
                            .hasMessageStartingWith("Transaction on PostgreSQL guard '" + lock.name()
                                    + "' rolled back: it could not enter: ");
                }
                connection.rollback();
                TestDatabase.write(connection, 1, 110);
                connection.commit();
            }
        });
        assertThat(database.balance(1)).isEqualTo(110);
    }

    @Test
    void aFailedStatementThatIsSwallowedMakesCommitThrow() throws Exception {
        unit(claim -> {
            try (Connection connection = source.getConnection()) {
                connection.setAutoCommit(false);
                TestDatabase.write(connection, 1, 110);
                assertThatThrownBy(() -> execute(connection, "SELECT 1 / 0")).isInstanceOf(SQLException.class);
                assertThatThrownBy(connection::commit)
                        .isInstanceOf(TransactionRolledBackException.class)
                        .hasMessageContaining("a statement failed, and the work went on as if it had not")
                        .hasMessageContaining("Nothing of it happened.");
                connection.rollback();
            }
        });
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void aFailureIsForgivenByASavepoint() throws Exception {
        unit(claim -> {
            try (Connection connection = source.getConnection()) {
                assertThatThrownBy(connection::setSavepoint)
                        .isInstanceOf(SQLException.class)
                        .hasMessage("Cannot set a savepoint when autoCommit is enabled.");
                connection.setAutoCommit(false);
                TestDatabase.write(connection, 1, 110);
                Savepoint savepoint = connection.setSavepoint();
                assertThatThrownBy(() -> execute(connection, "SELECT 1 / 0")).isInstanceOf(SQLException.class);
                connection.rollback(savepoint);
                connection.commit();
            }
        });
        assertThat(database.balance(1)).isEqualTo(110);
    }

    @Test
    void aFailureOfTheDriverThatEscapesIsToldInOurWordsToo() throws Exception {
        assertThatThrownBy(() -> unit(claim -> {
                    try (Connection connection = source.getConnection()) {
                        connection.setAutoCommit(false);
                        TestDatabase.write(connection, 1, 0);
                        try {
                            execute(connection, "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$");
                        } catch (SQLException e) {
                            connection.rollback();
                            throw new IllegalStateException("the framework's", e);
                        }
                    }
                }))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("the framework's")
                .satisfies(
                        e -> assertThat(FencelineException.in(e)).containsInstanceOf(RetryableConflictException.class));
        assertThatThrownBy(() -> unit(claim -> {
                    try (Connection connection = source.getConnection()) {
                        connection.setAutoCommit(false);
                        execute(connection, "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$");
                    }
                }))
                .as("the driver's own")
                .isInstanceOf(RetryableConflictException.class)
                .hasCauseInstanceOf(SQLException.class);
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void aConstraintThatRefusesTheCommitIsTold() throws Exception {
        database.execute("CREATE TABLE IF NOT EXISTS once (id int UNIQUE DEFERRABLE INITIALLY DEFERRED)");
        unit(claim -> {
            try (Connection connection = source.getConnection()) {
                connection.setAutoCommit(false);
                execute(connection, "INSERT INTO once VALUES (1), (1)");
                assertThatThrownBy(connection::commit)
                        .isInstanceOf(TransactionRolledBackException.class)
                        .hasMessageContaining("the commit was refused");
            }
        });
        assertThat(database.number("SELECT count(*) FROM once")).isZero();
    }

    @Test
    void closingWithoutACommitRollsBackQuietly() throws Exception {
        unit(claim -> {
            try (Connection connection = source.getConnection()) {
                connection.setAutoCommit(false);
                TestDatabase.write(connection, 1, 0);
            }
            assertThat(read(1)).isEqualTo(100);
        });
    }

    @Test
    void aTransactionThatIsOpenWhenTheUnitEndsIsRolledBackAndTold() {
        assertThatThrownBy(() -> unit(claim -> {
                    write(2, 50);
                    Connection connection = source.getConnection();
                    connection.setAutoCommit(false);
                    TestDatabase.write(connection, 1, 0);
                }))
                .isInstanceOf(TransactionRolledBackException.class)
                .hasMessageEndingWith(
                        " ended with a transaction open on a connection that was not closed; it is rolled back,"
                                + " and what the unit committed before stays, 1 committed transaction, reads included. Commit and close inside of the unit.");
        assertThat(database.balance(1)).isEqualTo(100);
        assertThat(database.balance(2)).isEqualTo(50);
    }

    @Test
    void nothingIsSentForATransactionWithoutAStatement() throws Exception {
        unit(claim -> {
            try (Connection connection = source.getConnection()) {
                connection.setAutoCommit(false);
                connection.commit();
                connection.rollback();
                connection.setAutoCommit(true);
            }
        });
        assertThat(events.of(WriteEnded.class)).isEmpty();
    }

    @Test
    void aSecondConnectionOfTheThreadThatWouldWaitForTheFirstIsRefused() throws Exception {
        PostgresFence direct = PostgresFence.on(database.source());
        direct.unit(lock).run(claim -> {
            try (Connection first = direct.dataSource().getConnection();
                    Connection second = direct.dataSource().getConnection()) {
                first.setAutoCommit(false);
                TestDatabase.write(first, 1, 110);
                assertThatThrownBy(() -> TestDatabase.write(second, 2, 0))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("this thread is inside a transaction under token " + claim.token()
                                + " of the same lock, and would wait for itself.");
                assertThatThrownBy(() -> claim.useTransaction(c -> {})).isInstanceOf(IllegalStateException.class);
                first.commit();
                TestDatabase.write(second, 2, 110);
            }
        });
        assertThat(database.balance(1) + database.balance(2)).isEqualTo(220);
    }

    @Test
    void aStatementThatWasRefusedForAnotherConnectionIsNotForgottenByItsCommit() throws Exception {
        PostgresFence plain = PostgresFence.on(database.source());
        DataSource beside = plain.dataSource();
        plain.unit(lock).run(claim -> {
            try (Connection one = beside.getConnection();
                    Connection other = beside.getConnection()) {
                one.setAutoCommit(false);
                other.setAutoCommit(false);
                TestDatabase.write(one, 1, 90);
                assertThatThrownBy(() -> TestDatabase.write(other, 2, 0)).isInstanceOf(IllegalStateException.class);
                one.commit();
                TestDatabase.write(other, 1, 0);
                assertThatThrownBy(other::commit)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("and would wait for itself");
                TestDatabase.write(other, 2, 80);
                other.commit();
            }
        });
        assertThat(database.balance(1)).isEqualTo(90);
        assertThat(database.balance(2)).isEqualTo(80);
    }

    @Test
    void aSleeperWhoseSessionTheServerEndedIsToldWhoHasTakenOver() {
        AtomicReference<FencingToken> newer = new AtomicReference<>();
        assertThatThrownBy(() -> unit(claim -> {
                    Connection connection = source.getConnection();
                    connection.setAutoCommit(false);
                    TestDatabase.write(connection, 1, 0);
                    database.terminate("pooled");
                    newer.set(overtake());
                    try {
                        TestDatabase.write(connection, 1, 0);
                    } finally {
                        tidyUp(connection);
                    }
                }))
                .isInstanceOfSatisfying(
                        StaleTokenException.class, e -> assertThat(e.newest()).isEqualTo(newer.get()))
                .hasCauseInstanceOf(SQLException.class);
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void aConnectionWhoseSessionWasLostStaysSoAndAnotherOneGoesOn() throws Exception {
        unit(claim -> {
            try (Connection connection = source.getConnection()) {
                connection.setAutoCommit(false);
                TestDatabase.write(connection, 1, 0);
                database.terminate("pooled");
                assertThatThrownBy(connection::commit)
                        .isInstanceOf(BackendUnavailableException.class)
                        .hasMessageContaining("Nothing of it was committed. The mark is " + claim.token());
                connection.rollback();
                assertThatThrownBy(() -> TestDatabase.write(connection, 1, 0))
                        .isInstanceOf(BackendUnavailableException.class)
                        .hasMessageEndingWith(
                                "its session was lost with the transaction before, whose end is told already."
                                        + " Close it and take another one.");
                assertThat(connection.isClosed()).isTrue();
            }
            write(1, 110);
        });
        assertThat(database.balance(1)).isEqualTo(110);
    }
}
