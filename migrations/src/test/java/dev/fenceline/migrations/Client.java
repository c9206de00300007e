package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The client programs of PostgreSQL that this machine has, as an administrator calls them. */
final class Client {

    private static final int LIMIT_SECONDS = 120;

    private final List<ProcessBuilder> pipeline = new ArrayList<>();

    private Client() {}

    /** What a program has left behind. */
    record End(int exitCode, String output) {}

    /** Dumps a database as text, which can be piped {@link #into} another one. */
    static Client dump(Database database, String... options) {
        Client client = new Client();
        client.pipeline.add(program("pg_dump", database, options));
        return client;
    }

    /** Loads the dump into another database, and stops at the first error; there is none. */
    void into(Database database, String... options) throws IOException, InterruptedException {
        assertThat(tryInto(database, options)).isEqualTo(new End(0, ""));
    }

    End tryInto(Database database, String... options) throws IOException, InterruptedException {
        pipeline.add(psql(database, options));
        return run(pipeline);
    }

    /** Runs psql alone; it stops at the first error. */
    static End runPsql(Database database, String... options) throws IOException, InterruptedException {
        return run(List.of(psql(database, options)));
    }

    private static ProcessBuilder psql(Database database, String... options) {
        List<String> all = new ArrayList<>(List.of("-X", "-q", "-A", "-t", "-o", "/dev/null", "-v", "ON_ERROR_STOP=1"));
        all.addAll(List.of(options));
        return program("psql", database, all.toArray(String[]::new));
    }

    private static ProcessBuilder program(String name, Database database, String... options) {
        List<String> command = new ArrayList<>(List.of(
                name,
                "-h",
                database.server().host(),
                "-p",
                Integer.toString(database.server().port()),
                "-U",
                database.server().superuser(),
                "-d",
                database.name()));
        command.addAll(List.of(options));
        return new ProcessBuilder(command);
    }

    private static End run(List<ProcessBuilder> programs) throws IOException, InterruptedException {
        Path said = Files.createTempFile("client", ".txt");
        try {
            programs.forEach(program -> program.redirectError(ProcessBuilder.Redirect.appendTo(said.toFile())));
            ProcessBuilder last = programs.get(programs.size() - 1);
            last.redirectOutput(ProcessBuilder.Redirect.appendTo(said.toFile()));
            List<Process> running = ProcessBuilder.startPipeline(programs);
            int exitCode = 0;
            for (Process process : running) {
                if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                    running.forEach(Process::destroyForcibly);
                    throw new AssertionError("Within " + LIMIT_SECONDS + " s there was no end of " + last.command()
                            + ". It said: " + Files.readString(said));
                }
                exitCode = Math.max(exitCode, process.exitValue());
            }
            return new End(exitCode, Files.readString(said, StandardCharsets.UTF_8));
        } finally {
            Files.delete(said);
        }
    }
}
