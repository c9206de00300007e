package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.fenceline.BackendMisconfiguredException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever the tables of row mode look like, and whoever works on them meanwhile, no row's mark is passed over. */
@Tag("server")
class AfterRestoreRowsTest {

    private static final String A = "a0000000-0000-4000-8000-000000000001";
    private static final String UNRAISED_ROWS =
            "SELECT count(*) FROM %s WHERE fence_token > 0 AND fence_holder NOT IN (SELECT holder FROM fenceline.raising)";

    Database database;
    FenceOperations operations;

    @BeforeEach
    void prepare() {
        database = Database.prepared();
        operations = FenceOperations.on(database.source());
    }

    @Test
    void keysOfAnyTypeAndTablesOfAnyShapeAreRaised() {
        database.execute("CREATE SCHEMA \"Odd Schema\"; CREATE TYPE \"Odd Schema\".colour AS ENUM ('red', 'green');"
                + " CREATE DOMAIN \"Odd Schema\".code AS varchar(8)");
        database.marked(
                "\"Odd Schema\".\"o'ne \"\"table\"",
                "\"a.b\" \"Odd Schema\".colour, c \"Odd Schema\".code, t timestamptz,"
                        + " PRIMARY KEY (\"a.b\", c, t)");
        database.marked("no_key", "id int");
        database.marked("nullable_key", "id int UNIQUE");
        database.marked("unique_key", "id uuid NOT NULL, v int, payload text");
        database.marked("parted", "id int, at int, PRIMARY KEY (id, at)", "PARTITION BY RANGE (at)");
        database.marked("ancestor", "id int PRIMARY KEY");
        database.execute("CREATE UNIQUE INDEX ON unique_key (id) INCLUDE (payload);"
                + " CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (5);"
                + " CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (5) TO (10);"
                + " CREATE TABLE descendant (PRIMARY KEY (id)) INHERITS (ancestor);"
                + " CREATE TABLE not_ours (id int PRIMARY KEY, fence_token text, fence_holder uuid);"
                + " INSERT INTO not_ours VALUES (1, '7', '" + A + "');"
                + " INSERT INTO \"Odd Schema\".\"o'ne \"\"table\" SELECT CASE n % 2 WHEN 0 THEN 'red' ELSE 'green' END::\"Odd Schema\".colour,"
                + " n, now(), 7, '" + A + "' FROM generate_series(1, 1500) n;"
                + " INSERT INTO no_key VALUES (1, 7, '" + A + "'), (1, 7, '" + A + "');"
                + " INSERT INTO nullable_key VALUES (1, 7, '" + A + "'), (NULL, 7, '" + A + "');"
                + " INSERT INTO unique_key SELECT gen_random_uuid(), 0, 'x', 7, '" + A
                + "' FROM generate_series(1, 1500);"
                + " INSERT INTO parted SELECT n, n % 10, 7, '" + A + "' FROM generate_series(1, 1500) n;"
                + " INSERT INTO ancestor VALUES (1, 7, '" + A + "'); INSERT INTO descendant VALUES (1, 7, '" + A
                + "')");

        Restoration restoration = operations.afterRestore(batch -> {});

        assertThat(restoration.raised())
                .containsExactly(
                        new Restoration.Raised("fenceline.guard", 0),
                        new Restoration.Raised("\"Odd Schema\".\"o'ne \"\"table\"", 1500),
                        new Restoration.Raised("public.ancestor", 1),
                        new Restoration.Raised("public.descendant", 1),
                        new Restoration.Raised("public.no_key", 2),
                        new Restoration.Raised("public.nullable_key", 2),
                        new Restoration.Raised("public.parted", 1500),
                        new Restoration.Raised("public.unique_key", 1500));
        for (Restoration.Raised table : restoration.raised().subList(1, 8)) {
            assertThat(database.rows(String.format(UNRAISED_ROWS, table.relation())))
                    .as(table.relation())
                    .containsExactly("0");
        }
        assertThat(database.rows("SELECT fence_token FROM not_ours")).containsExactly("7");
    }

    /** The rows of a page are looked at twice where some are in use, and a row that came in between pushes the last one out of it. */
    @Test
    void aRowInUseThatIsPushedToTheNextPageIsNotPassedOver() throws SQLException {
        database.marked("account", "id int PRIMARY KEY, balance int");
        database.execute(
                "INSERT INTO account SELECT n, 0, n, '" + A + "' FROM generate_series(1, 1500) n;"
                        + " CREATE FUNCTION add() RETURNS trigger LANGUAGE plpgsql AS"
                        + " 'BEGIN INSERT INTO account VALUES (0, 0) ON CONFLICT DO NOTHING; RETURN NULL; END';"
                        + " CREATE TRIGGER theirs AFTER UPDATE ON account FOR EACH ROW WHEN (NEW.id = 1) EXECUTE FUNCTION add()");
        try (Connection holder = database.named("sleeper").getConnection();
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            statement.execute("UPDATE account SET balance = 1 WHERE id = 1000");

            Restoration restoration =
                    operations.waitAtMost(Duration.ofMillis(100)).afterRestore(batch -> {});

            assertThat(database.rows(String.format(UNRAISED_ROWS, "account"))).containsExactly("1");
            assertThat(restoration.isComplete()).isFalse();
            assertThat(restoration.left()).extracting(Restoration.Left::mark).containsExactly("rows after key (999)");
            holder.rollback();
        }
    }

