package dev.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** verify, doctor, violations, after-restore and fence. */
@Tag("server")
class OperationsTest {

    private static final String[] VERIFY = {"verify", "--table", "orders", "--lock", "order", "--key", "id"};
    private static final String CLAIM =
            "CALL fenceline.claim('order:42', 1764000000000001, 'a0000000-0000-4000-8000-000000000001')";

    private Database database;

    @BeforeEach
    void protectedTable() {
        database = Database.installed();
        database.execute("CREATE TABLE orders (id int PRIMARY KEY, state text)");
        database.terminal()
                .run("apply", "--table", "orders", "--lock", "order", "--key", "id")
                .ends(0);
    }

    @Test
    void verifyIsSilentWhereAllIsAsDeclaredAndReadableWhereNot() {
        assertThat(database.terminal().run(VERIFY).ends(0).out()).isEqualToIgnoringNewLines("As declared: 1 table.");

        database.execute("ALTER TABLE orders DISABLE TRIGGER fenceline_update");
        Ran ran = database.terminal().run(VERIFY).ends(1);
        assertThat(ran.out()).contains("orders", "fenceline_update").endsWith("1 difference." + System.lineSeparator());
        Ran json = database.terminal()
                .run("verify", "--table", "orders", "--lock", "order", "--key", "id", "--json")
                .ends(1);
        assertThat(json.json().at("/outcome").asText()).isEqualTo("findings");
        assertThat(json.json().at("/differences/0/subject").asText()).contains("orders");
        assertThat(json.json().at("/differences/0/expected").asText()).isNotEmpty();
        assertThat(json.json().at("/differences/0/found").asText()).isNotEmpty();
        assertThat(json.json().at("/differences/0/remedy").asText()).isNotEmpty();
    }

    /** Tables by arguments have no mode of their own, and could be compared with observe alone. */
    @Test
    void verifyComparesWithTheModeThatIsNamed() {
        String[] enforced = {"verify", "--table", "orders", "--lock", "order", "--key", "id", "--mode", "enforce"};
        assertThat(database.terminal().run(enforced).ends(1).out())
                .contains("expected enforce by lock class 'order'", "found observe by lock class 'order'");

        database.terminal()
                .run("protect", "--mode", "enforce", "--table", "orders", "--lock", "order", "--key", "id")
                .ends(0);

        assertThat(database.terminal().run(enforced).ends(0).out()).isEqualToIgnoringNewLines("As declared: 1 table.");
        assertThat(database.terminal().run(VERIFY).ends(1).out()).contains("Declare enforce if that is meant");
    }

    @Test
    void verifyTellsThatTheSchemaIsMissing() {
        assertThat(Database.empty().terminal().run(VERIFY).ends(1).out()).containsIgnoringCase("install");
    }

    @Test
    void violationsAreListedWithTheirApplication() {
        assertThat(database.terminal().run("violations").ends(0).out())
                .isEqualToIgnoringNewLines("No violations in the last 24h.");
        database.execute("SET application_name = 'old billing'; INSERT INTO orders VALUES (1, 'open')");

        assertThat(database.terminal()
                        .run("violations", "--since", "7d")
                        .ends(1)
                        .out())
                .contains(
                        "orders: INSERT by application 'old billing'",
                        "1 transaction in the last 7d wrote without a lock.");
        Ran json = database.terminal().run("violations", "--json").ends(1);
        assertThat(json.json().at("/violations/0/application").asText()).isEqualTo("old billing");
        assertThat(json.json().at("/violations/0/transactions").asInt()).isEqualTo(1);
        assertThat(json.json().at("/violations/0/table").asText()).isEqualTo("public.orders");
        assertThat(json.json().at("/violations/0/needed").asText()).contains("order:1");

        database.terminal()
                .run("violations", "--since", "yesterday")
                .fails(
                        2,
                        "Invalid value for option '--since': 'yesterday' is no duration such as 500ms, 2s, 5m, 24h or 30d.");
    }

