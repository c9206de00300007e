package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.fenceline.Action;
import dev.fenceline.FencedLock;
import dev.fenceline.FencingToken;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.postgresql.core.TransactionState;
import org.postgresql.jdbc.PgConnection;

/** What tests of units begin with: a fence over a pool of one connection, which each test must leave as it was. */
abstract class OneUnit {

    static TestDatabase database;
    static HikariDataSource pool;

    final RecordedEvents events = new RecordedEvents();
    FencedLock lock;
    PostgresFence fence;
    DataSource source;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        HikariConfig config = new HikariConfig();
        config.setDataSource(database.sourceNamed("pooled"));
        config.setMaximumPoolSize(1);
        // Whoever needs a second one is told soon.
        config.setConnectionTimeout(Duration.ofSeconds(5).toMillis());
        pool = new HikariDataSource(config);
    }

    @AfterAll
    static void close() {
        pool.close();
    }

    @BeforeEach
    void open() {
        lock = Grants.lock(Grants.freshLock());
        fence = PostgresFence.on(pool).listener(events);
        source = fence.dataSource();
        database.account(1, 100);
        database.account(2, 100);
    }

    @AfterEach
    void theConnectionIsBackAsItWas() throws SQLException {
        assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
        try (Connection connection = pool.getConnection()) {
            assertThat(connection.unwrap(PgConnection.class).getTransactionState())
                    .isEqualTo(TransactionState.IDLE);
            assertThat(connection.getAutoCommit()).isTrue();
            assertThat(connection.isReadOnly()).isFalse();
            assertThat(connection.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_READ_COMMITTED);
            assertThat(connection.getHoldability()).isEqualTo(ResultSet.CLOSE_CURSORS_AT_COMMIT);
            assertThat(connection.getNetworkTimeout()).isZero();
            assertThat(setting(connection, "search_path")).isEqualTo("\"$user\", public");
        }
    }

    <X extends Exception> void unit(Action<Claim<Connection>, X> work) throws X, InterruptedException {
        fence.unit(lock).run(work);
    }

    /** Another process takes over, as if the lease of this one had run out: the database knows no better. */
    FencingToken overtake() {
        FencingToken mine = fence.current().orElseThrow().token();
        FencingToken newer = new FencingToken(mine.lock(), mine.value() + 1, UUID.randomUUID());
        PostgresFence.on(database.sourceNamed("another-process")).claim(newer);
        return newer;
    }

    /** What most code does: a connection for each statement. */
    long read(int id) throws SQLException {
        try (Connection connection = source.getConnection()) {
            return TestDatabase.read(connection, id);
        }
    }

    void write(int id, long balance) throws SQLException {
        try (Connection connection = source.getConnection()) {
            TestDatabase.write(connection, id, balance);
        }
    }

    static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    static String setting(Connection connection, String name) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT current_setting('" + name + "')")) {
            row.next();
            return row.getString(1);
        }
    }
}
