package dev.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What commands say before they act, what they ask first, and what they say of what is half done. */
@Tag("server")
class CareTest {

    private static final String LOOSENED =
            "This goes back from enforce to observe for public.orders, as declared: whoever writes without a lock passes, and is"
                    + " only recorded.";

    private Database database;

    @TempDir
    private Path folder;

    @BeforeEach
    void anEnforcedTableThatAFileDeclaresWithoutItsMode() throws IOException {
        database = Database.installed();
        database.execute(
                "CREATE TABLE orders (id int PRIMARY KEY)",
                "SELECT fenceline.protect('orders', 'order', '{id}', 'enforce')");
        Files.writeString(folder.resolve("fenceline.yaml"), "tables: [{table: orders, lock: order, key: [id]}]\n");
    }

    private List<String> modes() {
        return database.rows("SELECT mode FROM fenceline.protected");
    }

    @Test
    void aFileThatLowersEnforceToObserveHasToBeMeant() {
        ScriptedTerminal terminal = database.terminal().in(folder);
        terminal.run("apply")
                .fails(
                        2,
                        LOOSENED
                                + " Nobody can be asked here whether that is meant: say so with --yes. Nothing was changed.");
        assertThat(modes()).containsExactly("enforce");

        ScriptedTerminal asked = database.terminal().in(folder).answering("no");
        asked.run("apply").ends(1);
        assertThat(asked.questions).containsExactly(LOOSENED + " Type yes to go on: ");
        assertThat(modes()).containsExactly("enforce");

        terminal.run("apply", "--yes").ends(0);
        assertThat(modes()).containsExactly("observe");
        terminal.run("apply").ends(0);
    }

    @Test
    void whoWritesTheModeByHandIsNotAsked() {
        ScriptedTerminal terminal = database.terminal().in(folder);
        terminal.run("apply", "--mode", "enforce").ends(0);
        terminal.run("apply", "--mode", "observe").ends(0);
        assertThat(modes()).containsExactly("observe");
        terminal.run("protect", "--mode", "enforce").ends(0);
        assertThat(terminal.run("protect", "--mode", "observe").ends(0).out())
                .startsWith("warning: public.orders: is enforced so far.")
                .contains("done: public.orders");
    }

    @Test
    void warningsComeBeforeTheQuestionAndBeforeTheDeed() {
        ScriptedTerminal terminal = database.terminal().answering("no");
        String warning = "warning: public.orders: dropping triggers waits for readers too";
        assertThat(terminal.run("unprotect", "--table", "orders").ends(1).out()).contains(warning);
        assertThat(modes()).containsExactly("enforce");

        Ran json = database.terminal()
                .run("unprotect", "--table", "orders", "--yes", "--json")
                .ends(0);
        assertThat(json.err()).startsWith(warning);
        assertThat(json.json().at("/warnings/0").asText()).startsWith("public.orders: dropping");
        database.terminal()
                .run("apply", "--table", "orders", "--lock", "order", "--key", "id")
                .ends(0);
        assertThat(database.terminal()
                        .run("unprotect", "--table", "orders", "--yes")
                        .ends(0)
                        .out()
                        .lines())
                .first()
                .asString()
                .startsWith(warning);
    }

    @Test
    void whatWasGrantedBeforeAFailureIsSaid() {
        String role = database.newRole("app_");
        database.execute("ALTER FUNCTION fenceline.bypass(text) RENAME TO gone");
        String[] grant = {"grant", "app", "rows", "bypass", "operations", "--to", role};

        database.terminal()
                .run(grant)
                .failsWith(
                        4,
                        "Role '" + role
                                + "' may now use: app, rows. But not bypass: Granting the bypass of fences to role '"
                                + role + "' failed: ERROR: function fenceline.bypass(text) does not exist");
        assertThat(database.rows("SELECT has_function_privilege('" + role
                        + "', 'fenceline.check_claim_v1(bigint, integer)', 'EXECUTE')"))
                .containsExactly("t");
        Ran json = database.terminal()
                .run("grant", "app", "bypass", "--to", role, "--json")
                .ends(4);
        assertThat(json.json().at("/uses").toString()).isEqualTo("[\"app\"]");
        assertThat(json.json().at("/outcome").asText()).isEqualTo("unfinished");
        database.terminal()
                .run("grant", "bypass", "app", "--to", role)
                .failsWith(1, "Granting the bypass of fences to role '" + role + "' failed");
    }

    @Test
    void aVersionThatIsThereIsNamedByItsMigrationFirst() {
        String[] sql = {"sql", "--table", "orders", "--for", "unprotect", "--out", folder.toString(), "--version", "48"
        };
        database.terminal().run(sql).ends(0);
        database.terminal()
                .run(sql)
                .fails(
                        1,
                        "Migration 48 was not written: the folder has that version already, in V48__fenceline.sql and"
                                + " U48__fenceline.sql. Choose a version that is free.");
    }

    @Test
    void anInterruptIsNoFaultOfTheProgram() throws SQLException {
        Thread.currentThread().interrupt();
        Ran ran;
        try {
            ran = database.terminal().in(folder).run("apply", "--mode", "observe");
        } finally {
            assertThat(Thread.interrupted()).as("the flag is kept").isTrue();
        }
        assertThat(ran.ends(130).err())
                .isEqualToIgnoringNewLines(
                        "fenceline: Interrupted. What was done before stays, and the same command again does the rest.");
        assertThat(modes()).containsExactly("enforce");
        assertThat(Failure.of(new IllegalStateException("x", new InterruptedException()))
                        .outcome())
                .isEqualTo(Outcome.INTERRUPTED);
    }
}
