package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencelineEvent.WriteEnded;
import dev.fenceline.FencelineEvent.WriteOutcome;
import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.RowMissingException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.TokenRejectedException;
import java.math.BigDecimal;
import java.sql.SQLException;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Many claimed rows in one statement: all or none. */
@Tag("server")
class RowBatchTest extends OneRow {

    long second;
    RowClaim<Long> from;
    RowClaim<Long> to;

    @BeforeEach
    void two() throws SQLException {
        second = -id;
        database.execute("INSERT INTO thing (id, value) VALUES (" + second + ", 0)");
        from = rows.claim(older, id, VALUE);
        to = rows.claim(Grants.next(TABLE.lock(second)), second, VALUE);
    }

    private String both() {
        return database.text("SELECT string_agg(value::text, ' ' ORDER BY id DESC) FROM thing WHERE abs(id) = " + id);
    }

    @Test
    void aTransferBetweenTwoRowsUnderTwoLocksIsOneStep() throws SQLException {
        rows.updateAll(Map.of(from, value(90), to, value(10)));

        assertThat(both()).isEqualTo("90 10");
        assertThat(events.of(WriteEnded.class).stream().map(WriteEnded::outcome))
                .as("one for each row")
                .containsExactly(WriteOutcome.APPLIED, WriteOutcome.APPLIED);
    }

    @Test
    void ifOneRowIsOvertakenNoneIsWritten() throws SQLException {
        rows.claim(newer, id, VALUE);

        assertThatThrownBy(() -> rows.updateAll(Map.of(from, value(90), to, value(10))))
                .isInstanceOfSatisfying(
                        StaleTokenException.class, e -> assertThat(e.newest()).isEqualTo(newer))
                .hasMessageStartingWith("Update on " + resource + " refused: token " + older + " is older by ")
                .cause()
                .hasMessageContaining("Write to \"thing\" under token ")
                .hasMessageContaining(" refused: the mark is another one for some of 2 rows");
        assertThat(both()).isEqualTo("100 0");
        to.update(value(1));
        assertThat(both()).as("the other claim is still good").isEqualTo("100 1");
    }

    @Test
    void withoutTheCheckOfTheCountHalfATransferIsCommitted() throws SQLException {
        rows.claim(newer, id, VALUE);
        // The naive batch: what was not written is not missed.
        database.execute("UPDATE thing SET value = v.b FROM unnest('{" + id + "," + second
                + "}'::bigint[], '{90,10}'::bigint[], '{" + older.value() + ","
                + to.token().value()
                + "}'::bigint[]) AS v (id, b, t) WHERE thing.id = v.id AND thing.fence_token = v.t");

        assertThat(both()).as("10 out of nothing").isEqualTo("100 10");
    }

    @Test
    void ifOneRowIsMissingNoneIsWritten() throws SQLException {
        to.delete();

        assertThatThrownBy(() -> rows.updateAll(Map.of(from, value(90), to, value(10))))
                .isInstanceOf(RowMissingException.class)
                .hasMessageStartingWith("Update of PostgreSQL row 'thing:" + second + "' of \"thing\" under token ");
        assertThat(stored()).isEqualTo("100");
    }

    @Test
    void aRowWhoseMarkWasLostIsRejected() {
        database.execute("UPDATE thing SET fence_token = 0, fence_holder = NULL WHERE id = " + second);

        assertThatThrownBy(() -> rows.updateAll(Map.of(from, value(90), to, value(10))))
                .isInstanceOf(TokenRejectedException.class)
                .hasMessageContaining("rejected by PostgreSQL row 'thing:" + second + "'");
        assertThat(stored()).isEqualTo("100");
    }

