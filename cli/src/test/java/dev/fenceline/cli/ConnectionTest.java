package dev.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How commands reach the database, and that passwords stay where they belong. */
@Tag("server")
class ConnectionTest {

    private static final String PASSWORD = "s3cr3t/@:? ünï";
    private static final String INSTEAD =
            "Set FENCELINE_PASSWORD, or use --password-file or ~/.pgpass, or leave it out and be asked.";

    private static final String MISSING_FILE =
            "The file of --password-file does not exist. It takes the name of a file with the password in its first line.";

    private static Database database;
    private static String role;

    @TempDir
    private Path folder;

    @BeforeAll
    static void aRoleThatNeedsAPassword() throws IOException {
        database = Database.installed();
        role = database.newRole("locked_");
        database.execute(
                "ALTER ROLE \"" + role + "\" PASSWORD '" + PASSWORD + "'",
                "GRANT USAGE ON SCHEMA fenceline TO \"" + role + "\"");
        Path hba = Path.of(database.rows("SHOW hba_file").get(0));
        Files.writeString(hba, "host all \"" + role + "\" all scram-sha-256\n" + Files.readString(hba));
        database.execute("SELECT pg_reload_conf()");
    }

    private static ScriptedTerminal terminal() {
        return database.as(role);
    }

    /** With the right password the database itself refuses: the role owns nothing. */
    private static void reached(Ran ran) {
        ran.failsWith(1, "Granting the use of fences to role 'x' failed: ERROR: role \"x\" does not exist");
        assertThat(ran.err()).doesNotContain("s3cr3t");
    }

