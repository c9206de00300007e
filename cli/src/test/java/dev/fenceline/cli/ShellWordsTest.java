package dev.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Whoever has the jar alone is told what to type: no call of a library, and no page that is not in the jar. */
@Tag("server")
class ShellWordsTest {

    private static final Pattern JAVA = Pattern.compile(
            "FenceMigrations|FenceOperations|Unprotect\\b|grant\\w*To\\(|\\(role\\)|\\.install\\(\\)|LockInspector|LockName\\.of\\(|docs/");
    private static final List<String> COMMANDS = List.of(
            "plan --table orders --lock order --key id",
            "apply --table orders --lock order --key id",
            "unprotect --table orders --yes",
            "add-columns --table orders",
            "verify --table orders --lock order --key id",
            "doctor",
            "violations",
            "after-restore --yes",
            "fence show order:1",
            "fence blockers order:1",
            "fence raise order:1 --yes",
            "grant app --to nobody",
            "fence show 9",
            "locks show 9",
            "install",
            "plan --file none.yaml",
            "--help",
            "verify --help");

    private static Database database;

    @BeforeAll
    static void protectedTables() {
        database = Database.installed();
        database.execute(
                "CREATE TABLE orders (id int PRIMARY KEY)",
                "CREATE TABLE \"It's Odd\" (\"Id\" int PRIMARY KEY)",
                "SELECT fenceline.protect('\"It''s Odd\"', 'odd', '{Id}', 'observe')");
    }

    private static void saysWhatToType(ScriptedTerminal terminal) {
        for (String command : COMMANDS) {
            for (String json : List.of("", " --json")) {
                Ran ran = terminal.run((command + json).split(" "));
                assertThat(ran.out() + ran.err()).as(command + json).doesNotContainPattern(JAVA);
            }
        }
    }

    @Test
    void withoutTheSchema() {
        Database empty = Database.empty();
        empty.execute("CREATE TABLE orders (id int PRIMARY KEY)");
        String role = empty.newRole("guest_");
        saysWhatToType(empty.as(role));
        String[] apply = "apply --table orders --lock order --key id".split(" ");
        empty.terminal().run(apply).failsWith(1, "has no fence schema. Install it first: fenceline install.");
        assertThat(empty.terminal().run("doctor").ends(1).out()).contains("Run fenceline install.");
    }

    @Test
    void withoutRights() {
        String role = database.newRole("guest_");
        saysWhatToType(database.as(role));
        database.as(role)
                .run("apply", "--table", "orders", "--lock", "order", "--key", "id")
                .failsWith(1, "Have the owner of schema fenceline run fenceline grant protection --to " + role + ".");
        database.as(role).run("violations").failsWith(1, "Run fenceline grant operations --to ROLE as the owner");
    }

    @Test
    void whereTheDatabaseIsOtherwiseThanDeclared() {
        Ran verify = database.terminal()
                .run("verify", "--table", "orders", "--lock", "order", "--key", "id")
                .ends(1);
        assertThat(verify.out())
                .contains("take it off with fenceline unprotect --table 'public.\"It'\\''s Odd\"'.")
                .doesNotContainPattern(JAVA);
    }

    @Test
    void aColumnWithCapitalsIsShownAsTheShellTakesIt() {
        database.terminal()
                .run("plan", "--table", "\"It's Odd\"", "--lock", "odd", "--key", "Id")
                .failsWith(
                        1,
                        "it has no column id; it has \"Id\". There is \"Id\", which is written in double quotes, and in a shell in"
                                + " single ones around them: '\"Id\"'.");
    }

    @Test
    void theScriptForOtherToolsNamesBoth() {
        Ran sql = database.terminal()
                .run("sql", "--table", "orders", "--lock", "order", "--key", "id")
                .ends(0);
        assertThat(sql.out()).contains("Install it first (fenceline install, in Java FenceMigrations.install)");
    }
}