    @Test
    void aFenceIsShownAndRaisedAfterAQuestion() {
        assertThat(database.terminal().run("fence", "show", "order:42").ends(0).out())
                .isEqualToIgnoringNewLines("Lock 'order:42' was never claimed here.");
        database.execute(CLAIM);
        Ran shown =
                database.terminal().run("fence", "show", "order:42", "--json").ends(0);
        assertThat(shown.json().at("/mark/token").asLong()).isEqualTo(1764000000000001L);
        assertThat(shown.json().at("/mark/raised").asBoolean()).isFalse();

        database.terminal()
                .run("fence", "raise", "order:42")
                .failsWith(
                        2,
                        "This refuses every holder of lock 'order:42' until he acquires anew",
                        "1764000000000001",
                        "--yes");
        assertThat(database.rows("SELECT newest_token FROM fenceline.mark_v1('order:42')"))
                .containsExactly("1764000000000001");
        Ran raised = database.terminal()
                .run("fence", "raise", "order:42", "--yes", "--json")
                .ends(0);
        long token = raised.json().at("/mark/token").asLong();
        assertThat(token).isGreaterThan(1764000000000001L);
        assertThat(database.rows("SELECT newest_token FROM fenceline.mark_v1('order:42')"))
                .containsExactly(String.valueOf(token));

        database.terminal()
                .run("fence", "raise", "order:43")
                .failsWith(
                        2,
                        "This refuses every holder of lock 'order:43' until he acquires anew; it was never claimed here, so look"
                                + " whether that is its name.");
        database.terminal().run("fence", "show", "order:a:%").failsWith(2, "Lock name 'order:a:%' holds a '%'");
        database.terminal().run("fence", "show", "9").failsWith(2, "Lock class '9' cannot be used");
        database.terminal().run("fence", "show").failsWith(2, "Missing required parameter: 'LOCK'");
    }

    @Test
    void theSessionsInTheWayAreNamed() throws SQLException {
        database.execute(CLAIM);
        assertThat(database.terminal()
                        .run("fence", "blockers", "order:42")
                        .ends(0)
                        .out())
                .isEqualToIgnoringNewLines("Nobody keeps a claim of lock 'order:42' waiting.");
        try (Connection holder = database.server().dataSource(database.name()).getConnection();
                Statement statement = holder.createStatement()) {
            statement.execute("SET application_name = 'slow import'");
            holder.setAutoCommit(false);
            statement.execute(
                    "SELECT fenceline.enter('order:42', 1764000000000001, 'a0000000-0000-4000-8000-000000000001')");
            assertThat(database.terminal()
                            .run("fence", "blockers", "order:42")
                            .ends(0)
                            .out())
                    .contains("application 'slow import'");
            Ran json = database.terminal()
                    .run("fence", "blockers", "order:42", "--json")
                    .ends(0);
            assertThat(json.json().at("/blockers/0/application").asText()).isEqualTo("slow import");
            assertThat(json.json().at("/blockers/0/pid").asInt()).isPositive();
            holder.rollback();
        }
    }

    /** Not as a database that is out of reach: somebody has to look at who is there. */
    @Test
    void aRaiseThatWaitsForAnOpenTransactionNamesItAndWaitsAsLongAsItIsTold() throws Exception {
        database.execute(CLAIM);
        try (Connection holder = database.server().dataSource(database.name()).getConnection();
                Statement statement = holder.createStatement()) {
            statement.execute("SET application_name = 'slow import'");
            holder.setAutoCommit(false);
            statement.execute(
                    "SELECT fenceline.enter('order:42', 1764000000000001, 'a0000000-0000-4000-8000-000000000001')");

            Ran refused = database.terminal()
                    .run("fence", "raise", "order:42", "--yes", "--wait", "3s", "--json")
                    .ends(1);
            assertThat(refused.json().at("/outcome").asText()).isEqualTo("refused");
            assertThat(refused.err())
                    .contains(
                            "Raising the mark of lock 'order:42', for at most 3s: waiting for pid ",
                            "'slow import'",
                            " (2 s)")
                    .contains(
                            "fenceline: Raising the mark of lock 'order:42' refused: for 3000 ms a transaction under it did not end: pid ")
                    .contains("(application 'slow import', idle in transaction since ", "SELECT pg_terminate_backend(");
            holder.rollback();
        }
        assertThat(database.terminal()
                        .run("fence", "raise", "order:42", "--yes")
                        .ends(0)
                        .out())
                .contains("Whoever held the lock is refused here from now on, and is told that an operator did it.");
        database.terminal()
                .run("fence", "raise", "order:42", "--yes", "--wait", "2d")
                .fails(2, "Invalid value for option '--wait': 2d is not from 1ms to 1d.");
    }

