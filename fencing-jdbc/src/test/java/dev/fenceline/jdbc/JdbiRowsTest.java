package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencedLease;
import dev.fenceline.FencelineEvent.WriteEnded;
import dev.fenceline.FencelineEvent.WriteOutcome;
import dev.fenceline.LeaseLostException;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.RowExistsException;
import dev.fenceline.RowMissingException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.TokenRejectedException;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.FaultProxy.Cut;
import java.time.Duration;
import java.util.Map;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.mapper.NoSuchMapperException;
import org.jdbi.v3.core.mapper.RowMapper;
import org.jdbi.v3.core.mapper.reflect.ConstructorMapper;
import org.jdbi.v3.core.result.ResultSetException;
import org.jdbi.v3.core.statement.UnableToExecuteStatementException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Row mode through Jdbi: its binding, its mappers, its exceptions. */
@Tag("server")
class JdbiRowsTest extends OneRow {

    private static final RowMapper<Long> MAPPED = (row, context) -> row.getLong("value");

    /** A class as Jdbi's constructor mapper and bindMethods like it. */
    public record Thing(long value, String tag) {}

    /** A class as bindBean likes it. */
    public static final class Bean {
        public long getNewValue() {
            return 41;
        }

        public String getTag() {
            return "bean";
        }
    }

    Jdbi jdbi;
    JdbiRows<Long> things;

    @BeforeEach
    void jdbi() {
        jdbi = Jdbi.create(database.source()).registerRowMapper(ConstructorMapper.factory(Thing.class));
        things = JdbiRows.on(jdbi, TABLE).listener(events).claimTimeout(Duration.ofSeconds(20));
    }

    private String tag() {
        return database.text("SELECT tag FROM thing WHERE id = " + id);
    }

    @Test
    void valuesAreBoundAndRowsAreMappedInJdbisOwnWay() {
        JdbiRowClaim<Thing> claim = things.claim(older, id, Thing.class);
        assertThat(claim.row().orElseThrow().value()).isEqualTo(100);

        claim.update(JdbiRowValues.bound(q -> q.bindBean(new Bean()))
                .set("value", ":newValue")
                .set("tag", ":tag || " + id));
        assertThat(claim.read()).contains(new Thing(41, "bean" + id));
        Thing next = new Thing(42, "methods" + id);
        claim.upsert(JdbiRowValues.bound(q -> q.bindMethods(next))
                .set("value", ":value")
                .set("tag", ":tag"));
        assertThat(claim.read()).contains(next);
        claim.update(JdbiRowValues.bound(q -> q.bind("more", 8)).set("value", "value + :more"));
        claim.update(JdbiRowValues.of("tag", null).and("value", 51));
        assertThat(things.resume(older, id, MAPPED).row()).contains(51L);
        assertThat(things.resume(older, id, Thing.class).row().orElseThrow().value())
                .isEqualTo(51);
        assertThat(tag()).isNull();
        claim.delete();
        assertThat(claim.read()).isEmpty();
        claim.insert(JdbiRowValues.bound(q -> q.bindMap(Map.of("v", 7))).set("value", ":v"));
        assertThat(stored()).isEqualTo("7");
        assertThat(claim.token()).isEqualTo(older);
        assertThat(things.lock(id)).isEqualTo(older.lock());
    }

    @Test
    void outcomesAreThoseOfPlainJdbc() {
        JdbiRowClaim<Long> claim = things.claim(older, id, MAPPED);
        assertThatThrownBy(() -> claim.insert(JdbiRowValues.of("value", 7)))
                .isInstanceOf(RowExistsException.class)
                .hasMessageStartingWith("Insert of " + resource + " under token " + older + " refused: the row exists");
        claim.delete();
        assertThatThrownBy(() -> claim.update(JdbiRowValues.of("value", 7)))
                .isInstanceOf(RowMissingException.class)
                .hasMessageStartingWith("Update of " + resource);
        assertThatThrownBy(() -> things.resume(newer, id, MAPPED)).isInstanceOf(TokenRejectedException.class);
        assertThat(things.claim(newer, id, MAPPED).row()).isEmpty();
        assertThatThrownBy(() -> claim.insert(JdbiRowValues.of("value", 7))).isInstanceOf(StaleTokenException.class);
        assertThatThrownBy(() -> things.blind(older, id).update(JdbiRowValues.of("value", 7)))
                .isInstanceOf(StaleTokenException.class);
        things.blind(newer, id).insert(JdbiRowValues.of("value", 8));
        things.blind(newer, id).update(JdbiRowValues.of("value", 9));
        things.blind(newer, id).upsert(JdbiRowValues.of("value", 10));
        assertThat(stored()).isEqualTo("10");
        assertThat(events.of(WriteEnded.class).stream().map(WriteEnded::outcome))
                .contains(WriteOutcome.STALE, WriteOutcome.MISSING, WriteOutcome.ROLLED_BACK);
    }

