package dev.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.testkit.FaultProxy;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** install, upgrade and grant. */
@Tag("server")
class InstallTest {

    @Test
    void itInstallsTellsTheVersionAndIsHarmlessAgain() {
        Database database = Database.empty();
        String version = FenceVersion.newest();

        Ran first = database.terminal().run("install").ends(0);
        assertThat(first.out()).startsWith("Installed: the schema fenceline has version " + version + ".");
        assertThat(first.said()).isEmpty();
        assertThat(database.terminal().run("upgrade").ends(0).out())
                .startsWith("Upgraded: the schema fenceline has version " + version + ".");

        Ran json = database.terminal().run("install", "--json").ends(0);
        assertThat(json.json().toString())
                .isEqualTo("{\"command\":\"install\",\"outcome\":\"ok\",\"exitCode\":0,\"schemaVersion\":" + version
                        + "}");
    }

    @Test
    void aRoleThatMayNotCreateASchemaIsToldWhatToAskFor() {
        Database database = Database.empty();
        String role = database.newRole("nobody_");

        database.as(role)
                .run("install")
                .failsWith(
                        1,
                        "permission denied for database",
                        "have an administrator run: CREATE SCHEMA fenceline AUTHORIZATION " + role + ".");
        assertThat(database.rows("SELECT nspname FROM pg_namespace WHERE nspname = 'fenceline'"))
                .isEmpty();
    }

    @Test
    void aServerThatGoesWhileItInstallsIsToldAndTheNextRunDoesTheRest() throws Exception {
        Database database = Database.empty();
        try (FaultProxy proxy = FaultProxy.to(
                        database.server().host(), database.server().port());
                Connection other = database.server().dataSource(database.name()).getConnection();
                Statement statement = other.createStatement()) {
            statement.execute("SELECT pg_advisory_lock(hashtextextended('fenceline.install', 0))");
            ScriptedTerminal terminal = new ScriptedTerminal()
                    .with(
                            "FENCELINE_URL",
                            "postgresql://" + database.server().superuser() + "@" + proxy.host() + ":" + proxy.port()
                                    + "/" + database.name());
            CompletableFuture<Ran> running = CompletableFuture.supplyAsync(() -> terminal.run("install"));
            Waits.until(
                    "the installation waits for its turn",
                    Duration.ofSeconds(30),
                    () -> !database.rows(
                                    "SELECT l.pid FROM pg_locks l JOIN pg_database d ON d.oid = l.database"
                                            + " WHERE NOT l.granted AND l.locktype = 'advisory' AND d.datname = current_database()")
                            .isEmpty());
            proxy.refuse();
            running.get(30, TimeUnit.SECONDS)
                    .failsWith(4, "Installing the fence schema failed", "what was installed so far stays");

            statement.execute("SELECT pg_advisory_unlock_all()");
            proxy.heal();
            terminal.run("install").ends(0);
        }
    }

    @Test
    void rightsAreGrantedByUse() {
        Database database = Database.installed();
        String role = database.newRole("app_");

        Ran ran = database.terminal()
                .run("grant", "app", "rows", "protection", "operations", "bypass", "--to", role, "--json")
                .ends(0);

        assertThat(ran.json().toString())
                .isEqualTo("{\"command\":\"grant\",\"outcome\":\"ok\",\"exitCode\":0,\"role\":\"" + role
                        + "\",\"uses\":[\"app\",\"rows\",\"protection\",\"operations\",\"bypass\"]}");
        assertThat(database.rows("SELECT has_function_privilege('" + role + "', 'fenceline.bypass(text)', 'EXECUTE')"))
                .containsExactly("t");
        String other = database.newRole("other_");
        assertThat(database.terminal()
                        .run("grant", "app", "--to", other)
                        .ends(0)
                        .out())
                .isEqualToIgnoringNewLines("Role '" + other + "' may now use: app.");
        assertThat(database.rows("SELECT has_function_privilege('" + other + "', 'fenceline.bypass(text)', 'EXECUTE')"))
                .containsExactly("f");
    }

    @Test
    void wrongGrantsAreOneLine() {
        Database database = Database.installed();

        database.terminal()
                .run("grant", "app", "--to", "nobody here")
                .failsWith(
                        1,
                        "Granting the use of fences to role 'nobody here' failed: ERROR: role \"nobody here\" does not exist");
        database.terminal()
                .run("grant", "everything", "--to", "x")
                .failsWith(
                        2,
                        "Invalid value for positional parameter",
                        "(USE): 'everything' is none of app, rows, protection, operations, bypass. See: fenceline grant --help");
        database.terminal()
                .run("grant", "app")
                .fails(2, "Missing required option: '--to=ROLE'. See: fenceline grant --help");
        Database.empty()
                .terminal()
                .run("grant", "app", "--to", "postgres")
                .failsWith(
                        1,
                        "schema \"fenceline\" does not exist",
                        "install the schema of this release first: fenceline install.");
    }
}