    @Test
    void manyRowsUnderOneTokenAreEachComparedWithTheirOwnMark() throws SQLException {
        database.execute(
                "CREATE TABLE line (batch text, no int, at timestamptz, day date, amount numeric(8,2), raw bytea,"
                        + " by uuid, ok boolean, tags jsonb, PRIMARY KEY (batch, no), fence_token bigint NOT NULL DEFAULT 0,"
                        + " fence_holder uuid); INSERT INTO line (batch, no) SELECT 'b', n FROM generate_series(1, 50) n");
        record Line(String batch, int no) {}
        FencedTable<Line> lines = FencedTable.of("line")
                .key(
                        List.of("batch", "no"),
                        line -> List.of(line.batch(), line.no()),
                        line -> LockName.of("batch", line.batch()));
        PostgresRows<Line> batch =
                PostgresRows.on(database.source(), lines).listener(events).recorded();
        FencingToken token = Grants.next(LockName.of("batch", "b"));
        Map<RowClaim<?>, RowValues> changes = new HashMap<>();
        for (int no = 1; no <= 50; no++) {
            changes.put(
                    batch.claim(token, new Line("b", no), row -> row.getInt("no")),
                    RowValues.of("at", OffsetDateTime.parse("2026-11-29T12:00:00Z"))
                            .and("day", no == 7 ? null : LocalDate.parse("2026-11-29"))
                            .and("amount", new BigDecimal("1.50"))
                            .and("raw", new byte[] {1, (byte) no})
                            .and("by", new UUID(0, no))
                            .and("ok", no % 2 == 0)
                            .and("tags", "{\"a\": [\"x,y\", null]}"));
        }

        batch.updateAll(changes);

        assertThat(database.text(
                        "SELECT count(*) || ' ' || count(day) || ' ' || sum(amount) || ' ' || count(DISTINCT raw)"
                                + " || ' ' || count(DISTINCT by) || ' ' || count(*) FILTER (WHERE ok) || ' ' || min(tags #>> '{a,0}')"
                                + " || ' ' || count(*) FILTER (WHERE at = '2026-11-29 12:00+00') FROM line"))
                .isEqualTo("50 49 75.00 50 50 25 x,y 50");
        assertThat(database.number("SELECT count(*) FROM fenceline.operation")).isEqualTo(1);
    }

    @Test
    void whatIsNoBatchIsRefusedBeforeItIsSent() throws SQLException {
        RowClaim<Long> again = rows.resume(older, id, VALUE);
        Map<RowClaim<?>, RowValues> twice = new LinkedHashMap<>();
        twice.put(from, value(1));
        twice.put(again, value(2));
        assertThatThrownBy(() -> rows.updateAll(twice))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Batch with " + resource + " refused: it is in the batch twice. Nothing was sent.");
        Map<RowClaim<?>, RowValues> different = new LinkedHashMap<>();
        different.put(to, RowValues.of("tag", null));
        different.put(from, value(1));
        assertThatThrownBy(() -> rows.updateAll(different))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Batch with " + resource + " refused: it sets the columns [value], and another one [tag]; in a"
                                + " batch all rows set the same. Nothing was sent.");
        assertThatThrownBy(() -> rows.updateAll(Map.of(from, RowValues.ofSql("value", "value + 1"))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Batch with " + resource
                        + " refused: column value is given the expression 'value + 1', and a batch"
                        + " sends values only; update this row by itself. Nothing was sent.");
        assertThatThrownBy(() -> rows.updateAll(Map.of(from, RowValues.none())))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Batch with " + resource + " refused: it sets no column. Nothing was sent.");
        assertThatThrownBy(() -> rows.updateAll(Map.of(from, RowValues.of("nowhere", 1))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Table \"thing\" has no column nowhere, but [fence_holder, fence_token, id, tag, value]."
                        + " Nothing was sent.");
        PostgresRows<Long> elsewhere = PostgresRows.on(database.source(), TABLE).listener(events);
        assertThatThrownBy(() -> elsewhere.updateAll(Map.of(from, value(1))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Batch with " + resource + " refused: its claim is one of another table or data source, or is"
                                + " used in a transaction. Nothing was sent.");
        rows.updateAll(Map.of());
        assertThat(both()).isEqualTo("100 0");
    }

    @Test
    void aColumnOfArraysIsRefusedInABatchAndWrittenRowByRow() throws SQLException {
        database.execute(
                "CREATE TABLE tagged (id bigint PRIMARY KEY, tags text[], fence_token bigint NOT NULL DEFAULT 0,"
                        + " fence_holder uuid); INSERT INTO tagged VALUES (" + id + ", '{}')");
        FencedTable<Long> table = FencedTable.of("tagged").key("id", key -> LockName.of("thing", key));
        PostgresRows<Long> tagged = PostgresRows.on(database.source(), table).listener(events);
        RowClaim<Long> claim = tagged.claim(older, id, row -> row.getLong("id"));
        RowValues tags = RowValues.of("tags", new String[] {"a", "b"});

        assertThatThrownBy(() -> tagged.updateAll(Map.of(claim, tags)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Column tags of table \"tagged\" is a text[], and a batch sends arrays of single values."
                        + " Nothing was sent; update row by row.");
        claim.update(tags);
        assertThat(database.text("SELECT tags::text FROM tagged")).isEqualTo("{a,b}");
    }
}
