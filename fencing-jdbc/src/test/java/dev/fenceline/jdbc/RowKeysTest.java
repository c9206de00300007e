package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencelineListener;
import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.RowExistsException;
import dev.fenceline.RowMissingException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.TokenRejectedException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Keys of any type, and names that must be quoted. */
@Tag("server")
class RowKeysTest {

    private static final String MARK = ", fence_token bigint NOT NULL DEFAULT 0, fence_holder uuid)";

    static TestDatabase database;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        database.execute("CREATE TYPE mood AS ENUM ('fine', 'so so'); CREATE SCHEMA \"Odd \"\"Schema\";"
                + " CREATE SCHEMA \"My.Own schema\"");
        kinds().forEach(kind -> database.execute(
                "CREATE TABLE " + kind.table() + " (" + kind.columns() + ", \"the \"\"value\" mood" + MARK));
    }

    /** A table, and two of its keys. */
    record Kind<K>(FencedTable<K> table, String columns, K key, K other) {
        @Override
        public String toString() {
            return columns;
        }
    }

    record Line(UUID order, int no) {}

    static Stream<Kind<?>> kinds() {
        UUID order = UUID.fromString("3f8b6a52-0b53-4f7e-9d2e-0d5a3c1b2e4f");
        FencedTable<Line> lines = FencedTable.of("Odd \"Schema", "Weird \"Table")
                .key(
                        List.of("No", "the order"),
                        line -> List.of(line.no(), line.order()),
                        line -> LockName.of("line", line.order(), line.no()));
        // What JDBC, Jdbi's parser and its templates would each take for something of their own, were it not quoted.
        FencedTable<Line> odd = FencedTable.of("My.Own schema", "T.x {fn y} <z> -- :a ? 'q' $1")
                .key(
                        List.of("<b>", "No.1", ":c"),
                        line -> List.of(line.no(), line.no(), line.order()),
                        line -> LockName.of("odd.line", line.order(), line.no()));
        return Stream.of(
                new Kind<>(
                        odd,
                        "\":c\" uuid, \"No.1\" int, \"<b>\" int, PRIMARY KEY (\"<b>\", \"No.1\", \":c\")",
                        new Line(order, 1),
                        new Line(order, 2)),
                new Kind<>(
                        FencedTable.of("longs").key("id", (Long id) -> LockName.of("long", id)),
                        "id bigint PRIMARY KEY",
                        42L,
                        Long.MIN_VALUE),
                new Kind<>(
                        FencedTable.of("public", "ints").key("id", (Integer id) -> LockName.of("int", id)),
                        "id int PRIMARY KEY",
                        42,
                        -1),
                new Kind<>(
                        FencedTable.of("small").key("id", (Integer id) -> LockName.of("small", id)),
                        "id smallint UNIQUE",
                        42,
                        43),
                new Kind<>(
                        FencedTable.of("ids").key("id", (UUID id) -> LockName.of("id", id)),
                        "id uuid PRIMARY KEY",
                        order,
                        UUID.fromString("00000000-0000-0000-0000-000000000000")),
                new Kind<>(
                        FencedTable.of("texts").key("id", (String id) -> LockName.of("text", id)),
                        "id text PRIMARY KEY",
                        "a:b%3A 'quoted' \"twice\" {x,\\y} ? :z é",
                        "a:b:c"),
                new Kind<>(
                        FencedTable.of("padded").key("id", (String id) -> LockName.of("padded", id)),
                        "id char(4) PRIMARY KEY",
                        "ab",
                        "b"),
                new Kind<>(
                        FencedTable.of("moods").key("id", (String id) -> LockName.of("mood", id)),
                        "id mood PRIMARY KEY",
                        "so so",
                        "fine"),
                new Kind<>(
                        lines,
                        "\"the order\" uuid, \"No\" int, PRIMARY KEY (\"the order\", \"No\")",
                        new Line(order, 1),
                        new Line(order, 2)));
    }

    private static RowValues mood(String mood) {
        return RowValues.of("the \"value", mood);
    }

    @ParameterizedTest
    @MethodSource("kinds")
    <K> void everyStatementFindsItsRowByAnyKey(Kind<K> kind) throws SQLException {
        PostgresRows<K> rows = PostgresRows.on(database.source(), kind.table()).listener(FencelineListener.none());
        RowReader<String> reader = row -> String.valueOf(row.getString("the \"value"));
        FencingToken older = Grants.next(rows.lock(kind.key()));

        RowClaim<String> old = rows.claim(older, kind.key(), reader);
        assertThat(old.row()).isEmpty();
        old.insert(mood("fine"));
        old.update(mood("so so"));
        assertThat(old.read()).contains("so so");
        old.upsert(mood(null));
        RowClaim<String> other = rows.claim(Grants.next(rows.lock(kind.other())), kind.other(), reader);
        rows.blind(other.token(), kind.other()).upsert(mood("so so"));
        rows.updateAll(Map.of(old, mood("fine"), other, mood("fine")));
        assertThat(rows.resume(other.token(), kind.other(), reader).row()).contains("fine");

        FencingToken newer = Grants.next(rows.lock(kind.key()));
        RowClaim<String> claim = rows.claim(newer, kind.key(), reader);
        assertThat(claim.row()).contains("fine");
        assertThatThrownBy(() -> old.update(mood("so so")))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageStartingWith("Update on PostgreSQL row '" + rows.lock(kind.key()) + "' of " + kind.table()
                        + " refused: token " + older + " is older by ");
        claim.delete();
        assertThatThrownBy(claim::delete).isInstanceOf(RowMissingException.class);
        assertThat(claim.read()).isEmpty();
        rows.blind(newer, kind.key()).insert(mood("fine"));
        rows.blind(newer, kind.key()).update(mood("so so"));
        assertThat(claim.read()).contains("so so");
        assertThatThrownBy(() -> rows.claim(newer, kind.other(), reader))
                .isInstanceOf(TokenRejectedException.class)
                .hasMessageStartingWith("Token " + newer + " rejected for '" + rows.lock(kind.other())
                        + "': it belongs to another lock.");
    }

    @ParameterizedTest
    @MethodSource("kinds")
    <K> void jdbiFindsItTooWithItsOwnWayOfWritingParameters(Kind<K> kind) {
        JdbiRows<K> rows =
                JdbiRows.on(Jdbi.create(database.source()), kind.table()).listener(FencelineListener.none());
        FencingToken token = Grants.next(rows.lock(kind.key()));

        JdbiRowClaim<String> claim = rows.claim(token, kind.key(), (row, context) -> row.getString("the \"value"));
        claim.upsert(JdbiRowValues.of("the \"value", "fine"));
        claim.update(JdbiRowValues.bound(q -> q.bind("mood", "so so")).set("the \"value", "CAST(:mood AS mood)"));
        assertThat(claim.read()).contains("so so");
        rows.updateAll(Map.of(claim, mood("fine")));
        assertThat(claim.read()).contains("fine");
        claim.delete();
        assertThat(claim.read()).isEmpty();
        rows.blind(token, kind.key()).insert(JdbiRowValues.of("the \"value", "fine"));
        assertThat(claim.read()).contains("fine");
        claim.delete();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    <K> void inATransactionToo(Kind<K> kind) throws SQLException {
        PostgresRows<K> rows = PostgresRows.on(database.source(), kind.table()).listener(FencelineListener.none());
        RowReader<String> reader = row -> String.valueOf(row.getString("the \"value"));
        RowClaim<String> claim = rows.claim(Grants.next(rows.lock(kind.key())), kind.key(), reader);
        try (Connection connection = OneRow.transaction(database.source())) {
            RowClaim<String> within = claim.in(connection);
            assertThat(within.read()).isEmpty();
            within.upsert(mood("fine"));
            within.update(mood("so so"));
            assertThat(within.read()).contains("so so");
            connection.commit();
            assertThatThrownBy(() -> within.insert(mood("fine")))
                    .as("told by the name of its index")
                    .isInstanceOf(RowExistsException.class);
            connection.rollback();
            within.delete();
            connection.commit();
        }
        Jdbi.create(database.source()).useTransaction(handle -> {
            JdbiRowClaim<String> within = JdbiRows.on(Jdbi.create(database.source()), kind.table())
                    .listener(FencelineListener.none())
                    .resume(claim.token(), kind.key(), (row, context) -> row.getString("the \"value"))
                    .in(handle);
            within.insert(JdbiRowValues.of("the \"value", "fine"));
            assertThat(within.read()).contains("fine");
            within.delete();
        });
        assertThat(claim.read()).isEmpty();
    }

    @Test
    void namesThatJdbiWouldTakeApartAreRefusedThereAndWorkWithPlainJdbc() throws SQLException {
        FencedTable<Long> quotes = FencedTable.of("\"very\" \"\"odd\"").key("i\"d?", id -> LockName.of("odd", id));
        database.execute("CREATE TABLE " + quotes + " (\"i\"\"d?\" bigint PRIMARY KEY" + MARK);
        RowClaim<Long> claim = PostgresRows.on(database.source(), quotes)
                .listener(FencelineListener.none())
                .claim(Grants.next(LockName.of("odd", 1)), 1L, row -> row.getLong("i\"d?"));
        claim.insert(RowValues.none());
        assertThat(claim.read()).contains(1L);

        assertThatThrownBy(() -> JdbiRows.on(Jdbi.create(database.source()), quotes))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Name '\"very\" \"\"odd\"' begins or ends with a double quote, or holds two in a row, which Jdbi's"
                                + " parser does not read. Use PostgresRows for this table, or rename it.");
        assertThatThrownBy(() -> JdbiRowValues.of("\"quoted\"", 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Name '\"quoted\"' begins or ends with a double quote");
    }

    @Test
    void aTableIsDescribedInFull() {
        assertThatThrownBy(() -> FencedTable.of(""))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("The name of a schema, table or column is empty or holds a NUL.");
        assertThatThrownBy(() -> FencedTable.of("t").key("fence_token", (Long id) -> LockName.of("t", id)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Column fence_token of \"t\" holds the mark, and cannot be a part of the key.");
        assertThatThrownBy(() -> FencedTable.of("t")
                        .key(List.of("a", "a"), (Long id) -> List.of(id, id), id -> LockName.of("t", id)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("The key of \"t\" has the columns [a, a]; it needs at least one, and each once.");
        FencedTable<Long> pair = FencedTable.of("s", "t")
                .key(List.of("a", "b"), id -> Arrays.asList(id, id > 0 ? null : id), id -> LockName.of("t", id));
        FencingToken token = Grants.next(LockName.of("t", 1));
        assertThatThrownBy(() -> PostgresRows.on(database.source(), pair).blind(token, 1L))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Key 1 of \"s\".\"t\" has no value for column b; a row without a key cannot be found again.");
        FencedTable<Long> short1 =
                FencedTable.of("t").key(List.of("a", "b"), id -> List.of(id), id -> LockName.of("t", id));
        assertThatThrownBy(() -> PostgresRows.on(database.source(), short1).blind(token, 1L))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Key 1 of \"t\" was taken apart into 1 values, for the columns [a, b].");
    }
}
