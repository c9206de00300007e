package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.migrations.FenceMigrations;
import dev.fenceline.testkit.SharedServers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** The session of docs/sql-contract.md, and a database to run it in. */
final class ContractPage {

    private static final Path PAGE = Path.of("..", "docs", "sql-contract.md");
    private static final Pattern BLOCK = Pattern.compile("```sql\\n(.*?)```", Pattern.DOTALL);
    private static final Pattern STEP = Pattern.compile("(.+?);\\n-- ([^\\n]*)\\n", Pattern.DOTALL);

    /**
     * A statement of the page.
     *
     * @param sql without its semicolon
     * @param outcome what the page says that the server answers: a value, a number of rows, an error, or {@code ok}
     */
    record Step(String sql, String outcome) {}

    /**
     * A database with the fence schema.
     *
     * @param role may create tables, protect its own, and use the fence
     */
    record Place(TestDatabase database, String role) {}

    private ContractPage() {}

    static String text() throws IOException {
        return Files.readString(PAGE);
    }

    static List<Step> steps() throws IOException {
        List<Step> steps = new ArrayList<>();
        for (MatchResult block : BLOCK.matcher(text()).results().toList()) {
            String session = block.group(1);
            List<Step> found = STEP.matcher(session)
                    .results()
                    .map(step -> new Step(step.group(1), step.group(2)))
                    .toList();
            assertThat(found.stream()
                            .mapToInt(step -> (step.sql() + ";\n-- " + step.outcome() + "\n").length())
                            .sum())
                    .as("every line is part of a statement or is an outcome: " + session)
                    .isEqualTo(session.length());
            steps.addAll(found);
        }
        assertThat(steps).hasSizeGreaterThan(20);
        return steps;
    }

    static Place place() {
        TestDatabase database = TestDatabase.withoutSchemaOn(SharedServers.postgres());
        String role = "reader_" + database.name();
        database.execute(
                "DROP TABLE account; CREATE ROLE " + role + " LOGIN; GRANT CREATE ON SCHEMA public TO " + role);
        FenceMigrations owner = FenceMigrations.on(database.source());
        owner.install();
        owner.grantTo(role);
        owner.grantProtectionTo(role);
        return new Place(database, role);
    }

    /** How the page writes what a statement did. */
    static String rows(long count) {
        return count == 0 ? "ok" : count + (count == 1 ? " row" : " rows");
    }
}
