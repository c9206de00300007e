package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.fenceline.Action;
import dev.fenceline.FencelineException;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.RowExistsException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.TransactionRolledBackException;
import dev.fenceline.UnfencedWriteException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.core.TransactionState;
import org.postgresql.jdbc.PgConnection;

/** However a unit ends, its pool gets the connection back without a transaction; and what a pool hands out with one is refused. */
@Tag("server")
class PoolReturnTest extends TwoGrants {

    /** A unit that fails, and what comes out of it. */
    private record Ending(
            String name, Action<Connection, SQLException> work, Class<? extends Throwable> thrown, String message) {

        @Override
        public String toString() {
            return name;
        }
    }

    private static HikariDataSource poolOfOne(boolean autoCommit) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(database.sourceNamed("pooled"));
        config.setMaximumPoolSize(1);
        config.setAutoCommit(autoCommit);
        config.setConnectionTimeout(Duration.ofSeconds(3).toMillis());
        return new HikariDataSource(config);
    }

    private static void fail(Connection c) throws SQLException {
        c.createStatement().execute("SELECT 1 / 0");
    }

    static Stream<Arguments> endings() {
        return Stream.of(
                        new Ending("a statement fails", PoolReturnTest::fail, SQLException.class, "division by zero"),
                        new Ending(
                                "a failure is swallowed",
                                c -> {
                                    try {
                                        fail(c);
                                    } catch (SQLException swallowed) {
                                        // As many a program does.
                                    }
                                },
                                TransactionRolledBackException.class,
                                "a statement failed, and the work went on"),
                        new Ending(
                                "the work throws",
                                c -> {
                                    throw new IllegalArgumentException("the user's");
                                },
                                IllegalArgumentException.class,
                                "the user's"),
                        new Ending("an inner commit", Connection::commit, UnfencedWriteException.class, "commit()"),
                        new Ending(
                                "an end in a string of several statements",
                                c -> c.createStatement().execute("SELECT 1; COMMIT; SELECT 1 / 0"),
                                UnfencedWriteException.class,
                                "ended from within"),
                        new Ending(
                                "a lock timeout",
                                c -> {
                                    try (Connection other = database.source().getConnection()) {
                                        other.setAutoCommit(false);
                                        TestDatabase.write(other, 2, 5);
                                        c.createStatement().execute("SET LOCAL lock_timeout = '20ms'");
                                        TestDatabase.write(c, 2, 0);
                                    }
                                },
                                RetryableConflictException.class,
                                "SQLSTATE 55P03"))
                .flatMap(ending -> Stream.of(Arguments.of(ending, true), Arguments.of(ending, false)));
    }

    @ParameterizedTest
    @MethodSource("endings")
    void aUnitThatFailedLeavesNoTransactionInItsPool(Ending ending, boolean autoCommit) throws SQLException {
        database.account(2, 100);
        try (HikariDataSource pool = poolOfOne(autoCommit)) {
            Claim<Connection> claim = PostgresFence.on(pool).claim(older);

            assertThatThrownBy(() -> claim.useTransaction(c -> {
                        TestDatabase.write(c, 1, 0);
                        ending.work().with(c);
                    }))
                    .isInstanceOf(ending.thrown())
                    .hasMessageContaining(ending.message());

            requireClean(pool, autoCommit);
            JdbcWork.add(claim, 1, 10);
            requireClean(pool, autoCommit);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aRefusalLeavesNoTransactionInItsPool(boolean autoCommit) throws SQLException {
        try (HikariDataSource pool = poolOfOne(autoCommit)) {
            PostgresFence fence = PostgresFence.on(pool);
            Claim<Connection> overtaken = fence.claim(older);
            requireClean(pool, autoCommit);
            PostgresFence.on(database.source()).claim(newer);

            assertThatThrownBy(() -> overtaken.useTransaction(c -> TestDatabase.write(c, 1, 0)))
                    .isInstanceOf(StaleTokenException.class)
                    .hasMessageContaining("is older by");
            requireClean(pool, autoCommit);
            assertThatThrownBy(() -> fence.claim(older))
                    .isInstanceOf(StaleTokenException.class)
                    .hasMessageContaining("is older by");
            requireClean(pool, autoCommit);
            assertThatThrownBy(() -> fence.resume(older))
                    .isInstanceOf(StaleTokenException.class)
                    .hasMessageContaining("is older by");
            requireClean(pool, autoCommit);
        }
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aStatementOfRowModeLeavesNothingInItsPoolHoweverItEnds(boolean autoCommit) throws SQLException {
        database.execute("CREATE TABLE IF NOT EXISTS marked (id int PRIMARY KEY, balance bigint CHECK (balance >= 0),"
                + " fence_token bigint NOT NULL DEFAULT 0, fence_holder uuid); TRUNCATE marked");
        FencedTable<Integer> table = FencedTable.of("marked").key("id", id -> older.lock());
        try (HikariDataSource pool = poolOfOne(autoCommit)) {
            PostgresRows<Integer> rows = PostgresRows.on(pool, table).recorded();
            RowClaim<Long> claim = rows.claim(older, 1, row -> row.getLong("balance"));
            requireClean(pool, autoCommit);
            claim.insert(RowValues.of("balance", 100L));
            requireClean(pool, autoCommit);
            assertThatThrownBy(() -> claim.insert(RowValues.of("balance", 100L)))
                    .isInstanceOf(RowExistsException.class);
            requireClean(pool, autoCommit);
            assertThatThrownBy(() -> claim.update(RowValues.of("balance", -1L)))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("violates check constraint");
            requireClean(pool, autoCommit);
            assertThatThrownBy(() -> rows.resume(older, 1, row -> {
                        throw new IllegalStateException("the user's");
                    }))
                    .isInstanceOf(IllegalStateException.class);
            requireClean(pool, autoCommit);
            PostgresRows.on(database.source(), table).claim(newer, 1, row -> row.getLong("balance"));
            assertThatThrownBy(() -> claim.update(RowValues.of("balance", 0L))).isInstanceOf(StaleTokenException.class);
            requireClean(pool, autoCommit);
        }
        assertThat(database.number("SELECT balance FROM marked")).isEqualTo(100);
    }

    /** Asks the driver, which keeps what the server said last, and the server. */
    private static void requireClean(HikariDataSource pool, boolean autoCommit) throws SQLException {
        assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
        try (Connection connection = pool.getConnection()) {
            assertThat(connection.unwrap(PgConnection.class).getTransactionState())
                    .isEqualTo(TransactionState.IDLE);
            assertThat(connection.getAutoCommit()).isEqualTo(autoCommit);
            assertThat(connection.isReadOnly()).isFalse();
            assertThat(connection.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_READ_COMMITTED);
            assertThat(connection.getNetworkTimeout()).isZero();
        }
        assertThat(database.number("SELECT count(*) FROM pg_stat_activity WHERE datname = '" + database.name()
                        + "' AND application_name = 'pooled' AND state LIKE 'idle in transaction%'"))
                .isZero();
    }

    @Test
    void aConnectionThatAnotherUserReturnedInAFailedTransactionIsRolledBackByItsPool() throws SQLException {
        try (HikariDataSource pool = poolOfOne(false)) {
            try (Connection careless = pool.getConnection()) {
                TestDatabase.write(careless, 1, 0);
                assertThatThrownBy(() -> fail(careless))
                        .isInstanceOf(SQLException.class)
                        .hasMessageContaining("division by zero");
            }

            JdbcWork.add(PostgresFence.on(pool).claim(older), 1, 10);

            assertThat(database.balance(1)).isEqualTo(110);
        }
    }

    @Test
    void aConnectionThatComesInAFailedTransactionIsRefusedUntilThatIsRolledBack() throws SQLException {
        try (HikariDataSource pool = poolOfOne(false)) {
            Connection driver;
            try (Connection careless = pool.getConnection()) {
                // Behind the back of the pool, which does not roll back what it did not see begin.
                driver = careless.unwrap(PgConnection.class);
                TestDatabase.write(driver, 1, 0);
                assertThatThrownBy(() -> fail(driver))
                        .isInstanceOf(SQLException.class)
                        .hasMessageContaining("division by zero");
            }
            PostgresFence fence = PostgresFence.on(pool);

            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> fence.claim(older))
                        .isInstanceOf(UnfencedWriteException.class)
                        .isInstanceOf(FencelineException.class)
                        .hasMessageStartingWith("A connection with a transaction already FAILED refused: ");
            }
            driver.rollback();
            JdbcWork.add(fence.claim(older), 1, 10);

            assertThat(database.balance(1)).isEqualTo(110);
        }
    }
}
