package dev.fenceline.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("server")
class EmbeddedRedisTest {

    private final EmbeddedServers servers = Servers.embedded();

    @AfterEach
    void stop() {
        servers.close();
    }

    @Test
    void withoutPersistenceAKillForgetsEverythingAndARestartKeepsThePort() {
        RedisProcess redis = servers.redis(RedisSpec.master());
        redis.command("SET", "k", "grün");
        assertThat(redis.command("GET", "k")).isEqualTo("grün");
        int port = redis.port();
        long pid = redis.pid();

        redis.kill();
        assertThat(ProcessTable.gone(pid)).isTrue();
        redis.restart();

        assertThat(redis.port()).isEqualTo(port);
        assertThat(redis.pid()).isNotEqualTo(pid);
        assertThat(redis.command("GET", "k")).isEmpty();
    }

    @Test
    void aKillEndsAChildThatSavesAsWell() {
        RedisProcess redis = servers.redis(RedisSpec.master());
        redis.command("SET", "k", "v");
        redis.command("CONFIG", "SET", "rdb-key-save-delay", "60000000");
        redis.command("BGSAVE");
        List<ProcessHandle> children =
                ProcessHandle.of(redis.pid()).orElseThrow().children().toList();
        assertThat(children).hasSize(1);

        redis.kill();

        assertThat(children).allMatch(child -> ProcessTable.gone(child.pid()));
    }

    @Test
    void withPersistenceAKillForgetsNothing() {
        RedisProcess redis = servers.redis(RedisSpec.master().persistent());
        redis.command("SET", "k", "v");
        redis.kill();
        redis.restart();
        assertThat(redis.command("GET", "k")).isEqualTo("v");
    }

    @Test
    void aReplicaIsLinkedWhenItStartsAndHoldsEverythingOnceInSync() {
        RedisProcess master = servers.redis(RedisSpec.master());
        RedisProcess replica = servers.redis(RedisSpec.master().replicaOf(master));
        for (int i = 0; i < 1_000; i++) {
            master.command("INCR", "n");
        }
        master.awaitReplicaInSync();
        assertThat(replica.command("GET", "n")).isEqualTo("1000");
        assertThatIllegalStateException()
                .isThrownBy(() -> replica.command("SET", "k", "v"))
                .withMessageContaining("SET k v to Redis on 127.0.0.1:" + replica.port() + " was answered: READONLY");
    }

    @Test
    void aReplicaOfAMasterWithAPasswordPresentsIt() {
        RedisProcess master = servers.redis(RedisSpec.master().password("open-sesame"));
        servers.redis(RedisSpec.master().password("open-sesame").replicaOf(master));
        master.command("SET", "k", "v");
        master.awaitReplicaInSync();
    }

    @Test
    void withoutAReplicaThereIsNothingToBeInSync() {
        LocalRedis redis = (LocalRedis) servers.redis(RedisSpec.master());
        assertThatIllegalStateException()
                .isThrownBy(() -> redis.awaitReplicaInSync(Duration.ofMillis(50)))
                .withMessageContaining("each replica of Redis on port " + redis.port() + " has all writes")
                .withMessageContaining("connected_slaves:0");
    }

    @Test
    void aPausedServerAcceptsConnectionsAndAnswersNothingUntilItIsContinued() throws Exception {
        RedisProcess redis = servers.redis(RedisSpec.master());
        redis.pause();
        assertThat(ProcessTable.state(redis.pid())).isEqualTo('T');
        try (Socket socket = new Socket(redis.host(), redis.port())) {
            socket.setSoTimeout(100);
            socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThatExceptionOfType(SocketTimeoutException.class)
                    .isThrownBy(() -> socket.getInputStream().read());
            redis.resume();
            socket.setSoTimeout(10_000);
            assertThat((char) socket.getInputStream().read()).isEqualTo('+');
        }
    }

    @Test
    void aPasswordIsDemandedAndStandsInTheUriButNotInMessages() {
        RedisSpec spec = RedisSpec.master().password("open-sesame");
        RedisProcess redis = servers.redis(spec);
        assertThat(redis.uri()).isEqualTo("redis://:open-sesame@127.0.0.1:" + redis.port());
        assertThat(redis.command("PING")).isEqualTo("PONG");
        assertThatIllegalStateException()
                .isThrownBy(() -> RedisCommands.run(redis.host(), redis.port(), Optional.empty(), "PING"))
                .withMessageContaining("NOAUTH");
        assertThat(spec.toString() + redis).doesNotContain("sesame");
    }

    @Test
    void settingsReachTheServer() {
        RedisProcess redis = servers.redis(RedisSpec.master().setting("maxmemory-policy", "allkeys-lru"));
        assertThat(redis.command("CONFIG", "GET", "maxmemory-policy")).isEqualTo("maxmemory-policy\nallkeys-lru");
    }

    @Test
    void aSettingThatRedisDoesNotKnowIsReportedWithItsLog() {
        assertThatIllegalStateException()
                .isThrownBy(() -> servers.redis(RedisSpec.master().setting("no-such-setting", "1")))
                .withMessageContaining("redis-server on port")
                .withMessageContaining("no-such-setting");
    }

    @Test
    void closedServersAreGoneAndSoAreTheirFiles() {
        RedisProcess redis = servers.redis(RedisSpec.master());
        String directory =
                redis.command("CONFIG", "GET", "dir").lines().toList().get(1);
        long pid = redis.pid();
        servers.close();
        assertThat(ProcessTable.gone(pid)).isTrue();
        assertThat(Path.of(directory)).doesNotExist();
        assertThatIllegalStateException()
                .isThrownBy(() -> servers.redis(RedisSpec.master()))
                .withMessageContaining("These servers are closed");
    }

    @Test
    void unpackingFromManySidesAtOnceEndsWithOneWholeProgram(@TempDir Path directory) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            List<Callable<Path>> unpackings = IntStream.range(0, 4)
                    .<Callable<Path>>mapToObj(i -> () -> RedisExecutable.unpack(directory))
                    .toList();
            for (Future<Path> unpacked : threads.invokeAll(unpackings)) {
                assertThat(unpacked.get()).isExecutable();
            }
        } finally {
            threads.shutdown();
        }
        try (Stream<Path> files = Files.list(directory)) {
            assertThat(files.collect(Collectors.toList())).hasSize(1);
        }
    }

    @Test
    void aMissingLibraryIsNamedWithThePackageThatBringsIt() {
        assertThat(RedisExecutable.cannotRun(
                        Path.of("/x/redis-server"),
                        "error while loading shared libraries: libssl.so.3: cannot open shared object file"))
                .contains("libssl.so.3", "apt-get install libssl3", "-Dfenceline.redis.executable=");
    }

    @Test
    void theLoopbackAddressIsTheOnlyOneThatServes() {
        RedisProcess redis = servers.redis(RedisSpec.master());
        assertThat(redis.host()).isEqualTo(InetAddress.getLoopbackAddress().getHostAddress());
        assertThat(redis.command("CONFIG", "GET", "bind")).isEqualTo("bind\n127.0.0.1");
    }
}
