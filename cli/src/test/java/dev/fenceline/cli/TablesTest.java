package dev.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** plan, apply, protect, unprotect, the columns of row mode, and SQL for one's own migrations. */
@Tag("server")
class TablesTest extends OrderTables {

    @Test
    void aPlanTellsStepsLocksAndWarningsAndChangesNothing() {
        Ran plan = database.terminal().run(and("plan", ORDERS)).ends(0);
        assertThat(plan.out())
                .contains("public.orders: ", "order:<id>", "    locks public.orders in ", "1 step to do.");
        assertThat(modes()).isEmpty();

        Ran json = database.terminal()
                .run(and("plan", ORDERS, "--json", "--mode", "enforce"))
                .ends(0);
        assertThat(json.json().at("/steps/0/table").asText()).isEqualTo("public.orders");
        assertThat(json.json().at("/steps/0/state").asText()).isEqualTo("to_do");
        assertThat(json.json().at("/steps/0/lock/mode").asText()).contains("EXCLUSIVE");
        assertThat(json.json().at("/warnings").isArray()).isTrue();
    }

    @Test
    void tablesGoFromNothingOverObserveToEnforceAndBack() throws IOException {
        Files.writeString(folder.resolve("fenceline.yaml"), """
                tables:
                  - {table: orders, lock: order, key: [id]}
                  - {table: line, lock: order, key: [order_id], mode: enforce}
                """);
        ScriptedTerminal terminal = database.terminal().in(folder);

        assertThat(terminal.run("apply").ends(0).out())
                .contains("done: public.orders: ", "done: public.line: ", "2 steps done, 0 so already.");
        assertThat(modes()).containsExactly("line enforce", "orders observe");
        assertThat(terminal.run("apply").ends(0).out()).contains("0 steps done, 2 so already.");
        assertThat(terminal.run("plan").ends(0).out()).contains("Nothing to do: all is so already.");

        terminal.run("protect", "--mode", "enforce").ends(0);
        assertThat(modes()).containsExactly("line enforce", "orders enforce");
        Ran back = terminal.run("protect", "--mode", "observe", "--json").ends(0);
        assertThat(back.json().at("/steps/1/outcome").asText()).isEqualTo("changed");
        assertThat(modes()).containsExactly("line observe", "orders observe");

        terminal.run("unprotect", "--table", "orders")
                .fails(
                        2,
                        "This lets everybody write public.orders without a lock, and nobody is recorded. Nobody can be asked here"
                                + " whether that is meant: say so with --yes. Nothing was changed.");
        assertThat(modes()).hasSize(2);
        terminal.run("unprotect", "--table", "orders", "--table", "line", "--yes")
                .ends(0);
        assertThat(modes()).isEmpty();
        assertThat(terminal.run("unprotect", "--table", "orders").ends(0).out())
                .as("nothing to lose, nothing to ask")
                .contains("0 steps done, 1 so already.");
    }

    @Test
    void ofManyTablesThoseThatAreSoAlreadyAreCounted() throws IOException {
        StringBuilder file = new StringBuilder("tables:\n");
        for (int i = 1; i <= 7; i++) {
            database.execute("CREATE TABLE many_" + i + " (id int NOT NULL)");
            file.append("  - {table: many_").append(i).append(", lock: many, key: [id]}\n");
        }
        Files.writeString(folder.resolve("fenceline.yaml"), file);
        ScriptedTerminal terminal = database.terminal().in(folder);
        terminal.run("apply").ends(0);
        terminal.run("unprotect", "--table", "many_7", "--yes").ends(0);
        String already =
                "so already: public.many_1, public.many_2, public.many_3, public.many_4, public.many_5 and 1 more"
                        + " (--verbose names them)";

        assertThat(terminal.run("plan").ends(0).out().lines())
                .hasSize(4)
                .contains("public.many_7: observe with locks many:<id>", already, "1 step to do.");
        assertThat(terminal.run("plan", "--verbose").ends(0).out().lines())
                .hasSize(9)
                .contains("public.many_6: observe with locks many:<id> (already so)");
        assertThat(terminal.run("plan", "--json").ends(0).json().at("/steps")).hasSize(7);
        assertThat(terminal.run("apply").ends(0).out().lines())
                .containsExactly(
                        "done: public.many_7: observe with locks many:<id>", already, "1 step done, 6 so already.");
        assertThat(terminal.run("apply", "--verbose").ends(0).out().lines())
                .hasSize(8)
                .contains("so already: public.many_7: observe with locks many:<id>", "0 steps done, 7 so already.");
    }

    @Test
    void whoeverIsThereIsAsked() {
        database.terminal().run(and("apply", ORDERS)).ends(0);

        ScriptedTerminal no = database.terminal().answering("no");
        assertThat(no.run("unprotect", "--table", "orders").ends(1).err())
                .contains("Not confirmed, so nothing was changed.");
        assertThat(no.questions)
                .containsExactly(
                        "This lets everybody write public.orders without a lock, and nobody is recorded. Type yes to go on: ");
        assertThat(modes()).hasSize(1);

        database.terminal()
                .answering("yes")
                .run("unprotect", "--table", "orders")
                .ends(0);
        assertThat(modes()).isEmpty();
    }

