package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.LockName;
import dev.fenceline.migrations.FenceMigrations;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A table that does not fit row mode, or whose owner has not given enough rights, is told what is wrong and what to run. */
@Tag("server")
class RowMisfitTest extends OneRow {

    private static final String MARK = ", fence_token bigint NOT NULL DEFAULT 0, fence_holder uuid";

    private static FencedTable<Long> table(String name) {
        return FencedTable.of("public", name).key("id", key -> LockName.of("thing", key));
    }

    private static void created(String kind, String name, String definition) {
        database.execute("DROP " + kind + " IF EXISTS " + name + " CASCADE; CREATE " + kind + " " + name + definition);
    }

    private void refused(FencedTable<Long> table, String why) {
        assertThatThrownBy(() -> PostgresRows.on(database.source(), table).claim(older, id, VALUE))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessage("Row mode on table " + table + " refused: " + why + ". Nothing happened.");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "id bigint PRIMARY KEY | it has no column fence_token, which is to hold a part of the mark; it has no column"
                        + " fence_holder, which is to hold a part of the mark",
                "id bigint PRIMARY KEY, fence_token bigint NOT NULL DEFAULT 0 | it has no column fence_holder, which is to hold a part of the mark",
                "id bigint PRIMARY KEY, fence_token bigint, fence_holder uuid | its column fence_token may be null, and is to be NOT NULL",
                "id bigint PRIMARY KEY, fence_token int NOT NULL DEFAULT 7, fence_holder uuid | its column fence_token is integer,"
                        + " and is to be bigint NOT NULL",
                "id bigint PRIMARY KEY, fence_token text DEFAULT '', fence_holder varchar(40) | its column fence_token is text,"
                        + " and is to be bigint NOT NULL; its column fence_holder is character varying, and is to be uuid",
                "id bigint PRIMARY KEY, fence_token timestamptz, fence_holder bytea | its column fence_token is timestamp with time"
                        + " zone, and is to be bigint NOT NULL; its column fence_holder is bytea, and is to be uuid",
            })
    void eachColumnOfTheMarkThatDoesNotFitIsNamedAndTheCommandsMendIt(String columns, String why) throws SQLException {
        created("TABLE", "plain", " (value bigint DEFAULT 5, " + columns + ")");
        database.execute("INSERT INTO plain (id) VALUES (" + id + ")"
                + (columns.contains("text DEFAULT ''") ? "; UPDATE plain SET fence_token = NULL" : ""));
        FencedTable<Long> plain = table("plain");
        PostgresRows<Long> onPlain = PostgresRows.on(database.source(), plain).listener(events);

        assertThatThrownBy(() -> onPlain.claim(older, id, VALUE))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageStartingWith(
                        "Row mode on table \"public\".\"plain\" refused: " + why + ". As its owner, run: ")
                .hasMessageEndingWith(". Nothing happened.")
                .satisfies(e -> {
                    String message = String.valueOf(e.getMessage());
                    database.execute(message.substring(message.indexOf("run: ") + 5, message.lastIndexOf(". Nothing")));
                });

        RowClaim<Long> claim = onPlain.claim(older, id, VALUE);
        assertThat(claim.row()).contains(5L);
        claim.update(value(6));
    }

    @Test
    void theCommandsAreTheShortestThatDoIt() {
        created("TABLE", "lacking", " (id bigint PRIMARY KEY)");
        refused(
                table("lacking"),
                "it has no column fence_token, which is to hold a part of the mark; it has no column fence_holder, which is to"
                        + " hold a part of the mark. As its owner, run: ALTER TABLE \"public\".\"lacking\" ADD COLUMN fence_token"
                        + " bigint NOT NULL DEFAULT 0; ALTER TABLE \"public\".\"lacking\" ADD COLUMN fence_holder uuid");
        created("TABLE", "lacking", " (id bigint PRIMARY KEY, fence_token bigint NOT NULL, fence_holder text)");
        refused(
                table("lacking"),
                "its column fence_holder is text, and is to be uuid. As its owner, run: ALTER TABLE \"public\".\"lacking\" ALTER"
                        + " COLUMN fence_holder DROP DEFAULT, ALTER COLUMN fence_holder TYPE uuid USING fence_holder::uuid");
    }

    @Test
    void aViewIsToldWhichTableToName() {
        created("TABLE", "base", " (id bigint PRIMARY KEY, value bigint" + MARK + ")");
        created("TABLE", "second", " (other bigint)");
        created("VIEW", "seen", " AS SELECT * FROM base");
        refused(
                table("seen"),
                "it is a view, and the mark is kept in the rows of a table. Name that table, which is public.base");
        created("VIEW", "joined", " AS SELECT * FROM base, second");
        refused(
                table("joined"),
                "it is a view, and the mark is kept in the rows of a table. Name the one of its tables whose rows are written:"
                        + " public.base or public.second");
        created("VIEW", "made", " AS SELECT 1 AS id");
        refused(table("made"), "it is a view, and the mark is kept in the rows of a table. Name that table");
        refused(table("base_pkey"), "it is not a table. Check its name, and that of its schema");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "id bigint | Give it a primary key; an index that is deferrable, partial or on expressions does not serve",
                "id bigint, UNIQUE (id) DEFERRABLE | Give it a primary key; an index that is deferrable, partial or on"
                        + " expressions does not serve",
                "id bigint, UNIQUE (value, id), no int, PRIMARY KEY (no) | Name the columns that its rows are told apart by:"
                        + " [no] or [value, id]",
            })
    void aKeyThatDoesNotTellRowsApartIsRefusedAndToldWhichDo(String key, String remedy) {
        created("TABLE", "vague", " (value bigint" + MARK + ", " + key + ")");
        refused(
                table("vague"),
                "it has no unique index on exactly the columns [id], so these do not tell one row from another. "
                        + remedy);
    }

    @Test
    void aKeyThatIsNoColumnIsToldWhichColumnsThereAre() {
        created("TABLE", "misnamed", " (\"Id\" bigint PRIMARY KEY, value bigint" + MARK + ")");
        refused(
                table("misnamed"),
                "it has no column id, which is to be a part of its key, but [Id, value, fence_token, fence_holder]. Name the"
                        + " columns that its rows are told apart by: [Id]");
        FencedTable<Long> two = FencedTable.of("misnamed")
                .key(List.of("a", "Id", "b"), key -> List.of(key, key, key), key -> LockName.of("thing", key));
        refused(
                two,
                "it has no column a and no column b, which is to be a part of its key, but [Id, value, fence_token,"
                        + " fence_holder]. Name the columns that its rows are told apart by: [Id]");
    }

    // Rights on the table.

    private DataSource role(String name, String granted) {
        String role = name + "_" + database.name();
        database.execute("CREATE ROLE " + role + " LOGIN; GRANT " + granted + " ON thing TO " + role);
        FenceMigrations.on(database.source()).grantRowsTo(role);
        return database.server().dataSource(database.name(), role);
    }

    /** Says what is missing; what it tells to run is run, and then it works. */
    private void lacks(String role, String step, String lacks, String grant, ThrowingCallable statement)
            throws Throwable {
        String named = role + "_" + database.name();
        assertThatThrownBy(statement)
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessage("Row mode on table \"thing\" refused: " + step + " needs rights that the role '" + named
                        + "' lacks: " + lacks + ". As its owner, run: GRANT " + grant + " ON \"thing\" TO \"" + named
                        + "\". Nothing happened.")
                .cause()
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("permission denied for table thing");
        database.execute("GRANT " + grant + " ON \"thing\" TO \"" + named + "\"");
        statement.call();
    }

    @Test
    void aRoleThatMayOnlyReadIsToldToWriteTheMark() throws Throwable {
        PostgresRows<Long> reader = on(role("reader", "SELECT"));
        lacks(
                "reader",
                "Claim",
                "UPDATE on [fence_token, fence_holder]",
                "UPDATE (\"fence_token\", \"fence_holder\")",
                () -> reader.claim(older, id, VALUE));
        RowClaim<Long> claim = reader.claim(older, id, VALUE);
        lacks("reader", "Update", "UPDATE on [value]", "UPDATE (\"value\")", () -> claim.update(value(7)));
        lacks(
                "reader",
                "Upsert",
                "INSERT on [id, value, fence_token, fence_holder]",
                "INSERT (\"id\", \"value\", \"fence_token\", \"fence_holder\")",
                () -> claim.upsert(value(8)));
        lacks("reader", "Delete", "DELETE", "DELETE", claim::delete);
        lacks("reader", "Insert", "INSERT on [tag]", "INSERT (\"tag\")", () -> claim.insert(value(9).and("tag", null)));
        lacks(
                "reader",
                "Update",
                "UPDATE on [tag]",
                "UPDATE (\"tag\")",
                () -> reader.updateAll(Map.of(claim, RowValues.of("tag", null))));
        assertThat(stored()).isEqualTo("9");
    }

    @Test
    void aRoleThatMayNotReadTheRowIsToldSo() throws Throwable {
        PostgresRows<Long> writer = on(role("writer", "UPDATE"));
        lacks(
                "writer",
                "Update",
                "SELECT on [id, fence_token, fence_holder]",
                "SELECT (\"id\", \"fence_token\", \"fence_holder\")",
                () -> writer.blind(older, id).update(value(7)));
        lacks("writer", "Claim", "SELECT on all of its columns", "SELECT", () -> writer.claim(older, id, VALUE));
        database.execute("REVOKE SELECT ON thing FROM writer_" + database.name());
        lacks("writer", "Reading", "SELECT on all of its columns", "SELECT", () -> writer.resume(older, id, VALUE));
        assertThat(stored()).isEqualTo("7");
    }

    @Test
    void inATransactionTheMissingRightIsToldToo() throws SQLException {
        DataSource source = role("half", "SELECT, UPDATE (fence_token, fence_holder)");
        RowClaim<Long> claim = on(source).claim(older, id, VALUE);
        try (Connection connection = transaction(source)) {
            assertThatThrownBy(() -> claim.in(connection).update(value(7)))
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessageContaining(
                            "Update needs rights that the role 'half_" + database.name()
                                    + "' lacks: UPDATE on [value]. As its owner, run: GRANT UPDATE (\"value\") ON \"thing\" TO ");
        }
        assertThat(stored()).isEqualTo("100");
    }

    @Test
    void aRefusalThatIsNotOfTheTablesRightsComesOutAsItIs() throws SQLException {
        database.execute("CREATE TABLE policed (id bigint PRIMARY KEY, value bigint" + MARK + ");"
                + " INSERT INTO policed VALUES (" + id + ", 5); CREATE POLICY small ON policed USING (true) WITH CHECK"
                + " (value < 10); ALTER TABLE policed ENABLE ROW LEVEL SECURITY");
        DataSource source = role("policed", "SELECT");
        database.execute("GRANT ALL ON policed TO policed_" + database.name());
        RowClaim<Long> claim =
                PostgresRows.on(source, table("policed")).listener(events).claim(older, id, VALUE);

        assertThatThrownBy(() -> claim.update(value(70)))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("new row violates row-level security policy for table \"policed\"");
        claim.update(value(7));
    }

    @Test
    void aFunctionThatNamesNoLockIsRefused() {
        @SuppressWarnings("NullAway") // What code without such checks may do.
        FencedTable<Long> nameless = FencedTable.of("thing").key("id", key -> null);
        assertThatThrownBy(() -> PostgresRows.on(database.source(), nameless).lock(1L))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Key 1 of \"thing\" was given no lock; name one for each key, the same at each call.");
    }
}