    @Test
    void whereTimesAreNotShownItIsSaidToWhomTheyAre() throws SQLException {
        database.execute(CLAIM);
        String role = database.newRole("night_");
        database.terminal().run("grant", "operations", "--to", role).ends(0);
        try (Connection holder = database.server().dataSource(database.name()).getConnection();
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            statement.execute(
                    "SELECT fenceline.enter('order:42', 1764000000000001, 'a0000000-0000-4000-8000-000000000001')");

            assertThat(database.as(role)
                            .run("fence", "blockers", "order:42")
                            .ends(0)
                            .out())
                    .contains("; its state and times are shown to members of pg_read_all_stats alone)");
            holder.rollback();
        }
    }

    @Test
    void afterARestoreAllMarksAreRaisedOnceThatIsConfirmed() {
        database.execute(CLAIM);
        database.terminal().run("after-restore").failsWith(2, "This raises every mark of the database", "--yes");
        assertThat(database.rows("SELECT newest_token FROM fenceline.mark_v1('order:42')"))
                .containsExactly("1764000000000001");

        Ran ran = database.terminal().answering("yes").run("after-restore").ends(0);
        assertThat(ran.out()).contains("fenceline.guard: 1 mark raised");
        assertThat(database.rows("SELECT newest_token FROM fenceline.mark_v1('order:42')"))
                .doesNotContain("1764000000000001");
        Ran again = database.terminal().run("after-restore", "--yes", "--json").ends(0);
        assertThat(again.json().at("/left").isArray()).isTrue();
    }

    @Test
    void marksThatAreRaisedBeforeAFailureAreNotSaidToBeUnchanged() {
        String role = database.newRole("night_");
        database.terminal().run("grant", "operations", "--to", role).ends(0);
        database.execute(
                CLAIM,
                "CREATE TABLE marked (id int PRIMARY KEY, fence_token bigint NOT NULL DEFAULT 0, fence_holder uuid)",
                "ALTER TABLE marked ENABLE ROW LEVEL SECURITY",
                "GRANT SELECT, UPDATE ON marked TO \"" + role + "\"");

        Ran ran = database.as(role).run("after-restore", "--yes").ends(4);

        assertThat(ran.err())
                .contains("query would be affected by row-level security policy for table \"marked\"")
                .endsWith(" Other marks are raised already: run it again then." + System.lineSeparator());
        assertThat(database.rows("SELECT is_raised FROM fenceline.describe_mark_v1('order:42')"))
                .containsExactly("t");
    }

    @Test
    void theDoctorLooksAtWhatIsNamed() {
        new ScriptedTerminal()
                .run("doctor")
                .fails(
                        2,
                        "No server is named: give --url, --redis or --s3, or several of them, or set FENCELINE_URL,"
                                + " FENCELINE_REDIS or FENCELINE_S3.");
        Ran ran = database.terminal().run("doctor", "--json").ends(1);
        assertThat(ran.json().at("/examined").toString()).isEqualTo("[\"postgresql\"]");
        assertThat(ran.json().at("/findings").toString())
                .as("the tests' server does without fsync")
                .contains("fsync");
        assertThat(ran.json().at("/findings/0/severity").asText()).isEqualTo("error");
        assertThat(database.terminal().run("doctor").ends(1).out()).contains("fsync", "PostgreSQL: ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "violations",
                "fence show a:1",
                "fence blockers a:1",
                "fence raise a:1 --yes",
                "after-restore --yes"
            })
    void whoMayNotIsTold(String command) {
        String role = database.newRole("guest_");
        database.as(role).run(command.split(" ")).failsWith(1, "permission denied");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "violations",
                "fence show a:1",
                "fence blockers a:1",
                "fence raise a:1 --yes",
                "after-restore --yes"
            })
    void withoutTheSchemaOneIsToldToInstall(String command) {
        Database.empty().terminal().run(command.split(" ")).failsWith(1, "nstall");
    }
}
