package dev.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.stream.Collectors;

/** What a command left: its exit code and what it wrote. */
record Ran(int exitCode, String out, String err) {

    Ran ends(int expected) {
        assertThat(exitCode).as("exit code; out: %s err: %s", out, err).isEqualTo(expected);
        return this;
    }

    /** What it said on standard error of itself: on a slow machine it also says that it takes its time. */
    String said() {
        return err.lines()
                .filter(line -> !line.matches(".* \\([0-9]+ s\\)"))
                .map(line -> line + System.lineSeparator())
                .collect(Collectors.joining());
    }

    /** Failures are one line on standard error, and nothing on standard output. */
    Ran fails(int expected, String line) {
        ends(expected);
        assertThat(said()).isEqualTo("fenceline: " + line + System.lineSeparator());
        assertThat(out).isEmpty();
        return this;
    }

    /** As above, for lines whose end a driver or a server words. */
    Ran failsWith(int expected, String... parts) {
        ends(expected);
        assertThat(said()).startsWith("fenceline: ").contains(parts);
        assertThat(said().lines()).as("one line").hasSize(1);
        assertThat(said()).doesNotContain("\tat ");
        assertThat(out).isEmpty();
        return this;
    }

    JsonNode json() {
        try {
            return new ObjectMapper().readTree(out);
        } catch (JsonProcessingException e) {
            throw new AssertionError("no JSON: " + out + " err: " + err, e);
        }
    }
}
