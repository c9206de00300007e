package dev.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/**
 * Runs docs/first-table.md, command by command, and compares what it shows; times and tokens aside. With
 * {@code -Dfenceline.record=true} it writes what it saw into the page.
 */
@Tag("server")
class FirstTableTest {

    private static final Path PAGE = Path.of("../docs/first-table.md");
    private static final Pattern BLOCK = Pattern.compile("```(console|yaml)\n(.*?)```", Pattern.DOTALL);
    private static final String SHELL = "$ ";
    private static final String SQL = "shop=> ";

    @TempDir
    private Path folder;

    private int exitCode;

    @Test
    void theSessionOfThePageIsWhatHappens() throws IOException, SQLException {
        Database database = Database.empty();
        String shop = database.newRole("shop_");
        String owner = database.newRole("owner_");
        database.execute(
                "GRANT CREATE ON DATABASE \"" + database.name() + "\" TO \"" + owner + "\"",
                "CREATE SCHEMA app AUTHORIZATION \"" + owner + "\"",
                "SET ROLE \"" + owner + "\"; CREATE TABLE app.account (id int PRIMARY KEY, balance int NOT NULL);"
                        + " INSERT INTO app.account VALUES (42, 100);"
                        + " GRANT USAGE ON SCHEMA app TO \"" + shop + "\"; GRANT SELECT, UPDATE ON app.account TO \""
                        + shop + "\"");
        ScriptedTerminal terminal = database.as(owner).in(folder);
        String page = Files.readString(PAGE);
        StringBuilder recorded = new StringBuilder();
        Matcher block = BLOCK.matcher(page);
        try (Connection connection =
                        database.server().dataSource(database.name(), shop).getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SET application_name = 'shop 1.0'");
            while (block.find()) {
                String replacement = block.group();
                if (block.group(1).equals("yaml")) {
                    Files.writeString(folder.resolve("fenceline.yaml"), block.group(2));
                } else {
                    replacement = "```console\n" + session(block.group(2), terminal, statement, shop) + "```";
                }
                block.appendReplacement(
                        recorded,
                        Matcher.quoteReplacement(
                                replacement.replace(shop, "shop").replace(owner, "owner")));
            }
        }
        block.appendTail(recorded);
        if (Boolean.getBoolean("fenceline.record")) {
            Files.writeString(PAGE, recorded);
        }
        assertThat(lasting(recorded.toString())).isEqualTo(lasting(Files.readString(PAGE)));
        assertThat(recorded.toString().split("\\$ fenceline", -1))
                .as("the page has a session")
                .hasSizeGreaterThan(8);
    }

    /** Runs the commands of a block, and returns them with what they print. */
    private String session(String text, ScriptedTerminal terminal, Statement statement, String shop) {
        StringBuilder seen = new StringBuilder();
        for (String line : text.lines().toList()) {
            if (line.startsWith(SHELL)) {
                seen.append(line).append('\n').append(shell(line.substring(SHELL.length()), terminal, shop));
            } else if (line.startsWith(SQL)) {
                seen.append(line).append('\n').append(sql(line.substring(SQL.length()), statement));
            }
        }
        return seen.toString();
    }

    private String shell(String command, ScriptedTerminal terminal, String shop) {
        if (command.equals("echo $?")) {
            return exitCode + "\n";
        }
        if (command.startsWith("export ")) {
            return "";
        }
        List<String> words = new ArrayList<>(List.of(command.split(" ")));
        assertThat(words.remove(0)).isEqualTo("fenceline");
        words.replaceAll(word -> word.equals("shop") ? shop : word);
        Ran ran = terminal.run(words.toArray(String[]::new));
        exitCode = ran.exitCode();
        return ran.out() + ran.said();
    }

    private static String sql(String sql, Statement statement) {
        try {
            if (statement.execute(sql)) {
                List<String> rows = new ArrayList<>();
                try (ResultSet result = statement.getResultSet()) {
                    while (result.next()) {
                        rows.add(result.getString(1));
                    }
                }
                return String.join("\n", rows) + (rows.equals(List.of("")) ? "" : "\n");
            }
            String verb = sql.substring(0, sql.replace(';', ' ').indexOf(' '));
            return verb + (verb.equals("UPDATE") ? " " + statement.getUpdateCount() : "") + "\n";
        } catch (PSQLException e) {
            ServerErrorMessage said = e.getServerErrorMessage();
            return "ERROR:  " + said.getMessage() + "\nHINT:  " + said.getHint() + "\n";
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    /** What is the same in every run. */
    private static String lasting(String page) {
        return page.replaceAll("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z", "<time>");
    }
}
