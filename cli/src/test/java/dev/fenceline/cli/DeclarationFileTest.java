package dev.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** fenceline.yaml: what is read, and where a complaint points to. */
class DeclarationFileTest {

    @TempDir
    private Path folder;

    private Path file(String text) throws IOException {
        return Files.writeString(folder.resolve("tables.yaml"), text);
    }

    @Test
    void tablesAreReadWithTheirLocksKeysAndModes() throws IOException {
        Path file = file("""
                # What the fence protects.
                tables:
                  - table: app.order
                    lock: order
                    key: [id]
                  - table: 'app."Order.Line"'
                    lock: order
                    mode: enforce
                    key:
                      - tenant
                      - '"Order Id"'
                  - {table: config, lock: config, key: []}
                """);
        assertThat(DeclarationFile.read(file))
                .containsExactly(
                        new Declared(
                                "app.order",
                                "order",
                                List.of("id"),
                                Optional.of(Mode.OBSERVE),
                                file + ", line 3, column 5"),
                        new Declared(
                                "app.\"Order.Line\"",
                                "order",
                                List.of("tenant", "\"Order Id\""),
                                Optional.of(Mode.ENFORCE),
                                file + ", line 6, column 5"),
                        new Declared(
                                "config",
                                "config",
                                List.of(),
                                Optional.of(Mode.OBSERVE),
                                file + ", line 12, column 5"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "''                                     | 1 | 1 | the file is to begin with 'tables:'",
                "- table: a                             | 1 | 1 | the file is to begin with 'tables:'",
                "tabels: []                             | 1 | 1 | unknown key 'tabels'; the one key here is 'tables'",
                "tables:                                | 1 | 8 | 'tables' is to be a list, each entry of which begins with '- table:'",
                "{}                                     | 1 | 3 | it lists no table; that none is protected reads 'tables: []'",
                "tables: [a]                            | 1 | 10 | an entry is to begin with '- table:'",
                "tables:~- table: a~  lock: b           | 2 | 3 | this table has no 'key'",
                "tables:~- table: a~  key: [b]          | 2 | 3 | this table has no 'lock'",
                "tables:~- lock: a~  key: [b]           | 2 | 3 | this table has no 'table'",
                "tables:~- table: a~  tabel: b          | 3 | 3 | unknown key 'tabel'; a table has 'table', 'lock', 'key' and 'mode'",
                "tables:~- table: a~  table: b          | 3 | 3 | key 'table' is there twice",
                "tables:~- table: a~  lock: [b]         | 3 | 9 | 'lock' is to be a text",
                "tables:~- table: a~  lock:             | 3 | 8 | 'lock' is to be a text",
                "tables:~- table: a~  key: id           | 3 | 8 | 'key' is to be a list of columns, such as [id]; with [] one lock covers all rows",
                "tables:~- table: a~  key: [[id]]       | 3 | 9 | 'key' is to be a text",
                "tables:~- table: a~  mode: watch       | 3 | 9 | mode 'watch' is neither observe nor enforce",
                "tables:~- &x~  table: a~  lock: *x     | 4 | 9 | 'lock' is to be a text",
                "tables:~- table: App.a.b~  lock: b~    | 2 | 10 | Table name 'App.a.b' has 3 parts. Name schema and table; a dot within a name is written in double quotes",
                "tables:~- table: a~  lock: 9~          | 3 | 9 | Lock class '9' cannot be used: it is a letter followed by at most 63 letters, digits, '.', '-' or '_'. Put what varies into the parts, as in account:42",
                "tables:~- table: a~  key: [id, a b]    | 3 | 13 | Column 'a b' cannot be read at character 3. Write it as in SQL: names with other characters than letters, digits and _, or with capitals, in double quotes, such as \"Odd.Name\"",
                "tables:~^- table: a                    | 2 | 1 | a tab stands where YAML wants blanks",
                "tables:~  - table: a~^ lock: b         | 3 | 1 | a tab stands where YAML wants blanks",
                "tables:~  - table: a~    lock: b~     ^key: c | 4 | 6 | a tab stands where YAML wants blanks",
                "tables:~  - table: a~   lock: b        | 3 | 4 | this line is indented neither as one above it nor deeper than what it belongs to",
                "tables:~  - table: a~  lock: b         | 3 | 3 | this line is indented neither as one above it nor deeper than what it belongs to",
                "tables:~  - table: a~    lock: b~     key: [id] | 4 | 9 | no key can begin here: mind the indentation, and quote a text that holds a colon",
                "tables:~  - table: a~    lock: b: c    | 3 | 12 | no key can begin here: mind the indentation, and quote a text that holds a colon",
                "tables:~  - table: 'a~    lock: b      | 2 | 12 | this is no YAML: found unexpected end of stream",
                "tables:~  - table: a~    lock: @b      | 3 | 11 | this is no YAML: found character '@' that cannot start any token. (Do not use @ for indentation)",
                "tables:~- {table: a, lock: b, key: []}~---~x: 1 | 4 | 1 | a second document begins here; one is read",
            })
    void aComplaintHasALineAndAColumn(String text, int line, int column, String complaint) throws IOException {
        Path file = file(text.equals("''") ? "" : text.replace("~", "\n").replace("^", "\t"));
        assertThatThrownBy(() -> DeclarationFile.read(file))
                .isInstanceOfSatisfying(
                        Failure.class, failure -> assertThat(failure.outcome()).isEqualTo(Outcome.USAGE))
                .hasMessage(file + ", line " + line + ", column " + column + ": " + complaint + ".");
    }

    /** A file whose last table is gone: verify still looks for what is protected, and the others have nothing to do. */
    @Test
    void aFileMayListNoTableForVerifyAlone() throws IOException {
        Path file = file("tables: []\n");
        assertThat(DeclarationFile.read(file)).isEmpty();
        for (String command :
                List.of("plan", "apply", "protect --mode observe", "sql", "rollback-sql", "unprotect", "add-columns")) {
            new ScriptedTerminal()
                    .with("FENCELINE_URL", "postgresql://localhost:1/x")
                    .run((command + " --file " + file).split(" "))
                    .fails(
                            2,
                            "The file " + file
                                    + " lists no table, so there is nothing to do. It lists them as tables: [{table: app.order,"
                                    + " lock: order, key: [id], mode: observe}]");
        }
        new ScriptedTerminal()
                .with("FENCELINE_URL", "postgresql://localhost:1/x")
                .run("verify", "--file", file.toString())
                .failsWith(3, "Cannot reach PostgreSQL at localhost:1");
    }

    @Test
    void whatIsNoYamlIsSaidToBeNone() throws IOException {
        Path file = file("tables:\n  - {table: a,\n     lock: b]\n");
        assertThatThrownBy(() -> DeclarationFile.read(file))
                .isInstanceOf(Failure.class)
                .hasMessageStartingWith(file + ", line 3, column ")
                .hasMessageContaining(": this is no YAML: ");
    }

    @Test
    void aFileThatCannotBeReadIsNamed() throws IOException {
        Path none = folder.resolve("none.yaml");
        assertThatThrownBy(() -> DeclarationFile.read(none))
                .isInstanceOf(Failure.class)
                .hasMessage("The file " + none + " does not exist. It lists the tables to protect: "
                        + "tables: [{table: app.order, lock: order, key: [id], mode: observe}]");
        assertThatThrownBy(() -> DeclarationFile.read(folder))
                .isInstanceOf(Failure.class)
                .hasMessageStartingWith("The file " + folder + " cannot be read");
        Path binary = Files.write(folder.resolve("latin.yaml"), new byte[] {'t', (byte) 0xfc, '\n'});
        assertThatThrownBy(() -> DeclarationFile.read(binary))
                .isInstanceOf(Failure.class)
                .hasMessage("The file " + binary + " is no text in UTF-8.");
    }

    @Test
    void namesThatSqlDoesNotKnowAreFoundWhereTheyStand() throws IOException {
        Path file = file("tables:\n  - {table: 'a b', lock: b, key: []}\n");
        new ScriptedTerminal()
                .with("FENCELINE_URL", "postgresql://localhost:1/x")
                .run("plan", "--file", file.toString())
                .failsWith(2, file + ", line 2, column 13: Table name 'a b' cannot be read at character 3");
        Path twice = file("tables:\n  - {table: a, lock: b, key: []}\n  - {table: public.a, lock: b, key: []}\n");
        new ScriptedTerminal()
                .with("FENCELINE_URL", "postgresql://localhost:1/x")
                .run("plan", "--file", twice.toString())
                .fails(
                        2,
                        "Table public.a is named twice: at " + twice + ", line 2, column 5 and at " + twice
                                + ", line 3, column 5.");
    }
}
