package dev.fenceline.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("server")
class EmbeddedServersTest extends ServersContract {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    @Override
    Servers servers() {
        return Servers.embedded();
    }

    @Test
    void theServersOfAKilledJvmAreEndedAndTheirFilesRemoved() {
        try (ChildJvm owner = ChildJvm.start(Owner.class)) {
            List<String> pids =
                    List.of(owner.awaitLine("pids ", LIMIT).split(" ")).subList(1, 3);
            List<String> files =
                    List.of(owner.awaitLine("files ", LIMIT).split(" ")).subList(1, 3);
            assertThat(pids).allSatisfy(pid -> assertThat(ended(pid)).isFalse());
            assertThat(files).allSatisfy(file -> assertThat(Path.of(file)).exists());

            owner.kill();

            Polling.until(
                    "the servers " + pids + " end", LIMIT, () -> pids.stream().allMatch(EmbeddedServersTest::ended));
            Polling.until(
                    "the files " + files + " are removed",
                    LIMIT,
                    () -> files.stream().noneMatch(file -> Files.exists(Path.of(file))));
        }
    }

    private static boolean ended(String pid) {
        return ProcessTable.gone(Long.parseLong(pid));
    }

    /** Starts servers, one of them paused, and waits to be killed. */
    static final class Owner {
        public static void main(String[] args) throws InterruptedException {
            EmbeddedServers servers = Servers.embedded();
            RedisProcess redis = servers.redis(RedisSpec.master());
            PostgresProcess postgres = servers.postgres(PostgresSpec.primary());
            String redisFiles =
                    redis.command("CONFIG", "GET", "dir").lines().toList().get(1);
            String postgresFiles = PostgresSessions.query(postgres.dataSource("postgres"), "SHOW data_directory");
            redis.pause();
            System.out.println("pids " + redis.pid() + " " + postgres.pid());
            System.out.println("files " + redisFiles + " " + postgresFiles);
            new CountDownLatch(1).await();
        }
    }
}
