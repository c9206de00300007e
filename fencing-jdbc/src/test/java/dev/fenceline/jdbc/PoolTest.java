package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencingToken;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.FaultProxy.Cut;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** A pool of one connection is enough for every path, and gets it back as it was. */
@Tag("server")
class PoolTest extends TwoGrants {

    private static HikariDataSource poolOfOne(FaultProxy proxy, boolean autoCommit) {
        HikariConfig config = new HikariConfig();
        PGSimpleDataSource source = database.sourceAt(proxy.host(), proxy.port());
        // Else a connection's second COMMIT is a prepared statement's number, in which the proxy finds no word.
        source.setPrepareThreshold(0);
        config.setDataSource(source);
        config.setMaximumPoolSize(1);
        config.setAutoCommit(autoCommit);
        config.setConnectionTimeout(Duration.ofSeconds(3).toMillis());
        return new HikariDataSource(config);
    }

    private static FaultProxy proxy() {
        return FaultProxy.to(database.server().host(), database.server().port());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void everyPathNeedsOneConnectionOnly(boolean autoCommit) throws SQLException {
        try (FaultProxy proxy = proxy();
                HikariDataSource pool = poolOfOne(proxy, autoCommit)) {
            PostgresFence fence = PostgresFence.on(pool);
            proxy.onRequest("claim_v2").loseReply(Cut.RST);
            Claim<Connection> claim = fence.claim(older);
            JdbcWork.add(claim, 1, 1);

            claim.useTransaction(c -> {
                TestDatabase.write(c, 1, 102);
                proxy.onRequest("COMMIT").loseReply(Cut.RST);
            });
            assertThat(database.balance(1)).as("resolved as applied").isEqualTo(102);

            assertThatThrownBy(() -> claim.useTransaction(c -> {
                        TestDatabase.write(c, 1, 0);
                        proxy.onRequest("COMMIT").dropRequest(Cut.RST);
                    }))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("The mark is " + older);

            assertThatThrownBy(() -> claim.useTransaction(c -> {
                        proxy.cutAll(Cut.FIN);
                        TestDatabase.write(c, 1, 0);
                    }))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("The mark is " + older);

            Claim<Connection> recorded = fence.recorded().resume(older);
            proxy.onRequest("holding_v1").loseReply(Cut.RST);
            assertThat(recorded.update("UPDATE account SET balance = balance + ?", 0))
                    .isEqualTo(1);
            proxy.onRequest("holding_v1").dropRequest(Cut.RST);
            assertThatThrownBy(() -> recorded.update("UPDATE account SET balance = 0"))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("The mark is " + older);
            assertThat((long) fence.concurrent().resume(older).readOnly(c -> TestDatabase.read(c, 1)))
                    .isEqualTo(102);

            PostgresFence.on(database.source()).claim(newer);
            assertThatThrownBy(() -> recorded.update("UPDATE account SET balance = 0"))
                    .isInstanceOf(StaleTokenException.class)
                    .hasMessageContaining("token " + older + " is older by");
            assertThatThrownBy(() -> claim.useTransaction(c -> TestDatabase.write(c, 1, 0)))
                    .isInstanceOf(StaleTokenException.class)
                    .hasMessageContaining("token " + older + " is older by");
            JdbcWork.add(fence.resume(newer), 1, 1);
            assertThat(database.balance(1)).isEqualTo(103);
            assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aBlockedClaimAndABlockedTransactionAskForTheBlockerOnTheSameConnection(boolean autoCommit)
            throws SQLException {
        try (FaultProxy proxy = proxy();
                HikariDataSource pool = poolOfOne(proxy, autoCommit)) {
            Claim<Connection> holder =
                    PostgresFence.on(database.sourceNamed("the-holder")).claim(older);
            PostgresFence impatient = PostgresFence.on(pool).claimTimeout(Duration.ofMillis(50));
            Claim<Connection> second = impatient.resume(older);

            holder.useTransaction(c -> {
                TestDatabase.write(c, 1, 1);
                assertThatThrownBy(() -> impatient.claim(newer))
                        .isInstanceOf(RetryableConflictException.class)
                        .hasMessageContaining("application_name 'the-holder'");
                try (Connection raw = pool.getConnection();
                        Statement statement = raw.createStatement()) {
                    statement.execute("SET lock_timeout = '60ms'");
                    if (!raw.getAutoCommit()) {
                        raw.commit();
                    }
                }
                assertThatThrownBy(() -> second.useTransaction(mine -> TestDatabase.write(mine, 1, 0)))
                        .isInstanceOf(RetryableConflictException.class)
                        .hasMessageContaining(
                                "rolled back: it could not enter: ERROR: canceling statement due to lock timeout"
                                        + " (SQLSTATE 55P03), blocked by pid ")
                        .hasMessageContaining(", application_name 'the-holder'. The claim is still good");
            });
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theConnectionGoesBackAsItCame(boolean autoCommit) throws SQLException {
        try (Connection only = database.source().getConnection()) {
            only.setAutoCommit(autoCommit);
            only.setNetworkTimeout(Runnable::run, 12_345);
            PostgresFence fence = PostgresFence.on(new BoundSource(only).source());

            Claim<Connection> claim = fence.claim(older);
            JdbcWork.add(claim, 1, 10);
            assertThatThrownBy(
                            () -> claim.useTransaction(c -> c.createStatement().execute("SELECT 1 / 0")))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("division by zero");

            assertThat(only.getAutoCommit()).isEqualTo(autoCommit);
            assertThat(only.getNetworkTimeout()).isEqualTo(12_345);
            try (Statement statement = only.createStatement()) {
                for (String name : timeouts()) {
                    try (var row = statement.executeQuery("SHOW " + name)) {
                        row.next();
                        assertThat(row.getString(1)).as(name).isEqualTo("0");
                    }
                }
            }
        }
        assertThat(database.balance(1)).isEqualTo(110);
    }

    private static List<String> timeouts() {
        List<String> timeouts =
                new ArrayList<>(List.of("lock_timeout", "idle_in_transaction_session_timeout", "tcp_user_timeout"));
        if (database.server().majorVersion() >= 17) {
            timeouts.add("transaction_timeout");
        }
        return timeouts;
    }

    @Test
    void eachFormTakesTheRoundTripsThatItSays() throws SQLException {
        var source = database.sourceNamed("counted");
        source.setSocketFactory(CountedSocketFactory.class.getName());
        try (Connection only = source.getConnection()) {
            PostgresFence fence = PostgresFence.on(new BoundSource(only).source());
            FencingToken other = Grants.next(Grants.freshLock());

            assertRoundTrips(1, "claim", () -> fence.claim(older));
            assertRoundTrips(1, "claim of two locks", () -> fence.claim(List.of(older, other)));
            Claim<Connection> claim = fence.claim(older);
            Claim<Connection> two = fence.claim(List.of(older, other));
            assertRoundTrips(
                    4, "enter, with BEGIN; the work's one; leave; COMMIT", () -> claim.useTransaction(PoolTest::work));
            assertRoundTrips(4, "the same for two locks", () -> two.useTransaction(PoolTest::work));
            assertRoundTrips(
                    4,
                    "an isolation goes with entering",
                    () -> fence.isolation(Isolation.SERIALIZABLE).resume(older).useTransaction(PoolTest::work),
                    RESUME);
            assertRoundTrips(
                    4, "beside others", () -> fence.concurrent().resume(older).useTransaction(PoolTest::work), RESUME);
            assertRoundTrips(
                    3,
                    "reading: enter, with BEGIN; the work's one; COMMIT",
                    () -> claim.readOnly(c -> TestDatabase.read(c, 1)));
            String sql = "UPDATE account SET balance = balance + ? WHERE id = 1";
            assertRoundTrips(1, "one statement", () -> claim.update(sql, 1));
            assertRoundTrips(1, "one statement for two locks", () -> two.update(sql, 1));
            Claim<Connection> recorded = fence.recorded().claim(older);
            assertRoundTrips(1, "one statement that is recorded", () -> recorded.update(sql, 1));
        }
    }

    /** The mode and the marks with BEGIN, and ROLLBACK. */
    private static final int RESUME = 3;

    private interface Counted {
        void run() throws SQLException;
    }

    private static void work(Connection connection) throws SQLException {
        TestDatabase.write(connection, 1, 0);
    }

    private static void assertRoundTrips(int expected, String what, Counted counted) throws SQLException {
        assertRoundTrips(expected, what, counted, 0);
    }

    private static void assertRoundTrips(int expected, String what, Counted counted, int before) throws SQLException {
        long begun = CountedSocketFactory.roundTrips();
        counted.run();
        assertThat(CountedSocketFactory.roundTrips() - begun - before).as(what).isEqualTo(expected);
    }
}
