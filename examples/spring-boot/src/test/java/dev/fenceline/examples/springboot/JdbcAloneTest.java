package dev.fenceline.examples.springboot;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What there is to copy is compiled and runs where there is JdbcTemplate and no JPA. */
@Tag("server")
class JdbcAloneTest {

    private static final Path SOURCES = Path.of("src", "main", "java", "dev", "fenceline", "examples", "springboot");
    private static final List<String> COPIED = List.of(
            "Fenced",
            "FencedAspect",
            "FencedMethods",
            "FenceConfiguration",
            "Refusals",
            "FeeService",
            "Clearing",
            "ClearingConfiguration");
    private static final Pattern JPA =
            Pattern.compile("jpa|hibernate|persistence|spring-orm", Pattern.CASE_INSENSITIVE);

    private static final String APPLICATION = """
            package dev.fenceline.examples.springboot;

            import org.springframework.boot.SpringApplication;
            import org.springframework.boot.autoconfigure.SpringBootApplication;

            @SpringBootApplication
            class JdbcAlone {
                public static void main(String[] args) {
                    try (var context = SpringApplication.run(JdbcAlone.class, args)) {
                        System.out.println("LEFT " + context.getBean(FeeService.class).charge(Long.getLong("account")));
                    }
                }
            }
            """;

    @TempDir
    private Path directory;

    private static String classPath() {
        String all = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        return Stream.of(all.split(File.pathSeparator))
                .filter(entry -> !Path.of(entry).equals(location(FencedAspect.class)))
                .filter(entry -> !Path.of(entry).equals(location(JdbcAloneTest.class)))
                .filter(entry ->
                        !JPA.matcher(Path.of(entry).getFileName().toString()).find())
                .collect(Collectors.joining(File.pathSeparator));
    }

    /** Where this module is, whose classes may not answer for the copied ones. */
    private static Path location(Class<?> type) {
        return Path.of(URI.create(
                type.getProtectionDomain().getCodeSource().getLocation().toString()));
    }

    private void compile() throws IOException {
        Path application = Files.writeString(directory.resolve("JdbcAlone.java"), APPLICATION);
        Stream<String> options =
                Stream.of("-parameters", "-nowarn", "-proc:none", "-cp", classPath(), "-d", directory.toString());
        Stream<Path> sources =
                Stream.concat(COPIED.stream().map(name -> SOURCES.resolve(name + ".java")), Stream.of(application));
        int failed = ToolProvider.getSystemJavaCompiler()
                .run(
                        null,
                        null,
                        null,
                        Stream.concat(options, sources.map(Path::toString)).toArray(String[]::new));
        assertThat(failed).as("what the compiler says is above").isZero();
    }

    @Test
    void withoutJpaItIsCompiledAndFencedAllTheSame() throws Exception {
        Bank bank = RunningService.BANK;
        long account = bank.account(1_000_000);
        compile();
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        Path options = Files.writeString(
                directory.resolve("options"), "-cp \"" + directory + File.pathSeparator + classPath() + "\"");
        Stream<String> command = Stream.of(
                java.toString(),
                "@" + options,
                "-XX:TieredStopAtLevel=1",
                "-Daccount=" + account,
                "dev.fenceline.examples.springboot.JdbcAlone",
                "--spring.main.web-application-type=none",
                "--spring.flyway.enabled=false");
        Process process = new ProcessBuilder(
                        Stream.concat(command, Stream.of(Instance.settings(bank, RunningService.LEASE)))
                                .toList())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("output").toFile())
                .start();
        try {
            assertThat(process.waitFor(Instance.LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
        } finally {
            process.destroyForcibly();
        }

        assertThat(directory.resolve("output")).content().contains("LEFT 999000");
        assertThat(bank.number("SELECT count(*) FROM fenceline.guard WHERE lock = 'account:" + account + "'"))
                .as("marks of a claim")
                .isEqualTo(1);
    }
}
