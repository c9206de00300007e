package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.fenceline.Action;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.UnfencedWriteException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.jdbc.PgConnection;

/** 4 of the design's list: nothing escapes from a unit silently, and its pool gets the connection back as it came. */
@Tag("server")
class UnitConnectionTest extends OneUnit {

    @ParameterizedTest
    @ValueSource(strings = {"COMMIT", "BEGIN", "rollback", "/* x */ PREPARE TRANSACTION 'a'", "START TRANSACTION"})
    void transactionControlAsTextIsRefusedInBothModes(String sql) {
        for (boolean autoCommit : new boolean[] {true, false}) {
            assertThatThrownBy(() -> unit(claim -> {
                        try (Connection connection = source.getConnection()) {
                            connection.setAutoCommit(autoCommit);
                            if (!autoCommit) {
                                TestDatabase.write(connection, 1, 0);
                            }
                            execute(connection, sql);
                        }
                    }))
                    .isInstanceOf(UnfencedWriteException.class)
                    .hasMessageStartingWith("The statement ")
                    .hasMessageEndingWith(" in a unit on PostgreSQL guard '" + lock.name()
                            + "' refused before it was sent: what followed would be written without the fence. The"
                            + " transaction can only be rolled back. Use commit(), rollback() and setAutoCommit() of the"
                            + " connection, or a savepoint.");
        }
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void aRefusedEndThatIsSwallowedMakesCommitThrow() {
        assertThatThrownBy(() -> unit(claim -> {
                    try (Connection connection = source.getConnection()) {
                        connection.setAutoCommit(false);
                        TestDatabase.write(connection, 1, 0);
                        assertThatThrownBy(() -> execute(connection, "COMMIT"))
                                .isInstanceOf(UnfencedWriteException.class);
                        assertThatThrownBy(connection::commit).isInstanceOf(UnfencedWriteException.class);
                    }
                }))
                .as("a fault of the program, told again")
                .isInstanceOf(UnfencedWriteException.class);
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void aCommitInAStringOfSeveralStatementsIsFoundByTheLastCheck() {
        for (Action<Connection, SQLException> ending : java.util.List.<Action<Connection, SQLException>>of(
                Connection::commit, Connection::rollback, c -> {})) {
            assertThatThrownBy(() -> unit(claim -> {
                        try (Connection connection = source.getConnection()) {
                            connection.setAutoCommit(false);
                            execute(connection, "SELECT 1; COMMIT; UPDATE account SET balance = balance + 1");
                            ending.with(connection);
                        }
                    }))
                    .isInstanceOf(UnfencedWriteException.class)
                    .hasMessageContaining(
                            " ended from within, by a COMMIT or ROLLBACK in a string of several statements");
        }
    }

    @Test
    void aCommitThroughTheDriversOwnConnectionIsFound() {
        assertThatThrownBy(() -> unit(claim -> {
                    try (Connection connection = source.getConnection()) {
                        connection.setAutoCommit(false);
                        PgConnection driver = connection.unwrap(PgConnection.class);
                        TestDatabase.write(driver, 1, 110);
                        driver.commit();
                        TestDatabase.write(connection, 1, 120);
                        connection.commit();
                    }
                }))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageContaining("ended from within");
        assertThat(database.balance(1)).isEqualTo(110);
    }

    @Test
    void theDriversOwnConnectionKeptBeyondATransactionWritesNothing() {
        for (boolean goesOn : new boolean[] {true, false}) {
            assertThatThrownBy(() -> unit(claim -> {
                        try (Connection connection = source.getConnection()) {
                            connection.setAutoCommit(false);
                            PgConnection driver = connection.unwrap(PgConnection.class);
                            connection.commit();
                            TestDatabase.write(driver, 1, 0);
                            if (goesOn) {
                                TestDatabase.write(connection, 2, 0);
                            }
                        }
                    }))
                    .isInstanceOf(UnfencedWriteException.class)
                    .hasMessage("Transaction in a unit on PostgreSQL guard '" + lock.name()
                            + "' refused: a connection was used through an unwrapped object between two transactions; what"
                            + " was done so is rolled back. Use it inside of a transaction only.");
        }
        assertThat(database.balance(1) + database.balance(2)).isEqualTo(200);
    }

    @Test
    void autoCommitTurnedOnBehindTheFenceIsFound() {
        assertThatThrownBy(() -> unit(claim -> {
                    try (Connection connection = source.getConnection()) {
                        connection.setAutoCommit(false);
                        PgConnection driver = connection.unwrap(PgConnection.class);
                        connection.commit();
                        driver.setAutoCommit(true);
                        TestDatabase.write(driver, 1, 5);
                    }
                }))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageContaining(
                        "put into auto-commit mode; what was written so may be committed without the fence.");
        assertThat(database.balance(1)).isEqualTo(5);
    }

    @Test
    void whatAFrameworkSetsHoldsForItsTransactionsAndIsGivenBack() throws Exception {
        database.execute("CREATE SCHEMA IF NOT EXISTS tenant");
        unit(claim -> {
            try (Connection connection = source.getConnection()) {
                connection.setReadOnly(true);
                connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
                connection.setHoldability(ResultSet.HOLD_CURSORS_OVER_COMMIT);
                connection.setNetworkTimeout(Runnable::run, 30_000);
                connection.setAutoCommit(false);
                for (int i = 0; i < 2; i++) {
                    assertThat(setting(connection, "transaction_isolation")).isEqualTo("serializable");
                    assertThat(setting(connection, "transaction_read_only")).isEqualTo("on");
                    assertThat(connection.getNetworkTimeout()).isEqualTo(30_000);
                    assertThatThrownBy(() -> TestDatabase.write(connection, 1, 0))
                            .isInstanceOf(SQLException.class)
                            .hasMessageContaining("read-only transaction");
                    connection.rollback();
                }
                connection.setReadOnly(false);
                connection.setSchema("tenant");
                connection.commit();
                assertThat(setting(connection, "search_path")).isEqualTo("tenant");
                connection.rollback();
            }
        });
    }

    @Test
    void theIsolationOfTheFenceHoldsForEachTransactionAndGivesWay() throws Exception {
        fence.isolation(Isolation.REPEATABLE_READ).unit(lock).run(claim -> {
            try (Connection connection = source.getConnection()) {
                assertThat(setting(connection, "transaction_isolation")).isEqualTo("repeatable read");
                assertThat(setting(connection, "transaction_isolation")).isEqualTo("repeatable read");
                connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
                assertThat(setting(connection, "transaction_isolation")).isEqualTo("serializable");
                assertThat(setting(connection, "transaction_isolation")).isEqualTo("serializable");
            }
        });
    }

    @Test
    void aPoolWithoutAutoCommitIsFencedJustTheSame() throws Exception {
        HikariConfig config = new HikariConfig();
        config.setDataSource(database.sourceNamed("no-auto-commit"));
        config.setAutoCommit(false);
        config.setMaximumPoolSize(2);
        try (HikariDataSource manual = new HikariDataSource(config)) {
            PostgresFence onManual = PostgresFence.on(manual);
            try (Connection untouched = onManual.dataSource().getConnection()) {
                onManual.unit(lock).run(claim -> {
                    try (Connection connection = onManual.dataSource().getConnection()) {
                        assertThat(connection.getAutoCommit()).isFalse();
                        TestDatabase.write(connection, 1, 110);
                        assertThat(database.balance(1)).isEqualTo(100);
                        connection.commit();
                    }
                });
                assertThat(TestDatabase.read(untouched, 1)).isEqualTo(110);
                assertThatThrownBy(() -> onManual.unit(lock).run(claim -> {}))
                        .as("5: it has read now")
                        .isInstanceOf(UnfencedWriteException.class);
                untouched.rollback();
            }
        }
    }

    @Test
    void aUnitThatEndsWaitsForTheCallOfAnotherThreadAndNoLonger() throws Exception {
        ExecutorService threads = Executors.newSingleThreadExecutor();
        try {
            Future<Integer> late = fence.unit(lock).<Future<Integer>, Exception>call(claim -> {
                Connection connection = source.getConnection();
                Connection blocker = database.source().getConnection();
                blocker.setAutoCommit(false);
                TestDatabase.write(blocker, 1, 90);
                Callable<Integer> waits = () -> TestDatabase.write(connection, 1, 110);
                Future<Integer> waiting = threads.submit(waits);
                database.awaitLockWait("pooled");
                new Thread(() -> {
                            try (blocker) {
                                blocker.commit();
                            } catch (SQLException e) {
                                throw new IllegalStateException(e);
                            }
                        })
                        .start();
                return waiting;
            });
            assertThat(late.get(20, TimeUnit.SECONDS)).isEqualTo(1);
            assertThat(database.balance(1)).isEqualTo(110);
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void abortEndsTheCallOfAnotherThreadThatHangs() throws Exception {
        ExecutorService threads = Executors.newCachedThreadPool();
        try {
            unit(claim -> {
                Connection connection = source.getConnection();
                Future<?> hanging = threads.submit(() -> {
                    execute(connection, "SELECT pg_catalog.pg_sleep(60)");
                    return null;
                });
                TestDatabase.await(
                        "the call is under way",
                        () -> database.number("SELECT count(*) FROM pg_stat_activity WHERE state = 'active'"
                                        + " AND query = 'SELECT pg_catalog.pg_sleep(60)'")
                                == 1);
                threads.submit(() -> {
                            connection.abort(Runnable::run);
                            return null;
                        })
                        .get(20, TimeUnit.SECONDS);
                assertThatThrownBy(() -> hanging.get(20, TimeUnit.SECONDS))
                        .hasCauseInstanceOf(BackendUnavailableException.class)
                        .hasMessageContaining("Nothing of it was committed");
                assertThat(connection.isClosed()).isTrue();
                connection.abort(Runnable::run);
            });
        } finally {
            threads.shutdownNow();
            // The server does not see that its client is gone before it has slept.
            database.terminate("pooled");
        }
        unit(claim -> write(1, 90));
        assertThat(database.balance(1)).isEqualTo(90);
    }

    @Test
    void aConnectionIsItselfAndLeadsToNoOther() throws Exception {
        unit(claim -> {
            try (Connection connection = source.getConnection();
                    var statement = connection.createStatement()) {
                assertThat(Map.of(connection, 1)).containsKey(statement.getConnection());
                assertThat(connection.toString()).startsWith("fenced ");
                assertThat(statement.getConnection()).isSameAs(connection);
                assertThat(connection.getMetaData().getConnection()).isSameAs(connection);
                assertThat(connection.isWrapperFor(PgConnection.class)).isTrue();
                assertThat(connection.isValid(5)).isTrue();
                assertThat(connection.isClosed()).isFalse();
            }
        });
    }

    @Test
    void aClosedConnectionIsClosedAsTheDriversIs() throws Exception {
        unit(claim -> {
            Connection connection = source.getConnection();
            connection.close();
            connection.close();
            assertThat(connection.isClosed()).isTrue();
            assertThat(connection.isValid(1)).isFalse();
            assertThatThrownBy(() -> TestDatabase.read(connection, 1))
                    .isInstanceOf(SQLException.class)
                    .hasMessage("This connection has been closed.");
        });
    }

    @Test
    void fenceEnterOnTheConnectionOfTheUnitWaitsForNobody() {
        assertThatThrownBy(() -> unit(claim -> {
                    try (Connection connection = source.getConnection()) {
                        connection.setAutoCommit(false);
                        fence.enter(connection, claim.token());
                        TestDatabase.write(connection, 1, 110);
                        connection.commit();
                        overtake();
                        TestDatabase.write(connection, 1, 0);
                    }
                }))
                .isInstanceOf(StaleTokenException.class);
        assertThat(database.balance(1)).isEqualTo(110);
    }
}