    @Test
    void aProtectedTableWithMarksIsBypassedOnTheRecord() {
        database.marked("account", "id int PRIMARY KEY, balance int");
        database.execute("INSERT INTO account VALUES (1, 0, 7, '" + A + "');"
                + " SELECT fenceline.protect('account', 'account', '{id}', 'enforce')");

        assertThat(operations.afterRestore(batch -> {}).raised()).contains(new Restoration.Raised("public.account", 1));

        assertThat(database.rows("SELECT reason FROM fenceline.bypass"))
                .containsExactly("all marks are raised after a restore");
    }

    @Test
    void aMissingRightIsToldBeforeAnythingIsRaised() {
        database.marked("account", "id int PRIMARY KEY, balance int");
        database.execute("INSERT INTO account VALUES (1, 0, 7, '" + A
                + "'); INSERT INTO fenceline.guard VALUES ('account:42', 7, '" + A
                + "', now(), ''); SELECT fenceline.protect('account', 'account', '{id}', 'observe')");
        String role = database.newRole("night_");
        FenceMigrations.on(database.source()).grantOperationsTo(role);
        FenceOperations granted = FenceOperations.on(database.as(role));

        assertThatThrownBy(() -> granted.afterRestore(batch -> {}))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessage(
                        "Raising all marks refused: role '" + role + "' may not read and write the marks in the rows of"
                                + " public.account. Nothing was raised. Connect as the owner of these tables, or grant:"
                                + " GRANT SELECT, UPDATE (fence_token, fence_holder) ON public.account TO …;");
        database.execute("GRANT SELECT, UPDATE (fence_token, fence_holder) ON account TO " + role);
        assertThatThrownBy(() -> granted.afterRestore(batch -> {}))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessage(
                        "Raising all marks refused: public.account carry marks in their rows and are protected, and role '"
                                + role + "' may not go around the fence. Nothing was raised. Run"
                                + " FenceMigrations.on(owner).grantBypassTo(role) as the owner of the schema.");
        assertThat(database.rows("SELECT token FROM fenceline.guard")).containsExactly("7");
        assertThat(database.rows("SELECT count(*) FROM fenceline.raising")).containsExactly("0");

        FenceMigrations.on(database.source()).grantBypassTo(role);
        assertThat(granted.afterRestore(batch -> {}).raised()).contains(new Restoration.Raised("public.account", 1));
        assertThat(database.rows("SELECT count(*) FROM fenceline.violation")).containsExactly("0");
    }

    /** Pages alone would leave it, and call the run complete. */
    @Test
    void aRowWhoseKeyIsChangedToOneThatIsBehindUsIsRaised() {
        database.marked("account", "id int PRIMARY KEY, balance int");
        database.execute("INSERT INTO account SELECT n, 0, 7, '" + A + "' FROM generate_series(1, 2500) n");

        Restoration restoration = operations.afterRestore(batch -> {
            if (batch.relation().equals("public.account") && batch.looked() == 1000) {
                database.execute("UPDATE account SET id = -id WHERE id = 1500");
            }
        });

        assertThat(database.rows(String.format(UNRAISED_ROWS, "account"))).containsExactly("0");
        assertThat(restoration.isComplete()).isTrue();
        assertThat(restoration.raised()).contains(new Restoration.Raised("public.account", 2500));
    }

    /**
     * Letters of both cases are one to the column's collation and two to the key's, so that a page can end between two rows that the column's
     * calls equal; and a language may order texts by anything.
     */
    @ParameterizedTest
    @ValueSource(strings = {"PRIMARY KEY (name)", "UNIQUE (name)"})
    void aPageEndsByTheCollationOfTheKeyAndNotByThatOfTheColumn(String plain) {
        database.execute(
                "CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);"
                        + " CREATE COLLATION german (provider = icu, locale = 'de-u-kn-true')");
        database.marked("caseless", "name text COLLATE caseless NOT NULL");
        database.marked("german", "name text COLLATE german NOT NULL, " + plain);
        database.execute("CREATE UNIQUE INDEX ON caseless (name COLLATE \"C\");"
                + " INSERT INTO caseless SELECT s || n, 7, '" + A
                + "' FROM generate_series(1, 1500) n, unnest('{a,A,ä}'::text[]) s;"
                + " INSERT INTO german SELECT s || n, 7, '" + A
                + "' FROM generate_series(1, 1500) n, unnest('{a,A,ä,z,ss,ß}'::text[]) s");
        // Otherwise this would show nothing: the first thousand end between two that are equal.
        assertThat(
                        database.rows(
                                "SELECT count(*) > 0 FROM (SELECT name FROM caseless ORDER BY name OFFSET 998 LIMIT 4) x"
                                        + " JOIN caseless y ON x.name = y.name AND x.name COLLATE \"C\" <> y.name COLLATE \"C\""))
                .containsExactly("t");

        Restoration restoration = operations.afterRestore(batch -> {
            // Before anything could be mended at the end.
            if (batch.done() && batch.relation().startsWith("public.")) {
                assertThat(database.rows(String.format(UNRAISED_ROWS, batch.relation())))
                        .containsExactly("0");
            }
        });

        assertThat(restoration.isComplete()).isTrue();
        assertThat(restoration.raised())
                .contains(
                        new Restoration.Raised("public.caseless", 4500), new Restoration.Raised("public.german", 9000));
    }

