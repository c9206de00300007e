package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.Action;
import dev.fenceline.StaleTokenException;
import dev.fenceline.TransactionRolledBackException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.transaction.TransactionIsolationLevel;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;

/** Entering comes before the first statement of the work that is more than a setting; a stale writer gets no further. */
@Tag("server")
class LazyEnteringTest extends TwoGrants {

    private record First(String name, Action<Connection, SQLException> action) {
        @Override
        public String toString() {
            return name;
        }
    }

    PostgresFence fence;

    @BeforeEach
    void fence() {
        fence = PostgresFence.on(database.source());
    }

    private static String isolation(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT current_setting('transaction_isolation')")) {
            row.next();
            return row.getString(1);
        }
    }

    static Stream<First> firsts() {
        return Stream.of(
                new First("query", c -> TestDatabase.read(c, 1)),
                new First("prepared", c -> c.prepareStatement("SELECT 1").execute()),
                new First("batch", c -> {
                    Statement batch = c.createStatement();
                    batch.addBatch("UPDATE account SET balance = 0");
                    batch.executeBatch();
                }),
                new First(
                        "prepared metadata", c -> c.prepareStatement("SELECT 1").getMetaData()),
                new First("savepoint", Connection::setSavepoint),
                new First("savepoint as text", c -> c.createStatement().execute("SAVEPOINT a")),
                new First(
                        "several, SET first",
                        c -> c.createStatement().execute("SET LOCAL work_mem = '1MB'; UPDATE account SET balance = 0")),
                new First(
                        "snapshot", c -> c.createStatement().execute("SET TRANSACTION SNAPSHOT '00000003-0000001B-1'")),
                new First(
                        "snapshot, for the session as it were",
                        c -> c.createStatement().execute("SET SESSION TRANSACTION SNAPSHOT '00000003-0000001B-1'")),
                new First("metadata of the database", c -> c.getMetaData().getSchemas()),
                new First("schema", Connection::getSchema),
                new First("valid", c -> c.isValid(1)),
                new First("unwrap", c -> c.unwrap(PGConnection.class)),
                new First("call", c -> c.prepareCall("{call pg_sleep(0)}").execute()));
    }

    @ParameterizedTest
    @MethodSource("firsts")
    void aStaleWritersFirstStatementIsRefusedBeforeItIsSent(First first) {
        Claim<Connection> claim = fence.claim(older);
        fence.claim(newer);
        Claim<Connection> stale = claim;

        assertThatThrownBy(() -> stale.useTransaction(first.action()))
                .isInstanceOfSatisfying(
                        StaleTokenException.class, e -> assertThat(e.newest()).isEqualTo(newer))
                .hasMessageStartingWith(
                        "Transaction on PostgreSQL guard '" + older.lock() + "' refused: token " + older);
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @ParameterizedTest
    @MethodSource("firsts")
    void aRefusalThatIsSwallowedIsThrownAgainByEveryUseAndAtTheEnd(First first) {
        Claim<Connection> stale = fence.claim(older);
        fence.claim(newer);
        List<RuntimeException> thrown = new ArrayList<>();

        assertThatThrownBy(() -> stale.useTransaction(c -> {
                    for (int i = 0; i < 2; i++) {
                        try {
                            first.action().with(c);
                        } catch (StaleTokenException swallowed) {
                            thrown.add(swallowed);
                        }
                    }
                    try {
                        TestDatabase.write(c, 1, 0);
                    } catch (StaleTokenException swallowed) {
                        thrown.add(swallowed);
                    }
                }))
                .isInstanceOf(StaleTokenException.class)
                .satisfies(e -> assertThat(thrown)
                        .hasSize(3)
                        .allSatisfy(same -> assertThat(same).isSameAs(e)));
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void workWithoutAStatementIsStaleToo() throws SQLException {
        Claim<Connection> claim = fence.claim(older);
        claim.useTransaction(c -> {});
        PostgresFence.on(database.source()).claim(newer);

        assertThatThrownBy(() -> claim.useTransaction(c -> c.createStatement().execute("SET LOCAL work_mem = '1MB'")))
                .isInstanceOf(StaleTokenException.class);
    }

    @Test
    void anExceptionOfTheUserAfterARefusalComesOutWithItSuppressed() {
        Claim<Connection> claim = fence.claim(older);
        fence.claim(newer);
        IllegalStateException own = new IllegalStateException("of the user");

        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    try {
                        TestDatabase.read(c, 1);
                    } catch (StaleTokenException e) {
                        throw own;
                    }
                }))
                .isSameAs(own)
                .satisfies(e -> assertThat(e.getSuppressed()).singleElement().isInstanceOf(StaleTokenException.class));
    }

    @Test
    void enteringFirstWouldLeaveNoRoomForAnIsolation() throws SQLException {
        // The control: the transaction has entered before the work begins.
        fence.claim(older);
        try (Connection c = database.source().getConnection()) {
            c.setAutoCommit(false);
            TestDatabase.enter(c, older);
            assertThatThrownBy(() -> c.createStatement().execute("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("must be called before any query");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theWorkChoosesItsIsolationAndTheConnectionGoesBackAsItCame(boolean autoCommit) throws SQLException {
        try (Connection only = database.source().getConnection()) {
            only.setAutoCommit(autoCommit);
            PostgresFence bound =
                    PostgresFence.on(new BoundSource(only).source()).isolation(Isolation.REPEATABLE_READ);
            Claim<Connection> claim = bound.claim(older);

            claim.useTransaction(c -> {
                c.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
                assertThat(isolation(c)).isEqualTo("serializable");
            });
            claim.useTransaction(c -> {
                c.createStatement().execute("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE");
                assertThat(isolation(c)).isEqualTo("serializable");
            });
            claim.useTransaction(c -> {
                c.setReadOnly(true);
                assertThat(isolation(c)).isEqualTo("repeatable read");
            });
            claim.useTransaction(c -> assertThat(isolation(c)).isEqualTo("repeatable read"));

            assertThat(only.getAutoCommit()).isEqualTo(autoCommit);
            assertThat(only.isReadOnly()).isFalse();
            assertThat(only.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_READ_COMMITTED);
            only.setAutoCommit(true);
            assertThat(isolation(only)).isEqualTo("read committed");
        }
    }

    @ParameterizedTest
    @EnumSource(Isolation.class)
    void theFenceSetsAnIsolationForItsTransactionsAlone(Isolation level) throws SQLException {
        Claim<Connection> claim = fence.isolation(level).claim(older);

        assertThat(claim.inTransaction(LazyEnteringTest::isolation))
                .isEqualTo(level.name().toLowerCase(java.util.Locale.ROOT).replace('_', ' '));
        assertThat(claim.<String, SQLException>inTransaction(c -> {
                    c.createStatement().execute("SET LOCAL work_mem = '1MB'");
                    c.createStatement().executeQuery("SHOW work_mem");
                    return isolation(c);
                }))
                .as("a setting in front leaves it")
                .isEqualTo(level.name().toLowerCase(java.util.Locale.ROOT).replace('_', ' '));
        assertThat(PostgresFence.on(database.source()).resume(older).inTransaction(LazyEnteringTest::isolation))
                .isEqualTo("read committed");
    }

    @Test
    void aSettingThatFailedAndWasSwallowedRollsBack() {
        Claim<Connection> claim = fence.claim(older);

        for (boolean goesOn : new boolean[] {true, false}) {
            assertThatThrownBy(() -> claim.useTransaction(c -> {
                        assertThatThrownBy(() -> c.createStatement().execute("SET LOCAL no_such_setting = 1"))
                                .isInstanceOf(SQLException.class);
                        if (goesOn) {
                            TestDatabase.write(c, 1, 0);
                        }
                    }))
                    .isInstanceOf(TransactionRolledBackException.class)
                    .hasMessageContaining("a statement failed, and the work went on as if it had not");
        }
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void aHandleOfJdbiIsRefusedAndChoosesInTheSameWay() {
        JdbiFence jdbi = JdbiFence.on(Jdbi.create(database.source()));
        Claim<Handle> claim = jdbi.claim(older);
        String chosen = claim.inTransaction(handle -> {
            handle.setTransactionIsolationLevel(TransactionIsolationLevel.SERIALIZABLE);
            return handle.select("SELECT current_setting('transaction_isolation')")
                    .mapTo(String.class)
                    .one();
        });
        assertThat(chosen).isEqualTo("serializable");
        assertThat((long) claim.readOnly(handle -> handle.select("SELECT balance FROM account WHERE id = 1")
                        .mapTo(Long.class)
                        .one()))
                .isEqualTo(100);
        claim.useTransaction(handle -> {
            handle.setReadOnly(true);
            assertThat(handle.select("SELECT 1").mapTo(Integer.class).one()).isEqualTo(1);
        });
        fence.claim(newer);

        assertThatThrownBy(() -> claim.useTransaction(handle -> {
                    try {
                        handle.execute("UPDATE account SET balance = 0");
                    } catch (StaleTokenException swallowed) {
                        // As many a program does.
                    }
                }))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageContaining("token " + older + " is older by");
        assertThat(database.balance(1)).isEqualTo(100);
    }
}
