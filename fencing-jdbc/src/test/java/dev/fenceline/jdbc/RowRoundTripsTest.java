package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.StaleTokenException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What each form of row mode costs on the wire. */
@Tag("server")
class RowRoundTripsTest extends OneRow {

    private static void costs(String what, long trips, RowForms.Ready statement) throws SQLException {
        long before = CountedSocketFactory.roundTrips();
        statement.run();
        assertThat(CountedSocketFactory.roundTrips() - before).as(what).isEqualTo(trips);
    }

    private Connection counted() throws SQLException {
        var source = database.sourceNamed("counted");
        source.setSocketFactory(CountedSocketFactory.class.getName());
        return source.getConnection();
    }

    @Test
    void everyStatementIsOneRoundTrip() throws SQLException {
        try (Connection only = counted()) {
            PostgresRows<Long> one = on(new BoundSource(only).source());
            costs("the catalog, once, and the first claim", 2, () -> one.claim(older, id, VALUE));
            RowClaim<Long> claim = one.claim(older, id, VALUE);
            costs("claim", 1, () -> one.claim(older, id, VALUE));
            costs("read", 1, claim::read);
            costs("resume", 1, () -> one.resume(older, id, VALUE));
            costs("update", 1, () -> claim.update(value(1)));
            costs("upsert", 1, () -> claim.upsert(value(2)));
            costs("batch", 1, () -> one.updateAll(Map.of(claim, value(3))));
            costs("blind update", 1, () -> one.blind(older, id).update(value(4)));
            costs("delete", 1, claim::delete);
            costs("insert", 1, () -> claim.insert(value(5)));

            PostgresRows<Long> recorded = one.recorded();
            RowClaim<Long> again = recorded.claim(newer, id, VALUE);
            costs("the server's time, once an hour, and the first recorded write", 2, () -> again.update(value(6)));
            costs("recorded update", 1, () -> again.update(value(7)));
            costs("recorded batch", 1, () -> recorded.updateAll(Map.of(again, value(8))));
            costs("recorded deletion", 1, again::delete);
        }
    }

    @Test
    void aClaimOfNoRowIsFourAndARefusalOneMoreThanItsStatement() throws SQLException {
        try (Connection only = counted()) {
            PostgresRows<Long> one = on(new BoundSource(only).source());
            RowClaim<Long> claim = one.claim(older, id, VALUE);
            RowClaim<Long> late = one.resume(older, id, VALUE);
            claim.delete();
            costs("claim, guard, claim, look", 4, () -> one.claim(newer, id, VALUE));
            costs("a stale write, and the look that tells why", 2, () -> {
                try {
                    late.update(value(1));
                } catch (StaleTokenException expected) {
                    assertThat(expected.newest()).isEqualTo(newer);
                }
            });
            costs("once told, it is not asked again", 0, () -> {
                try {
                    late.update(value(1));
                } catch (StaleTokenException expected) {
                    assertThat(expected.newest()).isEqualTo(newer);
                }
            });
        }
    }

    @Test
    void jdbiAddsNone() throws SQLException {
        try (Connection only = counted()) {
            JdbiRows<Long> one = JdbiRows.on(Jdbi.create(new BoundSource(only).source()), TABLE)
                    .listener(events);
            JdbiRowClaim<Long> claim = one.claim(older, id, (row, context) -> row.getLong("value"));
            costs("claim", 1, () -> one.claim(older, id, (row, context) -> row.getLong("value")));
            costs("update", 1, () -> claim.update(JdbiRowValues.of("value", 1)));
            costs("batch", 1, () -> one.updateAll(Map.of(claim, value(2))));
            costs("delete", 1, claim::delete);
        }
    }

    @Test
    void theStatementsOfAClaimShareItsTimeout() throws Exception {
        List<Integer> waits = new CopyOnWriteArrayList<>();
        try (Connection blocker = transaction(database.source());
                Connection connection = database.sourceNamed("claiming").getConnection()) {
            run(blocker, "DELETE FROM thing WHERE ? > 0 AND ? IS NOT NULL AND id = " + id, older);
            var source = new BoundSource(noting(Connection.class, connection, waits)).source();
            Future<RowClaim<Long>> claim = threads.submit(
                    () -> on(source).claimTimeout(Duration.ofSeconds(20)).claim(newer, id, VALUE));
            TestDatabase.await(
                    "the claim has waited for 200 ms",
                    () -> database.number(
                                    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'claiming'"
                                            + " AND wait_event_type = 'Lock' AND query_start < clock_timestamp() - interval '200 ms'")
                            > 0);
            blocker.commit();

            assertThat(claim.get(20, TimeUnit.SECONDS).row()).isEmpty();
        }
        assertThat(waits).as("limits of the row, the guard and the row again").hasSize(3);
        assertThat(waits.get(0)).isLessThanOrEqualTo(20_000);
        assertThat(waits.get(1)).isLessThanOrEqualTo(19_800);
        assertThat(waits.get(2)).isLessThanOrEqualTo(waits.get(1));
    }

    /** Writes down the whole numbers that are bound: of a claim, they are its limits. */
    private static <T> T noting(Class<T> type, T target, List<Integer> numbers) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, args) -> {
            if (method.getName().equals("setObject") && args[1] instanceof Integer number) {
                numbers.add(number);
            }
            try {
                Object result = method.invoke(target, args);
                return result instanceof PreparedStatement statement
                        ? noting(PreparedStatement.class, statement, numbers)
                        : result;
            } catch (InvocationTargetException e) {
                throw e.getTargetException();
            }
        }));
    }
}
