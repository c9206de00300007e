package dev.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command as users run it: a process of its own, from one jar. Runs once the jar is made. */
@Tag("server")
@Tag("jar")
class RunnableJarTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String PASSWORD = "s3cr3t-of-the-process";

    @TempDir
    private Path folder;

    private static Optional<Path> jar() {
        return Optional.ofNullable(System.getProperty("fenceline.jar")).map(Path::of);
    }

    /** Where there is no jar, the classes that it would be made of. */
    private static List<String> command(String... arguments) {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:TieredStopAtLevel=1"));
        command.addAll(jar().map(jar -> List.of("-jar", jar.toString()))
                .orElseGet(() -> List.of("-cp", System.getProperty("java.class.path"), Fenceline.class.getName())));
        command.addAll(List.of(arguments));
        return command;
    }

    private Process start(Path out, Path err, List<String> command, String... environment) throws IOException {
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
        builder.environment()
                .keySet()
                .removeIf(name -> name.startsWith("FENCELINE_") || name.startsWith("PG") || name.equals("NO_COLOR"));
        builder.environment().put("TERM", "xterm");
        for (int i = 0; i < environment.length; i += 2) {
            builder.environment().put(environment[i], environment[i + 1]);
        }
        return builder.start();
    }

    private Ran run(List<String> command, String... environment) throws IOException, InterruptedException {
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        Process process = start(out, err, command, environment);
        try {
            assertThat(process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .as("%s ends", command)
                    .isTrue();
            return new Ran(process.exitValue(), Files.readString(out), Files.readString(err));
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void theJarStartsItselfCarriesNoSignaturesAndKeepsWhatIsFoundByServiceFiles() throws IOException {
        try (JarFile jar = new JarFile(jar().orElseThrow().toFile())) {
            assertThat(jar.getManifest().getMainAttributes().getValue("Main-Class"))
                    .isEqualTo(Fenceline.class.getName());
            List<String> names = jar.stream().map(ZipEntry::getName).toList();
            assertThat(names)
                    .noneMatch(name -> name.matches("META-INF/[^/]*\\.(SF|DSA|RSA|EC)"))
                    .noneMatch(name -> name.startsWith("dev/fenceline/testkit/"))
                    .doesNotHaveDuplicates();
            String plugins = new String(
                    jar.getInputStream(jar.getEntry("META-INF/services/org.flywaydb.core.extensibility.Plugin"))
                            .readAllBytes(),
                    StandardCharsets.UTF_8);
            assertThat(plugins)
                    .as("of more than one of Flyway's jars")
                    .contains("org.flywaydb.database.postgresql.PostgreSQLDatabaseType", "org.flywaydb.core.internal.");
        }
    }

    @Test
    void thePasswordIsInNoProcessTableWhileItWaitsAndTellsSo() throws IOException, SQLException, InterruptedException {
        Database database = Database.empty();
        String role = database.newRole("installer_");
        database.execute("ALTER ROLE \"" + role + "\" SUPERUSER PASSWORD '" + PASSWORD + "'");
        Path hba = Path.of(database.rows("SHOW hba_file").get(0));
        Files.writeString(hba, "host all \"" + role + "\" all scram-sha-256\n" + Files.readString(hba));
        database.execute("SELECT pg_reload_conf()");
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        try (Connection other = database.server().dataSource(database.name()).getConnection();
                Statement statement = other.createStatement()) {
            statement.execute("SELECT pg_advisory_lock(hashtextextended('fenceline.install', 0))");
            Process process = start(
                    out,
                    err,
                    command("install", "--json"),
                    "FENCELINE_URL",
                    database.url(role),
                    "FENCELINE_PASSWORD",
                    PASSWORD);
            try {
                Waits.until(
                        "it says that it waits", LIMIT, () -> text(err).contains("another process that installs ("));
                assertThat(text(err)).startsWith("Waiting for locks").doesNotContain("\r", "\u001b");
                assertThat(processTable(process.pid()))
                        .contains("install --json")
                        .doesNotContain(PASSWORD);
                Path arguments = Path.of("/proc", String.valueOf(process.pid()), "cmdline");
                if (Files.exists(arguments)) {
                    assertThat(Files.readString(arguments)).contains("install").doesNotContain(PASSWORD);
                }
                statement.execute("SELECT pg_advisory_unlock_all()");
                assertThat(process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
            } finally {
                process.destroyForcibly();
            }
            Ran ran = new Ran(process.exitValue(), text(out), text(err)).ends(0);
            assertThat(ran.json().at("/schemaVersion").asText()).isEqualTo(FenceVersion.newest());
            assertThat(ran.out() + ran.err()).doesNotContain(PASSWORD, "INFO", "SLF4J");
        }
    }

    /** What the minute of a build gets into the jar by, and two builds of one source become two jars. */
    @Test
    void noFileInTheJarHasTheTimeOfItsBuild() throws IOException {
        LocalDateTime written =
                LocalDateTime.ofInstant(Instant.parse(System.getProperty("fenceline.build.time")), ZoneOffset.UTC);
        try (JarFile jar = new JarFile(jar().orElseThrow().toFile())) {
            assertThat(jar.stream().filter(entry -> entry.getName().startsWith("dev/fenceline/")))
                    .isNotEmpty()
                    .allSatisfy(entry ->
                            assertThat(entry.getTimeLocal()).as(entry.getName()).isEqualTo(written));
            assertThat(jar.stream())
                    .as("those of others have the times of their own jars")
                    .allSatisfy(entry ->
                            assertThat(entry.getTimeLocal()).as(entry.getName()).isBeforeOrEqualTo(written));
        }
    }

    @Test
    void aPasswordIsAskedForOnAScreenAndNotShownThere() throws IOException, InterruptedException {
        Database database = Database.installed();
        String role = database.newRole("typist_");
        database.execute("ALTER ROLE \"" + role + "\" SUPERUSER PASSWORD '" + PASSWORD + "'");
        Path hba = Path.of(database.rows("SHOW hba_file").get(0));
        Files.writeString(hba, "host all \"" + role + "\" all scram-sha-256\n" + Files.readString(hba));
        database.execute("SELECT pg_reload_conf()");
        Path screen = folder.resolve("screen");
        Path err = folder.resolve("err");
        Process process = start(
                screen, err, onAScreen(command("fence", "show", "order:42")), "FENCELINE_URL", database.url(role));
        try (Writer keyboard = process.outputWriter(StandardCharsets.UTF_8)) {
            Waits.until("it asks for the password", LIMIT, () -> text(screen).contains("Password of PostgreSQL at "));
            keyboard.write(PASSWORD + "\n");
            keyboard.flush();
            assertThat(process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        assertThat(text(screen))
                .contains("Lock 'order:42' was never claimed here.")
                .doesNotContain(PASSWORD);
        assertThat(process.exitValue()).as("%s %s", text(screen), text(err)).isZero();
    }

    @Test
    void aFailureIsOneLineAndAnExitCodeOfTheProcess() throws IOException, InterruptedException {
        run(command("locks", "ls", "--redis", "redis://127.0.0.1:1")).failsWith(3, "127.0.0.1:1");
        Ran refused = run(command("install", "--password=hunter2"));
        refused.failsWith(2, "A password as an argument is refused");
        assertThat(refused.err()).doesNotContain("hunter2");
    }

    @Test
    void aScreenGetsColourUnlessNobodyWantsIt() throws IOException, InterruptedException {
        Ran plain = run(onAScreen(command("install")), "NO_COLOR", "1");
        assertThat(plain.out()).contains("fenceline: No database is named").doesNotContain("\u001b[31m");
        Ran coloured = run(onAScreen(command("install")));
        assertThat(coloured.out()).contains("\u001b[31mfenceline:\u001b[0m No database is named");
    }

    /** {@code script} gives a program a terminal; where it comes from BSD it is called in another way. */
    private static List<String> onAScreen(List<String> command) {
        if (System.getProperty("os.name").startsWith("Mac")) {
            List<String> words = new ArrayList<>(List.of("script", "-q", "/dev/null"));
            words.addAll(command);
            return words;
        }
        String line =
                String.join(" ", command.stream().map(word -> "'" + word + "'").toList());
        return List.of("script", "-qec", line, "/dev/null");
    }

    private static String processTable(long pid) throws IOException, InterruptedException {
        Process ps = new ProcessBuilder("ps", "-ww", "-o", "args=", "-p", String.valueOf(pid)).start();
        String text = new String(ps.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(ps.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        return text;
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
