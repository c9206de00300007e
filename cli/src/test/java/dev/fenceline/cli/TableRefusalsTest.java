package dev.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.testkit.FaultProxy;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a plan refuses and what keeps it from being finished, told in a line for each table, with nothing done by halves. */
@Tag("server")
class TableRefusalsTest extends OrderTables {

    @ParameterizedTest
    @ValueSource(strings = {"plan", "apply", "protect --mode enforce", "sql", "rollback-sql"})
    void tablesThatCannotBeProtectedAreNamedEachInItsLine(String command) {
        String[] words = (command + " --table nowhere --lock a --key id --table open_orders --lock b --key id"
                        + " --table orders --lock c --key missing")
                .split(" ");
        Ran ran = database.terminal().run(words).ends(1);
        assertThat(ran.out()).isEmpty();
        assertThat(ran.said().lines())
                .hasSize(3)
                .allMatch(line -> line.startsWith("fenceline: public."))
                .anyMatch(line -> line.contains("public.nowhere: "))
                .anyMatch(line -> line.contains("public.open_orders: ") && line.contains("view of"))
                .anyMatch(line -> line.contains("public.orders: ") && line.contains("missing"));
        String[] withJson = Stream.concat(Stream.of(words), Stream.of("--json")).toArray(String[]::new);
        assertThat(database.terminal().run(withJson).ends(1).json().at("/faults"))
                .hasSize(3);
        assertThat(modes()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "plan",
                "plan --for add-columns",
                "apply --mode enforce",
                "protect --mode enforce",
                "sql",
                "rollback-sql",
                "add-columns"
            })
    void tablesOfTheFenceAndOfPostgresAreRefusedEachInItsLine(String command) {
        String lock = command.endsWith("add-columns") && !command.startsWith("plan") ? "" : " --lock a --one-lock";
        String[] words = (command + " --table fenceline.guard" + lock + " --table pg_catalog.pg_class" + lock
                        + " --table information_schema.sql_sizing" + lock)
                .split(" ");
        assertThat(database.terminal().run(words).ends(1).said().lines())
                .containsExactly(
                        "fenceline: fenceline.guard: it is the fence's own. Protect the tables that hold your rows.",
                        "fenceline: pg_catalog.pg_class: it is PostgreSQL's own. Protect the tables that hold your rows.",
                        "fenceline: information_schema.sql_sizing: it is PostgreSQL's own. Protect the tables that hold your rows.");
        assertThat(modes()).isEmpty();
    }

    @Test
    void argumentsThatSayTooLittleOrTooMuchAreNamed() throws IOException {
        ScriptedTerminal terminal = database.terminal().in(folder);
        terminal.run("apply")
                .fails(
                        2,
                        "No table is named: give --table app.order --lock order --key id, or --file with a list; there is no"
                                + " fenceline.yaml in this folder.");
        terminal.run("unprotect")
                .fails(
                        2,
                        "No table is named: give --table app.order, or --file fenceline.yaml for all tables of that file; this"
                                + " command looks for no file by itself.");
        terminal.run("apply", "--table", "orders", "--key", "id")
                .fails(2, "Table orders needs --lock with the class of its locks, such as --lock order.");
        String neither =
                "Table orders needs --key with the columns that name the lock of a row, or --one-lock for one lock over all"
                        + " rows, and not both.";
        terminal.run("apply", "--table", "orders", "--lock", "order").fails(2, neither);
        terminal.run(and("apply", ORDERS, "--one-lock")).fails(2, neither);
        terminal.run(and("protect", ORDERS))
                .fails(2, "Missing required option: '--mode=MODE'. See: fenceline protect --help");
        terminal.run(and("protect", ORDERS, "--mode", "off"))
                .fails(
                        2,
                        "Invalid value for option '--mode': 'off' is none of observe, enforce. See: fenceline protect --help");
        terminal.run(and("apply", ORDERS, "--lock-timeout", "soon"))
                .fails(
                        2,
                        "Invalid value for option '--lock-timeout': 'soon' is no duration such as 500ms, 2s, 5m, 24h or 30d.");
        terminal.run(and("apply", ORDERS, "--lock-timeout", "0s"))
                .fails(2, "Invalid value for option '--lock-timeout': 0s is not from 10ms to 1h.");
        terminal.run(and("apply", ORDERS, "--attempts", "0"))
                .fails(2, "Invalid value for option '--attempts': 0 is below 1.");
        terminal.run("violations", "--since", "0s")
                .fails(2, "Invalid value for option '--since': 0s is not from 1ms to 30d.");
        terminal.run("violations", "--since", "31d")
                .fails(2, "Invalid value for option '--since': 31d is not from 1ms to 30d.");
        terminal.run("violations", "--since", "yesterday")
                .fails(
                        2,
                        "Invalid value for option '--since': 'yesterday' is no duration such as 500ms, 2s, 5m, 24h or 30d.");
        terminal.run("fence", "raise", "order:42", "--wait", "0s", "--yes")
                .fails(2, "Invalid value for option '--wait': 0s is not from 1ms to 1d.");
        terminal.run(and("apply", ORDERS, "--file", "x")).fails(2, "Name tables by --table or by --file, not both.");
        terminal.run("apply", "--table", "a.b.c", "--lock", "x", "--key", "id")
                .failsWith(2, "--table a.b.c: ", "has 3 parts");
        terminal.run("apply", "--table", "orders", "--lock", "9", "--key", "id")
                .failsWith(2, "Lock class '9' cannot be used");
        assertThat(modes()).isEmpty();
    }

