package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.RowMissingException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.UnfencedWriteException;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Batches as an ORM sends them. With reWriteBatchedInserts the driver makes one INSERT of many and no longer knows how many rows each
 * has written: it answers SUCCESS_NO_INFO. No decision of the fence may rest on such a count.
 */
@Tag("server")
class BatchCountsTest {

    private static final int ROWS = 4;
    private static final FencedTable<Long> STAMPED =
            FencedTable.of("stamped_item").key("id", id -> LockName.of("item", id));

    private static TestDatabase database;

    private static long shelves;

    private FencingToken older;
    private FencingToken newer;
    private long shelf;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        database.execute("CREATE TABLE item (shelf bigint, id bigint, label text NOT NULL, PRIMARY KEY (shelf, id));"
                + " CREATE TABLE protected_item (LIKE item INCLUDING ALL);"
                + " SELECT fenceline.protect('protected_item', 'shelf', '{shelf}', 'enforce');"
                + " CREATE TABLE stamped_item (id bigint PRIMARY KEY, label text NOT NULL,"
                + " fence_token bigint NOT NULL DEFAULT 0, fence_holder uuid)");
    }

    @BeforeEach
    void grant() {
        shelf = ++shelves;
        LockName lock = LockName.of("shelf", shelf);
        older = Grants.next(lock);
        newer = Grants.next(lock);
    }

    private static PGSimpleDataSource source(boolean rewriting) {
        PGSimpleDataSource source = database.sourceNamed("batching");
        source.setReWriteBatchedInserts(rewriting);
        return source;
    }

    /** Inserts rows as an ORM does that flushes. */
    private static int[] insert(Connection connection, String table, long... shelves) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("INSERT INTO " + table + " VALUES (?, ?, ?)")) {
            for (int i = 0; i < shelves.length; i++) {
                statement.setLong(1, shelves[i]);
                statement.setLong(2, i);
                statement.setString(3, "new");
                statement.addBatch();
            }
            return statement.executeBatch();
        }
    }

    private static int[] label(Connection connection, String table, long shelf, String label) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("UPDATE " + table + " SET label = ? WHERE shelf = ? AND id = ?")) {
            for (int i = 0; i < ROWS; i++) {
                statement.setString(1, label);
                statement.setLong(2, shelf);
                statement.setLong(3, i);
                statement.addBatch();
            }
            return statement.executeBatch();
        }
    }

    private long[] allOnTheShelf() {
        return new long[] {shelf, shelf, shelf, shelf};
    }

    private long count(String table, String label) {
        return database.number(
                "SELECT count(*) FROM " + table + " WHERE shelf = " + shelf + " AND label = '" + label + "'");
    }

    @ParameterizedTest
    @ValueSource(strings = {"item", "protected_item"})
    void aUnitIsAppliedWhateverTheDriverKnowsOfItsCounts(String table) throws SQLException {
        for (boolean rewriting : new boolean[] {false, true}) {
            grant();
            Claim<Connection> claim = PostgresFence.on(source(rewriting)).claim(older);

            int[] inserted = claim.<int[], SQLException>inTransaction(c -> insert(c, table, allOnTheShelf()));
            int[] updated = claim.<int[], SQLException>inTransaction(c -> label(c, table, shelf, "changed"));

            assertThat(inserted).hasSize(ROWS).containsOnly(rewriting ? Statement.SUCCESS_NO_INFO : 1);
            assertThat(updated).as("only inserts are made one").hasSize(ROWS).containsOnly(1);
            assertThat(count(table, "changed")).isEqualTo(ROWS);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aStaleUnitThatBatchesWritesNothing(boolean rewriting) throws SQLException {
        PostgresFence fence = PostgresFence.on(source(rewriting));
        Claim<Connection> stale = fence.claim(older);
        stale.useTransaction(c -> insert(c, "item", allOnTheShelf()));
        fence.claim(newer);

        assertThatThrownBy(() -> stale.useTransaction(c -> label(c, "item", shelf, "late")))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageContaining("token " + older + " is older by");
        assertThatThrownBy(() -> stale.useTransaction(c -> insert(c, "item", shelf, shelf)))
                .isInstanceOf(StaleTokenException.class);

        assertThat(count("item", "new")).isEqualTo(ROWS);
        assertThat(count("item", "late")).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aBatchOfAWriterThatHasNotEnteredIsRefusedAsAWhole(boolean rewriting) throws SQLException {
        try (Connection connection = source(rewriting).getConnection()) {
            connection.setAutoCommit(false);

            assertThatThrownBy(() -> insert(connection, "protected_item", allOnTheShelf()))
                    .isInstanceOfSatisfying(
                            BatchUpdateException.class,
                            e -> assertThat(e.getSQLState()).isEqualTo("FL001"))
                    .hasMessageContaining("protected_item");
            connection.commit();
        }
        assertThat(count("protected_item", "new")).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void oneRowOfAnotherLockRefusesTheWholeUnit(boolean rewriting) {
        Claim<Connection> claim = PostgresFence.on(source(rewriting)).claim(older);
        long elsewhere = ++shelves;

        assertThatThrownBy(() -> claim.useTransaction(c -> insert(c, "protected_item", shelf, shelf, elsewhere, shelf)))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageContaining("shelf:" + shelf);

        assertThat(count("protected_item", "new")).isZero();
        assertThat(database.number("SELECT count(*) FROM protected_item WHERE shelf = " + elsewhere))
                .isZero();
    }

    @Test
    void withoutItsCountARefusedInsertLooksLikeAnAppliedOne() throws SQLException {
        // The control: a conditional insert, as a fence of one statement is, in a batch that an ORM sends.
        for (boolean rewriting : new boolean[] {false, true}) {
            grant();
            database.execute("INSERT INTO item VALUES (" + shelf + ", 0, 'of another')");
            int[] counts;
            try (Connection connection = source(rewriting).getConnection();
                    PreparedStatement statement = connection.prepareStatement(
                            "INSERT INTO item VALUES (?, ?, ?) ON CONFLICT (shelf, id) DO NOTHING")) {
                for (int i = 0; i < 2; i++) {
                    statement.setLong(1, shelf);
                    statement.setLong(2, i);
                    statement.setString(3, "mine");
                    statement.addBatch();
                }
                counts = statement.executeBatch();
            }

            assertThat(counts)
                    .as("the first was refused")
                    .containsExactly(
                            rewriting
                                    ? new int[] {Statement.SUCCESS_NO_INFO, Statement.SUCCESS_NO_INFO}
                                    : new int[] {0, 1});
            assertThat(count("item", "mine")).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void rowModeKnowsTheCountOfItsOwnBatch(boolean rewriting) throws SQLException {
        PostgresRows<Long> rows = PostgresRows.on(source(rewriting), STAMPED);
        List<RowClaim<String>> claims = new ArrayList<>();
        for (int i = 0; i < ROWS; i++) {
            claims.add(claimed(rows, ++shelves));
        }

        rows.updateAll(labelled(claims, "mine"));
        assertThat(labels(claims)).containsOnly("mine").hasSize(ROWS);

        FencingToken overtaking = Grants.next(claims.get(2).token().lock());
        rows.claim(overtaking, shelves - 1, row -> row.getString("label"));
        assertThatThrownBy(() -> rows.updateAll(labelled(claims, "late")))
                .isInstanceOfSatisfying(
                        StaleTokenException.class, e -> assertThat(e.newest()).isEqualTo(overtaking));
        assertThat(labels(claims)).as("all or nothing").containsOnly("mine").hasSize(ROWS);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void rowModeTellsAMissingRowOfABatchFromAStaleOne(boolean rewriting) throws SQLException {
        PostgresRows<Long> rows = PostgresRows.on(source(rewriting), STAMPED);
        List<RowClaim<String>> claims = List.of(claimed(rows, ++shelves), claimed(rows, ++shelves));
        claims.get(1).delete();

        assertThatThrownBy(() -> rows.updateAll(labelled(claims, "late")))
                .isInstanceOf(RowMissingException.class)
                .hasMessageContaining("item:" + shelves);
        assertThat(labels(claims)).containsExactly("old");
    }

    private static RowClaim<String> claimed(PostgresRows<Long> rows, long id) throws SQLException {
        database.execute("INSERT INTO stamped_item VALUES (" + id + ", 'old')");
        return rows.claim(Grants.next(rows.lock(id)), id, row -> row.getString("label"));
    }

    private static Map<RowClaim<?>, RowValues> labelled(List<RowClaim<String>> claims, String label) {
        Map<RowClaim<?>, RowValues> changes = new LinkedHashMap<>();
        claims.forEach(claim -> changes.put(claim, RowValues.of("label", label)));
        return changes;
    }

    private static List<String> labels(List<RowClaim<String>> claims) throws SQLException {
        String ids = claims.stream()
                .map(claim -> claim.token().lock().toString().substring("item:".length()))
                .collect(Collectors.joining(", "));
        List<String> labels = new ArrayList<>();
        try (Connection connection = database.source().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT label FROM stamped_item WHERE id IN (" + ids + ")")) {
            while (row.next()) {
                labels.add(row.getString(1));
            }
        }
        return labels;
    }
}
