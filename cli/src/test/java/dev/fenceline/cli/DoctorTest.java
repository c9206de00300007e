package dev.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.testkit.SharedServers;
import java.io.IOException;
import java.net.ServerSocket;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two servers are looked at, each by itself. */
@Tag("server")
class DoctorTest {

    private static Database database;
    private static String nowhere;

    @BeforeAll
    static void aPortWhereNobodyListens() throws IOException {
        database = Database.installed();
        try (ServerSocket socket = new ServerSocket(0)) {
            nowhere = "127.0.0.1:" + socket.getLocalPort();
        }
    }

    @Test
    void whatIsFoundInPostgresqlIsToldThoughRedisIsDown() {
        Ran ran = database.terminal()
                .run("doctor", "--redis", "redis://" + nowhere)
                .ends(3);
        assertThat(ran.out())
                .contains("ERROR postgres-fsync: ", "ERROR redis-unasked: Redis could not be asked: ", nowhere)
                .contains("PostgreSQL and Redis: ", " findings.");
        assertThat(ran.err()).isEmpty();

        Ran json = database.terminal()
                .run("doctor", "--redis", "redis://" + nowhere, "--json")
                .ends(3);
        assertThat(json.json().at("/outcome").asText()).isEqualTo("unreachable");
        assertThat(json.json().at("/examined").toString()).isEqualTo("[\"postgresql\"]");
        assertThat(json.json().at("/findings").toString()).contains("postgres-fsync", "redis-unasked");
    }

    @Test
    void whatIsFoundInRedisIsToldThoughPostgresqlIsDown() {
        Ran ran = new ScriptedTerminal()
                .with("FENCELINE_URL", "postgresql://" + nowhere + "/x")
                .with("FENCELINE_REDIS", SharedServers.redis().uri())
                .run("doctor", "--json")
                .ends(3);
        assertThat(ran.json().at("/examined").toString()).isEqualTo("[\"redis\"]");
        assertThat(ran.json().at("/findings/0/code").asText()).isEqualTo("postgres-unasked");
        assertThat(ran.json().at("/findings/0/found").asText())
                .isEqualTo("could not be asked: Cannot reach PostgreSQL at " + nowhere
                        + ": connection refused. Nothing was sent to it");
    }

    @Test
    void oneThatRefusesIsAFindingAndNoServerThatIsDown() {
        Ran ran = new ScriptedTerminal()
                .with("FENCELINE_URL", database.url("nobody_of_this_name"))
                .with("FENCELINE_REDIS", SharedServers.redis().uri())
                .run("doctor")
                .ends(1);
        assertThat(ran.out())
                .contains("ERROR postgres-unasked: PostgreSQL could not be asked: ", "nobody_of_this_name")
                .endsWith("." + System.lineSeparator());
    }

    @Test
    void bothDownAreBothTold() {
        Ran ran = new ScriptedTerminal()
                .with("FENCELINE_URL", "postgresql://" + nowhere + "/x")
                .with("FENCELINE_REDIS", "redis://" + nowhere)
                .run("doctor")
                .ends(3);
        assertThat(ran.out()).contains("postgres-unasked", "redis-unasked", "PostgreSQL and Redis: 2 findings.");
    }

    @Test
    void whatIsNotUnderstoodIsSaidBeforeAnythingElse() {
        database.terminal()
                .run("doctor", "--redis-password-file", "none", "--redis", "redis://" + nowhere)
                .failsWith(2, "The file of --redis-password-file does not exist.");
        new ScriptedTerminal()
                .with("FENCELINE_URL", "nothing")
                .with("FENCELINE_REDIS", SharedServers.redis().uri())
                .run("doctor")
                .failsWith(2, "The address of FENCELINE_URL is no address of PostgreSQL.");
    }
}