    @Test
    void keysHaveSeveralColumnsAnyNamesOrNone() {
        database.execute("CREATE TABLE \"Odd, Name\" (\"a,b\" int, c text, PRIMARY KEY (\"a,b\", c))");
        database.terminal()
                .run(
                        "apply",
                        "--table",
                        "\"Odd, Name\"",
                        "--lock",
                        "odd",
                        "--key",
                        "c,\"a,b\"",
                        "--table",
                        "orders",
                        "--lock",
                        "order",
                        "--one-lock")
                .ends(0);
        assertThat(database.rows(
                        "SELECT relation || ' ' || lock_class || ' ' || key::text FROM fenceline.protected ORDER BY 1"))
                .containsExactly("\"Odd, Name\" odd {c,\"a,b\"}", "orders order {}");
    }

    @Test
    void whoDoesNotOwnTheTableIsTold() {
        String role = database.newRole("guest_");
        database.terminal().run("grant", "protection", "--to", role).ends(0);
        database.as(role)
                .run(and("apply", ORDERS))
                .failsWith(1, "public.orders: ", database.server().superuser());
        assertThat(modes()).isEmpty();
    }

    @Test
    void withoutTheSchemaOneIsToldToInstall() {
        Database empty = Database.empty();
        empty.execute("CREATE TABLE orders (id int PRIMARY KEY)");
        empty.terminal().run(and("apply", ORDERS)).failsWith(1, "nstall");
    }

    @Test
    void aServerThatGoesHalfWayLeavesWhatIsDoneAndTheNextRunDoesTheRest() throws Exception {
        String[] both = and(
                "apply",
                ORDERS,
                "--table",
                "line",
                "--lock",
                "order",
                "--key",
                "order_id",
                "--attempts",
                "1",
                "--lock-timeout",
                "60s");
        try (FaultProxy proxy = FaultProxy.to(
                        database.server().host(), database.server().port());
                Connection other = database.server().dataSource(database.name()).getConnection();
                Statement blocker = other.createStatement()) {
            ScriptedTerminal terminal = new ScriptedTerminal()
                    .with(
                            "FENCELINE_URL",
                            "postgresql://" + database.server().superuser() + "@" + proxy.host() + ":" + proxy.port()
                                    + "/" + database.name());
            other.setAutoCommit(false);
            blocker.execute("LOCK TABLE line IN ACCESS EXCLUSIVE MODE");
            CompletableFuture<Ran> running = CompletableFuture.supplyAsync(() -> terminal.run(both));
            awaitWaiter();
            proxy.refuse();
            other.rollback();

            Ran ran = running.get(30, TimeUnit.SECONDS);
            ran.failsWith(4, "public.orders", "public.line");
            assertThat(modes()).containsExactly("orders observe");

            proxy.heal();
            assertThat(terminal.run(both).ends(0).out()).contains("1 step done, 1 so already.");
            assertThat(modes()).containsExactly("line observe", "orders observe");
        }
    }

    @Test
    void aTableThatIsInUseAllTheTimeIsLeftAndItsReaderNamed() throws SQLException {
        try (Connection other = database.server().dataSource(database.name()).getConnection();
                Statement blocker = other.createStatement()) {
            other.setAutoCommit(false);
            blocker.execute("SET application_name = 'nightly report'");
            blocker.execute("LOCK TABLE orders IN ROW EXCLUSIVE MODE");
            String[] once = and("apply", ORDERS, "--attempts", "1", "--lock-timeout", "50ms");

            Ran ran = database.terminal().run(once);
            ran.failsWith(4, "public.orders", "nightly report");
            String[] json = Stream.concat(Stream.of(once), Stream.of("--json")).toArray(String[]::new);
            assertThat(database.terminal()
                            .run(json)
                            .ends(4)
                            .json()
                            .at("/steps/0/outcome")
                            .asText())
                    .isEqualTo("not_done");
            other.rollback();
        }
        database.terminal().run(and("apply", ORDERS)).ends(0);
    }

    private void awaitWaiter() {
        Waits.until(
                "a session waits for the table",
                Duration.ofSeconds(30),
                () -> !database.rows("SELECT pid FROM pg_locks WHERE NOT granted AND relation = 'line'::regclass")
                        .isEmpty());
    }
}