    @Test
    void theColumnsOfRowModeComeAndGo() {
        String columns = "SELECT attname FROM pg_attribute WHERE attrelid = 'orders'::regclass AND attname ~ '^fence_'"
                + " AND NOT attisdropped ORDER BY 1";
        database.terminal().run("add-columns", "--table", "orders").ends(0);
        assertThat(database.rows(columns)).containsExactly("fence_holder", "fence_token");
        database.terminal()
                .run("drop-columns", "--table", "orders")
                .failsWith(2, "This drops the marks of all rows of public.orders", "--yes");
        database.terminal().run("drop-columns", "--table", "orders", "--yes").ends(0);
        assertThat(database.rows(columns)).isEmpty();
    }

    @Test
    void aSubscriberKeepsItsTriggersAndLetsReplicationPass() {
        database.terminal().run(and("apply", ORDERS)).ends(0);
        database.terminal()
                .run("unprotect", "--subscriber", "--table", "orders", "--yes")
                .ends(0);
        assertThat(
                        database.rows(
                                "SELECT DISTINCT tgenabled FROM pg_trigger WHERE tgrelid = 'orders'::regclass AND NOT tgisinternal"))
                .containsExactly("O");
    }

    @Test
    void sqlIsPrintedOrWrittenWithItsUndo() throws IOException {
        Ran printed = database.terminal().run(and("sql", ORDERS)).ends(0);
        Ran undo = database.terminal().run(and("rollback-sql", ORDERS)).ends(0);
        Ran written = database.terminal()
                .run(and(
                        "sql",
                        ORDERS,
                        "--out",
                        folder.toString(),
                        "--version",
                        "48",
                        "--name",
                        "fence orders",
                        "--json"))
                .ends(0);

        Path migration = Path.of(written.json().at("/migration").asText());
        assertThat(migration.getFileName()).hasToString("V48__fence_orders.sql");
        assertThat(Files.readString(migration).stripTrailing())
                .isEqualTo(printed.out().stripTrailing());
        assertThat(Files.readString(Path.of(written.json().at("/undo").asText()))
                        .stripTrailing())
                .isEqualTo(undo.out().stripTrailing());
        assertThat(modes()).isEmpty();
        database.execute(printed.out());
        assertThat(modes()).containsExactly("orders observe");
        database.execute(undo.out());
        assertThat(modes()).isEmpty();
    }

    @Test
    void theUndoIsWrittenWhereFlywayDoesNotLook() throws IOException {
        Path migrations = Files.createDirectory(folder.resolve("migration"));
        Path undos = Files.createDirectory(folder.resolve("undo"));
        Path undo = undos.resolve("U48__fenceline.sql");

        Ran ran = database.terminal()
                .run(and("sql", ORDERS, "--out", migrations.toString(), "--version", "48", "--undo", undos.toString()))
                .ends(0);
        assertThat(ran.out().lines())
                .containsExactly(
                        "Written: " + migrations.resolve("V48__fenceline.sql") + " and " + undo + ".",
                        "Nothing runs the undo by itself. When it is wanted: psql -v ON_ERROR_STOP=1 -f " + undo);
        assertThat(undo).isNotEmptyFile();
        database.terminal()
                .run(and("sql", ORDERS, "--undo", undos.toString()))
                .fails(2, "--undo goes with --out; without that, rollback-sql prints the undo.");
    }

    @Test
    void theWayBackFromEnforceIsObserveWhereItWasObserving() {
        database.terminal().run(and("apply", ORDERS)).ends(0);
        Ran undo = database.terminal()
                .run(and("rollback-sql", ORDERS, "--mode", "enforce"))
                .ends(0);
        database.terminal().run(and("protect", ORDERS, "--mode", "enforce")).ends(0);
        database.execute(undo.out());
        assertThat(modes()).containsExactly("orders observe");
    }

    @Test
    void wrongFoldersAndVersionsWriteNothing() throws IOException {
        Path missing = folder.resolve("none");
        database.terminal()
                .run(and("sql", ORDERS, "--out", missing.toString(), "--version", "48"))
                .failsWith(1, missing.toString());
        Path file = Files.writeString(folder.resolve("file"), "");
        database.terminal()
                .run(and("sql", ORDERS, "--out", file.toString(), "--version", "48"))
                .failsWith(1, file.toString());
        // Of root, too, nobody can write here.
        database.terminal()
                .run(and("sql", ORDERS, "--out", "/proc/self", "--version", "48"))
                .failsWith(1, "/proc/self");
        Files.writeString(folder.resolve("V48__orders.sql"), "-- ours");
        database.terminal()
                .run(and("sql", ORDERS, "--out", folder.toString(), "--version", "48"))
                .failsWith(1, "48", "V48__orders.sql");
        database.terminal()
                .run(and("sql", ORDERS, "--out", folder.toString(), "--version", "4 8"))
                .failsWith(2, "4 8");
        database.terminal()
                .run(and("sql", ORDERS, "--out", folder.toString()))
                .fails(
                        2,
                        "--out and --version belong together: the folder of your migrations, and the version of this one.");
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files.map(path -> path.getFileName().toString()))
                    .containsExactlyInAnyOrder("file", "V48__orders.sql");
        }
        database.terminal()
                .run(and("sql", ORDERS, "--out", folder.toString(), "--version", "49"))
                .ends(0);
    }

    @Test
    void amongNothingToDoNoMigrationIsWritten() {
        database.terminal().run(and("apply", ORDERS)).ends(0);
        database.terminal()
                .run(and("sql", ORDERS, "--out", folder.toString(), "--version", "48"))
                .fails(
                        1,
                        "Migration 48 was not written: there is nothing to do here, all is so already. Make it from a database where it"
                                + " is not.");
    }
}