    /** One row that somebody has forged, or an import has filled with anything, must not keep all others as they are. */
    @Test
    void aMarkThatCannotBeHigherIsNamedAndAllOthersAreRaised() {
        database.marked("account", "id int PRIMARY KEY, balance int");
        database.marked("no_key", "id int");
        database.execute("INSERT INTO fenceline.guard VALUES ('a:1', 7, '" + A + "', now(), ''),"
                + " ('forged', 9007199254740991, '" + A + "', now(), ''), ('high', 9007199254740990, '" + A
                + "', now(), ''), ('z:1', 7, '" + A + "', now(), '');"
                + " INSERT INTO account VALUES (1, 0, 9223372036854775807, '" + A + "'), (2, 0, 9007199254740991, '" + A
                + "'), (3, 0, 9007199254740990, '" + A + "'), (4, 0, 7, '" + A + "');"
                + " INSERT INTO no_key VALUES (1, 9223372036854775807, '" + A + "'), (2, 7, '" + A + "')");

        Restoration restoration = operations.afterRestore(batch -> {});

        assertThat(restoration.raised())
                .containsExactly(
                        new Restoration.Raised("fenceline.guard", 3),
                        new Restoration.Raised("public.account", 2),
                        new Restoration.Raised("public.no_key", 1));
        assertThat(restoration.isComplete()).isFalse();
        String remedy =
                "they are so high that none can be higher, and were claimed by no fence. Find out who wrote them; then set"
                        + " fence_token = 0 and fence_holder = NULL WHERE fence_token >= 9007199254740991";
        assertThat(restoration.left())
                .extracting(Restoration.Left::relation, Restoration.Left::mark, Restoration.Left::reason)
                .containsExactly(
                        tuple(
                                "fenceline.guard",
                                "lock 'forged'",
                                "it cannot be higher, and was claimed by no fence (ERROR: Raising the mark of lock 'forged' refused: it is token"
                                        + " 9007199254740991/a0000000, and no mark can be higher)"),
                        tuple("public.account", "the marks of 2 rows", remedy),
                        tuple("public.no_key", "the mark of 1 row", remedy));

        database.execute(
                "UPDATE account SET fence_token = 0, fence_holder = NULL WHERE fence_token >= 9007199254740991;"
                        + " UPDATE no_key SET fence_token = 0, fence_holder = NULL WHERE fence_token >= 9007199254740991");
        assertThat(operations.afterRestore(batch -> {}).left()).hasSize(1);
    }

    /** Above READ COMMITTED, a row that is written while it is waited for fails whoever waits, and the run with it. */
    @ParameterizedTest
    @ValueSource(strings = {"repeatable read", "serializable"})
    void theIsolationThatADatabaseGivesByDefaultFailsNoRun(String isolation) throws Exception {
        database.marked("account", "id int PRIMARY KEY, balance int");
        database.execute("INSERT INTO account SELECT n, 0, 7, '" + A + "' FROM generate_series(1, 1200) n;"
                + " INSERT INTO fenceline.guard VALUES ('account:42', 7, '" + A + "', now(), '');"
                + " ALTER DATABASE " + database.name() + " SET default_transaction_isolation = '" + isolation + "'");
        try (Connection holder = database.named("sleeper").getConnection();
                Statement statement = holder.createStatement();
                Work operator = Work.of(
                        () -> FenceOperations.on(database.named("operator")).afterRestore(batch -> {}))) {
            holder.setAutoCommit(false);
            holder.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            statement.execute("SELECT fenceline.enter('account:42', 7, '" + A + "')");
            statement.execute("UPDATE account SET balance = 1 WHERE id = 1100");
            operator.go();
            operator.awaitWaiting(database, "operator");
            holder.commit();

            assertThat(operator.result())
                    .isInstanceOfSatisfying(
                            Restoration.class,
                            restoration -> assertThat(restoration.isComplete()).isTrue());
        }
        assertThat(database.rows(String.format(UNRAISED_ROWS, "account"))).containsExactly("0");
    }
}
