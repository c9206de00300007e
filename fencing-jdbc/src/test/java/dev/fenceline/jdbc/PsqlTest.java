package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.jdbc.ContractPage.Step;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The session of docs/sql-contract.md in psql itself, which has to be installed: {@code mvn verify -Ppsql}. */
@Tag("psql")
class PsqlTest {

    private static final String MARK = "--- step --- ";

    @TempDir
    Path directory;

    @Test
    void theSessionWorksInPsqlAsItStands() throws Exception {
        ContractPage.Place place = ContractPage.place();
        StringBuilder script = new StringBuilder();
        for (Step step : ContractPage.steps()) {
            script.append(step.sql()).append(";\n");
            // What psql knows of the statement; its own words on errors go to another stream, out of order.
            script.append("\\echo '" + MARK + "' :ERROR :ROW_COUNT :SQLSTATE: :LAST_ERROR_MESSAGE\n");
        }
        Path session = Files.writeString(directory.resolve("session.sql"), script);
        Path output = directory.resolve("output.txt");

        Process psql = new ProcessBuilder(
                        "psql",
                        "-X",
                        "-q",
                        "-A",
                        "-t",
                        "-h",
                        place.database().server().host(),
                        "-p",
                        Integer.toString(place.database().server().port()),
                        "-U",
                        place.role(),
                        "-d",
                        place.database().name(),
                        "-f",
                        session.toString())
                .redirectOutput(output.toFile())
                .redirectError(directory.resolve("errors.txt").toFile())
                .start();
        assertThat(psql.waitFor(60, TimeUnit.SECONDS)).as("psql has ended").isTrue();

        assertThat(answered(Files.readString(output, StandardCharsets.UTF_8))).isEqualTo(ContractPage.steps());
    }

    private static List<Step> answered(String output) throws Exception {
        List<Step> answered = new ArrayList<>();
        List<String> printed = new ArrayList<>();
        List<Step> steps = ContractPage.steps();
        for (String line : output.lines().toList()) {
            if (line.startsWith(MARK)) {
                answered.add(new Step(
                        steps.get(answered.size()).sql(),
                        outcome(printed, line.substring(MARK.length()).strip())));
                printed.clear();
            } else {
                printed.add(line);
            }
        }
        return answered;
    }

    private static String outcome(List<String> printed, String known) {
        String[] parts = known.split(" ", 3);
        if (parts[0].equals("true")) {
            return parts[2];
        }
        // Rows are printed, be they empty; a number of rows is not.
        String value = String.join("\n", printed);
        return printed.isEmpty() ? ContractPage.rows(Long.parseLong(parts[1])) : value.isEmpty() ? "ok" : value;
    }
}