    /** The driver would connect to a database of the user's name, whatever that is. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "postgresql://localhost",
                "postgresql://localhost/",
                "postgres://me@localhost:5432/?sslmode=require",
                "jdbc:postgresql://a,b"
            })
    void anAddressWithoutADatabaseIsRefused(String url) {
        new ScriptedTerminal()
                .with("FENCELINE_URL", url)
                .run("install")
                .fails(
                        2,
                        "The address of FENCELINE_URL names no database. It reads postgresql://[user@]host[:port]/database or"
                                + " jdbc:postgresql://host[:port]/database.");
        new ScriptedTerminal()
                .run("install", "--url", url)
                .failsWith(
                        2, "The address of --url names no database. It reads postgresql://[user@]host[:port]/database");
    }

    @ParameterizedTest
    @ValueSource(strings = {"FENCELINE_PASSWORD", "PGPASSWORD"})
    void theEnvironmentGivesThePassword(String variable) {
        reached(terminal().with(variable, PASSWORD).run("grant", "app", "--to", "x"));
    }

    @Test
    void ourVariableGoesFirst() {
        reached(terminal()
                .with("FENCELINE_PASSWORD", PASSWORD)
                .with("PGPASSWORD", "wrong")
                .run("grant", "app", "--to", "x"));
    }

    @Test
    void aFileGivesThePasswordInItsFirstLine() throws IOException {
        Path file = Files.writeString(folder.resolve("password"), PASSWORD + "\nand a note\n");
        reached(terminal()
                .with("FENCELINE_PASSWORD", "wrong")
                .run("grant", "app", "--to", "x", "--password-file", file.toString()));
    }

    @Test
    void pgpassGivesThePassword() throws IOException {
        Path file = Files.writeString(folder.resolve("pgpass"), "*:*:*:" + role + ":s3cr3t/@\\:? ünï\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        System.setProperty("org.postgresql.pgpassfile", file.toString());
        try {
            reached(terminal().run("grant", "app", "--to", "x"));
        } finally {
            System.clearProperty("org.postgresql.pgpassfile");
        }
    }

    @Test
    void whoeverIsThereIsAskedIfOneIsWanted() {
        ScriptedTerminal terminal = terminal().answering(PASSWORD);
        Ran ran = terminal.run("grant", "app", "--to", "x").ends(1);
        assertThat(ran.err()).contains("role \"x\" does not exist");
        assertThat(terminal.questions)
                .containsExactly("[hidden] Password of PostgreSQL at "
                        + database.server().host() + ":" + database.server().port() + "/" + database.name() + ": ");
        ScriptedTerminal superuser = database.terminal().answering();
        superuser.run("grant", "app", "--to", "x").ends(1);
        assertThat(superuser.questions).as("trusted").isEmpty();
    }

    @Test
    void aUrlInTheEnvironmentMayHoldThePassword() {
        String url = database.url(role).replace("@", ":s3cr3t%2F%40%3A%3F%20%C3%BCn%C3%AF@");
        reached(new ScriptedTerminal().with("FENCELINE_URL", url).run("grant", "app", "--to", "x"));
        reached(new ScriptedTerminal()
                .with(
                        "FENCELINE_URL",
                        "jdbc:" + database.url(role).replace(role + "@", "") + "?user=" + role
                                + "&password=s3cr3t%2F%40%3A%3F%20%C3%BCn%C3%AF")
                .run("grant", "app", "--to", "x"));
    }

    @Test
    void withoutAPasswordAndSomebodyToAskItIsSaidWhereItComesFrom() {
        terminal()
                .run("grant", "app", "--to", "x")
                .failsWith(
                        1,
                        "refused the login of '" + role + "': The server requested SCRAM-based authentication",
                        INSTEAD);
    }

    @Test
    void whereNobodyNamesARoleTheMessageTellsWhoseLoginWasRefused() {
        String user = System.getProperty("user.name");
        String url = database.url(role).replace(role + "@", "");
        System.setProperty("user.name", role);
        try {
            new ScriptedTerminal()
                    .with("FENCELINE_URL", url)
                    .run("grant", "app", "--to", "x")
                    .failsWith(
                            1,
                            "refused the login of '" + role
                                    + "', the user of this system, since neither --user nor the address names one: ");
        } finally {
            System.setProperty("user.name", user);
        }
        terminal()
                .run("grant", "app", "--to", "x", "--user", role)
                .failsWith(1, "refused the login of '" + role + "': ");
    }

    @Test
    void aWrongPasswordIsNeverShownNotEvenInAStackTrace() {
        for (List<String> more : List.of(List.<String>of(), List.of("--verbose"), List.of("--json"))) {
            List<String> command = new java.util.ArrayList<>(List.of("grant", "app", "--to", "x"));
            command.addAll(more);
            Ran ran = terminal()
                    .with("FENCELINE_PASSWORD", "wr0ng-one")
                    .run(command.toArray(String[]::new))
                    .ends(1);
            assertThat(ran.err())
                    .contains("password authentication failed for user \"" + role
                            + "\". Check the role and its password.");
            assertThat(ran.err() + ran.out()).doesNotContain("wr0ng");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--password=hunter2",
                "--password hunter2",
                "--passwd hunter2",
                "--pw=hunter2",
                "--url=postgresql://me:hunter2@localhost/x",
                "--url=postgres://me:hunter2@localhost/x",
                "--url=jdbc:postgresql://localhost/x?user=me&password=hunter2",
                "--url=jdbc:postgresql://localhost/x?pass%77ord=hunter2",
                "--url=postgresql://localhost/x?sslpassword=hunter2",
                "--url=postgresql://me:hunter2@1@localhost/x",
            })
    void aPasswordAsAnArgumentIsRefusedWithTheReasonAndNotShown(String argument) {
        String[] split = argument.split(" ");
        List<String> command = new java.util.ArrayList<>(List.of("install"));
        command.addAll(List.of(split));
        Ran ran = new ScriptedTerminal().run(command.toArray(String[]::new));
        String what = argument.startsWith("--url") ? "A password in --url" : "A password as an argument";
        ran.fails(
                2,
                what
                        + " is refused: arguments can be read by everybody on this machine while the command runs, and stay in the"
                        + " history of the shell. " + INSTEAD + " See: fenceline install --help");
        command.add("--json");
        Ran json = new ScriptedTerminal().run(command.toArray(String[]::new)).ends(2);
        assertThat(json.out() + json.err()).doesNotContain("hunter2");
        assertThat(json.json().get("outcome").asText()).isEqualTo("usage");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--pasword=hunter2",
                "--pasword hunter2",
                "-phunter2",
                "-p=hunter2",
                "hunter2",
                "--url=postgresql://me:hunter2/1@localhost/x",
                "--url=postgresql://me:hunter2?1@localhost/x",
                "--url=postgresql://localhost:hunter2/x",
                "--url=mysql://me:hunter2@localhost/x",
                "--url=hunter2",
                "--url=postgresql://me:hunter2%zz@localhost/x",
            })
    void whatIsNotUnderstoodIsNotRepeatedSinceItMayBeAPassword(String argument) {
        List<String> command = new java.util.ArrayList<>(List.of("install", "--verbose"));
        command.addAll(List.of(argument.split(" ")));
        Ran ran = new ScriptedTerminal().run(command.toArray(String[]::new)).ends(2);
        assertThat(ran.out() + ran.err()).doesNotContain("hunter2").startsWith("fenceline: ");
    }

    @Test
    void anAddressWhereNobodyListensIsUnreachable() throws IOException {
        int free;
        try (ServerSocket socket = new ServerSocket(0)) {
            free = socket.getLocalPort();
        }
        new ScriptedTerminal()
                .run("install", "--url", "postgresql://127.0.0.1:" + free + "/x")
                .failsWith(
                        3,
                        "Cannot reach PostgreSQL at 127.0.0.1:" + free
                                + ": connection refused. Nothing was sent to it.");
        new ScriptedTerminal()
                .run("install", "--url", "postgresql://nosuch.invalid/x")
                .fails(3, "Cannot reach PostgreSQL at nosuch.invalid:5432: unknown host. Nothing was sent to it.");
        new ScriptedTerminal()
                .run("install", "--url", "postgresql://nosuch.invalid,127.0.0.1:" + free + "/x")
                .failsWith(3, "Cannot reach PostgreSQL at nosuch.invalid:5432,127.0.0.1:" + free + ": ");
    }

    @Test
    void aDatabaseThatDoesNotExistIsRefused() {
        new ScriptedTerminal()
                .run("install", "--url", database.url("postgres").replace(database.name(), "nowhere"))
                .failsWith(
                        1,
                        "/nowhere refused the connection: FATAL: database \"nowhere\" does not exist (SQLSTATE 3D000).");
    }

    @Test
    void aMissingAddressAndWrongPasswordFilesAreNamed() throws IOException {
        new ScriptedTerminal()
                .run("install")
                .fails(2, "No database is named: give --url postgresql://host/database, or set FENCELINE_URL.");
        terminal()
                .run("install", "--password-file", folder.resolve("none").toString())
                .fails(2, MISSING_FILE);
        for (String typed : new String[] {"hunter2", "hunter2/x\u00fc", "x".repeat(300) + "hunter2"}) {
            Ran ran = terminal().run("install", "--password-file", typed, "--verbose");
            assertThat(ran.ends(2).err())
                    .startsWith("fenceline: The file of --password-file ")
                    .doesNotContain("hunter2: ", "hunter2 ", "'hunter2");
            assertThat(ran.err().lines().filter(line -> line.startsWith("fenceline: ")))
                    .noneMatch(line -> line.contains("hunter2"));
        }
        terminal()
                .run("install", "--password-file", folder.toString())
                .failsWith(2, "The file of --password-file cannot be read");
        Path empty = Files.writeString(folder.resolve("empty"), "\nsecond line");
        terminal()
                .run("install", "--password-file", empty.toString())
                .fails(2, "The file of --password-file has no password in its first line.");
    }

    @Test
    void anAddressIsTakenApartAndThePasswordOfAKeyIsNoPasswordOfARole() {
        assertThat(PostgresAddress.parse("x", "postgresql://h:1,[::1]:2/d%2F?a=b&user=u&sslpassword=k%20y&c=d"))
                .isEqualTo(new PostgresAddress(
                        "jdbc:postgresql://h:1,[::1]:2/d%2F?a=b&c=d",
                        "h:1,[::1]:2", "h:1,[::1]:2/d/", Optional.of("u"), Optional.empty(), Optional.of("k y")));
    }
}