    @Test
    void whatHasNothingToDoWithTheFenceIsJdbisOwnException() {
        JdbiRowClaim<Long> claim = things.claim(older, id, MAPPED);
        assertThatThrownBy(() -> claim.update(JdbiRowValues.of("value", -1)))
                .isInstanceOf(UnableToExecuteStatementException.class)
                .hasMessageContaining("violates check constraint");
        assertThatThrownBy(() -> claim.update(JdbiRowValues.none().set("value", ":unbound")))
                .isInstanceOf(RuntimeException.class)
                .hasMessageContaining("unbound");
        assertThatThrownBy(() -> things.claim(older, id, Duration.class)).isInstanceOf(NoSuchMapperException.class);
        assertThatThrownBy(() -> things.claim(older, id, (row, context) -> row.getLong("no such column")))
                .isInstanceOf(ResultSetException.class);
        assertThatThrownBy(() -> things.claim(older, id, (row, context) -> row.getString("tag")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("Reading of " + resource + " under token " + older
                        + " refused: the row is there, and the reader made null of it");
        assertThat(stored()).isEqualTo("100");
    }

    @Test
    void aTransactionOfAHandleIsChecked() {
        JdbiRowClaim<Long> claim = things.claim(older, id, MAPPED);
        jdbi.useTransaction(handle -> {
            JdbiRowClaim<Long> within = claim.in(handle);
            within.update(JdbiRowValues.of("value", within.read().orElseThrow() + 1));
        });
        assertThat(stored()).isEqualTo("101");
        jdbi.useHandle(handle -> assertThatThrownBy(() -> claim.in(handle).delete())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("Delete of " + resource + " refused: the connection is in auto-commit"));
        things.claim(newer, id, MAPPED);
        database.account(7, 100);
        jdbi.useTransaction(handle -> {
            handle.execute("UPDATE account SET balance = 0 WHERE id = 7");
            assertThatThrownBy(() -> claim.in(handle).delete()).isInstanceOf(StaleTokenException.class);
        });
        assertThat(database.balance(7)).as("swallowed, and not committed").isEqualTo(100);
    }

    @Test
    void leasesAreUsedAsWithPlainJdbc() {
        FencedLease lease = Grants.lease(TABLE.lock(id));
        JdbiRowClaim<Thing> claim = things.claim(lease, id, Thing.class);
        things.claim(lease, id, MAPPED);
        JdbiBlindRow blind = things.blind(lease, id);
        blind.update(JdbiRowValues.of("value", 1));
        lease.close();
        assertThatThrownBy(() -> things.claim(lease, id, MAPPED)).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(() -> blind.update(JdbiRowValues.of("value", 2))).isInstanceOf(LeaseLostException.class);
        claim.update(JdbiRowValues.of("value", 3));
        assertThat(stored()).isEqualTo("3");
    }

    @Test
    void aBatchIsAllOrNothing() {
        long second = -id;
        database.execute("INSERT INTO thing (id, value) VALUES (" + second + ", 0)");
        JdbiRowClaim<Long> from = things.claim(older, id, MAPPED);
        JdbiRowClaim<Long> to = things.claim(Grants.next(TABLE.lock(second)), second, MAPPED);
        things.updateAll(Map.of(from, value(90), to, value(10)));
        assertThat(stored()).isEqualTo("90");
        things.claim(newer, id, MAPPED);
        assertThatThrownBy(() -> things.updateAll(Map.of(from, value(80), to, value(20))))
                .isInstanceOf(StaleTokenException.class);
        assertThat(to.read()).contains(10L);
    }

    @Test
    void aLostAnswerIsUnknownOrSettled() {
        try (FaultProxy proxy =
                FaultProxy.to(database.server().host(), database.server().port())) {
            JdbiRows<Long> broken = JdbiRows.on(Jdbi.create(database.sourceAt(proxy.host(), proxy.port())), TABLE)
                    .listener(events);
            var claimed = proxy.onRequest("RETURNING a.*").loseReply(Cut.RST);
            JdbiRowClaim<Long> claim = broken.claim(older, id, MAPPED);
            assertThat(claimed.fired()).isTrue();
            proxy.onRequest("SET \"value\"").loseReply(Cut.RST);
            assertThatThrownBy(() -> claim.update(JdbiRowValues.of("value", 7)))
                    .isInstanceOf(OutcomeUnknownException.class);
            var recorded = broken.recorded().claim(older, id, MAPPED);
            proxy.onRequest("record_row_v1").loseReply(Cut.RST);
            recorded.update(JdbiRowValues.of("value", 8));
            assertThat(stored()).isEqualTo("8");
        }
    }
}
