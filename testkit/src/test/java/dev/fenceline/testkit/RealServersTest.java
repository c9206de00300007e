package dev.fenceline.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.testkit.engine.EventConditions.event;
import static org.junit.platform.testkit.engine.EventConditions.finishedWithFailure;
import static org.junit.platform.testkit.engine.EventConditions.test;
import static org.junit.platform.testkit.engine.TestExecutionResultConditions.message;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

/** One annotation gives a test class its servers, on the JUnit of this build and on 5.12. */
@Tag("server")
class RealServersTest {

    private static final Duration LIMIT = Duration.ofMinutes(2);

    /** Copied there by the build. */
    private static final Path JUNIT_5_12 = Path.of("target", "junit", "junit-5.12.jar");

    private static final List<Class<?>> SAMPLES = List.of(
            RealServersSamples.Everywhere.class,
            RealServersSamples.OneChild.class,
            RealServersSamples.OtherChild.class,
            RealServersSamples.MethodsAtOnce.class,
            RealServersSamples.OneInstance.class);

    private static final int TESTS = 12;

    private static final Map<String, String> PARALLEL = Map.of(
            "junit.jupiter.execution.parallel.enabled", "true",
            "junit.jupiter.execution.parallel.config.executor-service", "FORK_JOIN_POOL",
            "junit.jupiter.execution.parallel.config.strategy", "fixed",
            "junit.jupiter.execution.parallel.config.fixed.parallelism", "4");

    @Test
    void onTheJUnitOfThisBuildClassesRunAtOnceAndEachHasItsOwn() {
        Events tests = run(SAMPLES);
        tests.assertStatistics(statistics -> statistics.started(TESTS).succeeded(TESTS));
    }

    @Test
    void aClassThatRunsOncePerArgumentHasItsOwnEachTime() {
        run(List.of(RealServersSamples.RunTwice.class))
                .assertStatistics(statistics -> statistics.started(2).succeeded(2));
    }

    @Test
    void databasesAreDroppedAfterTheirClass() {
        String before = databases();
        run(List.of(RealServersSamples.OneInstance.class, RealServersSamples.RunTwice.class));
        assertThat(databases()).isEqualTo(before);
    }

    @Test
    void whoAsksForAServerToKillIsToldToTakeItsOwn() {
        run(List.of(RealServersSamples.WantsToKill.class))
                .assertThatEvents()
                .haveExactly(
                        1,
                        event(
                                test("redis"),
                                finishedWithFailure(
                                        message(
                                                said -> said.contains(
                                                        "Ask for a RedisServer, or take one of your own: Servers.embedded().redis(RedisSpec.master())")))))
                .haveExactly(
                        1,
                        event(
                                test("postgres"),
                                finishedWithFailure(
                                        message(
                                                said -> said.contains(
                                                        "Ask for a PostgresServer, or take one of your own: Servers.embedded().postgres(")))));
        assertThat(SharedServers.redis().command("PING")).isEqualTo("PONG");
    }

    @Test
    void onJUnit512TheSameClassesRunAndTheServersEndWithTheJvm() {
        try (ChildJvm console = consoleOfJUnit512(List.of(), SAMPLES)) {
            assertThat(console.awaitLine("on JUnit ", LIMIT)).startsWith("on JUnit 5.12.");
            List<Long> pids = Stream.of(console.awaitLine("pids ", LIMIT).split(" "))
                    .skip(1)
                    .map(Long::valueOf)
                    .toList();
            assertThat(console.awaitLine("[        " + TESTS + " tests succ", LIMIT))
                    .isNotEmpty();
            assertThat(console.awaitExit(LIMIT)).isZero();
            assertThat(pids).hasSize(2);
            Polling.until(
                    "the servers " + pids + " end", LIMIT, () -> pids.stream().allMatch(ProcessTable::gone));
        }
    }

    @Test
    void withoutOpenSslEveryTestSaysWhatToInstall(@TempDir Path directory) throws IOException {
        Path broken = directory.resolve("redis-server");
        Files.writeString(
                broken,
                "#!/bin/sh\necho 'error while loading shared libraries: libssl.so.3: cannot open shared object file'\nexit 127\n");
        assertThat(broken.toFile().setExecutable(true)).isTrue();
        try (ChildJvm console = consoleOfJUnit512(
                List.of("-D" + RedisExecutable.PROPERTY + "=" + broken),
                List.of(RealServersSamples.WantsRedis.class, RealServersSamples.WantsRedisToo.class))) {
            for (int test = 1; test <= 2; test++) {
                assertThat(console.awaitLine(
                                "    => org.junit.jupiter.api.extension.ParameterResolutionException", LIMIT))
                        .as("test %d", test)
                        .contains("RedisServer")
                        .contains("redis-server at " + broken + " does not run here: error while loading")
                        .contains("Install OpenSSL 3 (Debian and Ubuntu: apt-get install libssl3;");
            }
        }
    }

    private static Events run(List<Class<?>> classes) {
        EngineTestKit.Builder kit = EngineTestKit.engine("junit-jupiter").configurationParameters(PARALLEL);
        classes.forEach(type -> kit.selectors(selectClass(type)));
        return kit.execute().testEvents();
    }

    private static ChildJvm consoleOfJUnit512(List<String> options, List<Class<?>> classes) {
        assertThat(JUNIT_5_12)
                .as("copied by `mvn -pl testkit generate-test-resources`")
                .isRegularFile();
        String others = Stream.of(ChildJvm.classPath().split(File.pathSeparator))
                .filter(entry -> !Path.of(entry).getFileName().toString().matches("junit-(jupiter|platform).*"))
                .collect(Collectors.joining(File.pathSeparator));
        List<String> arguments = new ArrayList<>(List.of("execute", "--disable-banner", "--disable-ansi-colors"));
        PARALLEL.forEach((name, value) -> arguments.add("--config=" + name + "=" + value));
        classes.forEach(type -> arguments.add("--select-class=" + type.getName()));
        return ChildJvm.start(
                JUNIT_5_12.toAbsolutePath() + File.pathSeparator + others,
                options,
                "org.junit.platform.console.ConsoleLauncher",
                arguments.toArray(String[]::new));
    }

    private static String databases() {
        return PostgresSessions.query(
                SharedServers.postgres().dataSource("postgres"),
                "SELECT string_agg(datname, ',' ORDER BY datname) FROM pg_database");
    }
}
