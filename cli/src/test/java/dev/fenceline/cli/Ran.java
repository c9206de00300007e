package dev.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

/** What a command left: its exit code and what it wrote. */
record Ran(int exitCode, String out, String err) {

    Ran ends(int expected) {
        assertThat(exitCode).as("exit code; out: %s err: %s", out, err).isEqualTo(expected);
        return this;
    }

    /** Failures are one line on standard error, and nothing on standard output. */
    Ran fails(int expected, String line) {
        ends(expected);
        assertThat(err).isEqualTo("fenceline: " + line + System.lineSeparator());
        assertThat(out).isEmpty();
        return this;
    }

    /** As above, for lines whose end a driver or a server words. */
    Ran failsWith(int expected, String... parts) {
        ends(expected);
        assertThat(err).startsWith("fenceline: ").contains(parts);
        assertThat(err.lines()).as("one line").hasSize(1);
        assertThat(err).doesNotContain("\tat ");
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
