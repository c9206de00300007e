package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.fenceline.Action;
import dev.fenceline.FencedLock;
import dev.fenceline.UnfencedWriteException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a thread does beside the fenced work that it is in: it would be in no fenced transaction, and is refused. */
@Tag("server")
class BesideWorkTest extends OneUnit {

    private HikariDataSource two;
    private PostgresFence onTwo;
    private DataSource beside;

    @BeforeEach
    void openTwo() {
        HikariConfig config = new HikariConfig();
        config.setDataSource(database.sourceNamed("two"));
        config.setMaximumPoolSize(2);
        config.setMinimumIdle(0);
        two = new HikariDataSource(config);
        onTwo = PostgresFence.on(two);
        beside = onTwo.dataSource();
    }

    @AfterEach
    void closeTwo() {
        assertThat(two.getHikariPoolMXBean().getActiveConnections()).isZero();
        two.close();
    }

    /** The ways to a fenced transaction that are no unit. */
    private List<Action<Action<Connection, Exception>, Exception>> works() {
        return List.of(
                work -> onTwo.under(lock).run(work),
                work -> onTwo.claim(Grants.next(Grants.freshLock())).useTransaction(work),
                work -> onTwo.claim(Grants.next(Grants.freshLock())).readOnly(connection -> {
                    work.with(connection);
                    return true;
                }));
    }

    @Test
    void aRepositoryInsideOfAFencedTransactionIsRefusedWhereItWouldWriteBesideIt() throws Exception {
        for (Action<Action<Connection, Exception>, Exception> way : works()) {
            way.with(connection -> assertThatThrownBy(() -> writeBeside(0))
                    .isInstanceOf(UnfencedWriteException.class)
                    .hasMessageStartingWith(
                            "A connection of fence.dataSource() inside of a fenced transaction on PostgreSQL"
                                    + " guard '")
                    .hasMessageEndingWith(
                            " refused: it would be in no fenced transaction, and would not see what that one"
                                    + " has written. Nothing was sent. Use the connection that the work was given;"
                                    + " or open a unit instead (fence.unit), in which the connections of"
                                    + " fence.dataSource() are fenced."));
        }
        assertThat(database.balance(1)).isEqualTo(100);
        writeBeside(90);
        onTwo.unit(lock)
                .run(claim -> claim.useTransaction(connection -> assertThatThrownBy(() -> writeBeside(0))
                        .as("in a unit it is fenced, and would wait for the transaction beside it")
                        .isInstanceOf(IllegalStateException.class)));
        assertThat(database.balance(1)).isEqualTo(90);
    }

    @Test
    void aConnectionThatWasTakenBeforeIsRefusedThereToo() throws Exception {
        try (Connection before = beside.getConnection()) {
            onTwo.under(lock).run(connection -> {
                assertThatThrownBy(() -> TestDatabase.write(before, 1, 0))
                        .isInstanceOf(UnfencedWriteException.class)
                        .hasMessageStartingWith(
                                "executeUpdate() on a connection of fence.dataSource() inside of a fenced"
                                        + " transaction on PostgreSQL guard '" + lock.name() + "'");
                assertThat(before.isClosed()).isFalse();
            });
            assertThat(TestDatabase.write(before, 1, 90)).as("afterwards").isEqualTo(1);
        }
        assertThat(database.balance(1)).isEqualTo(90);
    }

    private void writeBeside(long balance) throws SQLException {
        try (Connection connection = beside.getConnection()) {
            TestDatabase.write(connection, 1, balance);
        }
    }

    @Test
    void n5AUnitInsideOfAFencedTransactionIsRefusedBeforeALockIsAcquired() throws Exception {
        FencedLock other = Grants.lock(Grants.freshLock());
        for (Action<Action<Connection, Exception>, Exception> way : works()) {
            way.with(connection -> assertThatThrownBy(() -> onTwo.unit(other).run(claim -> {}))
                    .isInstanceOf(UnfencedWriteException.class)
                    .hasMessageStartingWith("Unit of '" + other.name()
                            + "' refused inside of a fenced transaction on PostgreSQL guard '")
                    .hasMessageEndingWith(
                            ": what that has read may be older than the claim of the unit. Nothing was acquired. Open"
                                    + " the unit before it or after it; or open one unit of all the locks (fencedAll)"
                                    + " instead of both."));
        }
        assertThat(database.number("SELECT count(*) FROM fenceline.guard WHERE lock = '" + other.name() + "'"))
                .as("claims")
                .isZero();
        onTwo.unit(other).run(claim -> {});
    }

    @Test
    void n5AResultTakenBeforeTheUnitIsReadInsideAndNotWritten() throws Exception {
        try (Connection before = beside.getConnection();
                Statement statement =
                        before.createStatement(ResultSet.TYPE_SCROLL_SENSITIVE, ResultSet.CONCUR_UPDATABLE);
                ResultSet row = statement.executeQuery("SELECT id, balance FROM account WHERE id = 1")) {
            assertThat(row.getStatement()).isSameAs(statement);
            onTwo.unit(lock).run(claim -> {
                assertThat(row.next()).isTrue();
                row.updateLong("balance", 0);
                assertThatThrownBy(row::updateRow)
                        .isInstanceOf(UnfencedWriteException.class)
                        .hasMessageStartingWith("updateRow() in a unit on PostgreSQL guard '" + lock.name()
                                + "' refused: the connection was taken outside of it");
                assertThatThrownBy(() -> TestDatabase.write(row.getStatement().getConnection(), 1, 0))
                        .isInstanceOf(UnfencedWriteException.class)
                        .hasMessageStartingWith("executeUpdate() in a unit on ");
            });
        }
        assertThat(database.balance(1)).isEqualTo(100);
    }
}
