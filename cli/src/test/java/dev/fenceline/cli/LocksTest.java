package dev.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.fenceline.EfficiencyLock;
import dev.fenceline.FencedLease;
import dev.fenceline.Lease;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.lock.RedisLocks;
import dev.fenceline.testkit.ClusterSpec;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.RedisCluster;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisSentinel;
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.SentinelSpec;
import dev.fenceline.testkit.Servers;
import dev.fenceline.testkit.SharedServers;
import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The locks in Redis, as an operator sees them. */
@Tag("server")
class LocksTest {

    private static final LockName ORDER = LockName.of("order", 42);

    private final String prefix = "cli-" + UUID.randomUUID().toString().substring(0, 8);

    @TempDir
    private Path folder;

    private ScriptedTerminal terminal() {
        return new ScriptedTerminal()
                .with("FENCELINE_REDIS", SharedServers.redis().uri());
    }

    private Locks locks() {
        return RedisLocks.connect(
                SharedServers.redis().uri(),
                LockOptions.builder()
                        .keyPrefix(prefix)
                        .application("billing")
                        .lease(Duration.ofSeconds(60))
                        .build());
    }

    @Test
    void locksAreListedByNameAndShownWithTheirHolders() {
        try (Locks locks = locks()) {
            FencedLease order = locks.fenced(ORDER).tryAcquire().orElseThrow();
            EfficiencyLock report = locks.efficiency(LockName.of("report", "nightly"));
            Lease nightly = report.tryAcquire().orElseThrow();

            Ran ran = terminal().run("locks", "ls", "--key-prefix", prefix).ends(0);
            assertThat(ran.out().lines())
                    .hasSize(3)
                    .element(0)
                    .asString()
                    .startsWith("order:42 (fenced) held by billing (host ");
            assertThat(ran.out()).contains("report:nightly (efficiency) held by billing", "2 locks.");

            Ran json = terminal()
                    .run("locks", "ls", "--key-prefix", prefix, "--kind", "fenced", "--json")
                    .ends(0);
            assertThat(json.json().at("/locks")).hasSize(1);
            assertThat(json.json().at("/locks/0/token").asLong())
                    .isEqualTo(order.token().value());
            assertThat(json.json().at("/locks/0/process/application").asText()).isEqualTo("billing");
            assertThat(json.json().at("/more").asBoolean()).isFalse();
            assertThat(terminal()
                            .run("locks", "ls", "--key-prefix", prefix, "--limit", "1")
                            .ends(0)
                            .out())
                    .contains("1 lock, and there are more: raise --limit.");
            assertThat(terminal()
                            .run("locks", "ls", "--key-prefix", prefix, "--starting-with", "rep")
                            .ends(0)
                            .out())
                    .contains("1 lock.")
                    .doesNotContain("order:42");

            assertThat(terminal()
                            .run("locks", "show", "order:42", "--key-prefix", prefix)
                            .ends(0)
                            .out())
                    .contains("held by billing", "token " + order.token().value() + "/");
            nightly.close();
        }
    }

    /** A name alone says fenced, and a list of locks has shown it as taken. */
    @Test
    void whereTheOtherLockOfANameIsTakenThatIsTold() {
        try (Locks locks = locks()) {
            LockName name = LockName.of("report", "nightly");
            Lease nightly = locks.efficiency(name).tryAcquire().orElseThrow();
            String[] show = {"locks", "show", "report:nightly", "--key-prefix", prefix};
            String[] force = {"locks", "force-release", "report:nightly", "--key-prefix", prefix, "--yes"};

            assertThat(terminal().run(show).ends(0).out().lines())
                    .hasSize(2)
                    .contains("Lock 'report:nightly' (fenced) is free.")
                    .element(1)
                    .asString()
                    .startsWith(
                            "The other lock of that name is taken: report:nightly (efficiency) held by billing (host ")
                    .endsWith(". Show it: fenceline locks show report:nightly --kind efficiency");
            JsonNode shown = terminal().run(and(show, "--json")).ends(0).json();
            assertThat(shown.at("/lock").isNull()).isTrue();
            assertThat(shown.at("/other/kind").asText()).isEqualTo("efficiency");

            terminal()
                    .run(force)
                    .failsWith(
                            1,
                            "Lock 'report:nightly' (fenced) is free already, and the other lock of that name is taken: report:nightly"
                                    + " (efficiency) held by billing",
                            "Nothing was released. If you mean that one: fenceline locks force-release report:nightly --kind"
                                    + " efficiency");
            assertThat(terminal().run(and(force, "--kind", "fenced")).ends(0).out())
                    .startsWith(
                            "Lock 'report:nightly' (fenced) is free already.\nThe other lock of that name is taken: ");
            assertThat(locks.efficiency(name).tryAcquire()).isEmpty();

            assertThat(terminal()
                            .run(and(force, "--kind", "efficiency"))
                            .ends(0)
                            .out())
                    .startsWith("Released: report:nightly (efficiency) held by billing");
            nightly.close();
            FencedLease fenced = locks.fenced(name).tryAcquire().orElseThrow();
            assertThat(terminal().run(and(show, "--kind", "efficiency")).ends(0).out())
                    .contains("Lock 'report:nightly' (efficiency) is free.", "--kind fenced");
            fenced.close();
            assertThat(terminal().run(show).ends(0).out())
                    .isEqualToIgnoringNewLines("Lock 'report:nightly' (fenced) is free.");
        }
    }

    private static String[] and(String[] words, String... more) {
        return Stream.of(words, more).flatMap(Stream::of).toArray(String[]::new);
    }

    @Test
    void aLockIsTakenAwayOnceThatIsConfirmed() {
        try (Locks locks = locks()) {
            FencedLease held = locks.fenced(ORDER).tryAcquire().orElseThrow();
            String[] force = {"locks", "force-release", "order:42", "--key-prefix", prefix};

            terminal()
                    .run(force)
                    .failsWith(
                            2,
                            "This takes the lock from its holder, who goes on unaware: order:42 (fenced) held by billing",
                            "--yes");
            assertThat(locks.fenced(ORDER).tryAcquire()).isEmpty();

            Ran ran = terminal().answering("yes").run(force).ends(0);
            assertThat(ran.out()).contains("Released: order:42", "fenceline fence raise order:42");
            try (FencedLease next = locks.fenced(ORDER).tryAcquire().orElseThrow()) {
                assertThat(next.token().value()).isGreaterThan(held.token().value());
            }
            Ran free = terminal()
                    .run("locks", "force-release", "order:42", "--key-prefix", prefix, "--json")
                    .ends(0);
            assertThat(free.json().at("/released").asBoolean()).isFalse();
        }
    }

    @Test
    void thePasswordOfRedisComesFromTheSamePlaces() throws IOException {
        try (EmbeddedServers servers = Servers.embedded()) {
            RedisProcess redis = servers.redis(RedisSpec.master().password("s3cr3t"));
            String[] command = {"locks", "ls", "--redis", "redis://" + redis.host() + ":" + redis.port()};
            new ScriptedTerminal()
                    .with("FENCELINE_REDIS_PASSWORD", "s3cr3t")
                    .run(command)
                    .ends(0);
            Path file = Files.writeString(folder.resolve("password"), "s3cr3t\n");
            new ScriptedTerminal()
                    .run("locks", "ls", "--redis", command[3], "--redis-password-file", file.toString())
                    .ends(0);
            new ScriptedTerminal()
                    .with("FENCELINE_REDIS", redis.uri())
                    .run("locks", "ls")
                    .ends(0);
            ScriptedTerminal asked = new ScriptedTerminal().answering("s3cr3t");
            asked.run(command).ends(0);
            assertThat(asked.questions).containsExactly("[hidden] Password of Redis: ");
            Ran wrong = new ScriptedTerminal()
                    .with("FENCELINE_REDIS_PASSWORD", "wr0ng")
                    .run("locks", "ls", "--redis", command[3], "--verbose")
                    .ends(1);
            assertThat(wrong.err()).contains("refused the login").doesNotContain("wr0ng", "s3cr3t");
            new ScriptedTerminal().run(command).failsWith(1, "NOAUTH");
        }
    }

    /** A variable that is left from another server. */
    @Test
    void aPasswordForAServerThatWantsNoneIsToldAsSuch() {
        assertThat(terminal()
                        .with("FENCELINE_REDIS_PASSWORD", "hunter2")
                        .run("locks", "ls", "--verbose")
                        .ends(1)
                        .err())
                .contains(
                        " refused the login: a password was sent without a user, and the default user has none. Leave the password"
                                + " out, or name its user, redis://user:password@host:port.")
                .doesNotContain("hunter2");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--redis=redis://:hunter2@localhost",
                "--redis=redis://hunter2@localhost",
                "--redis=redis-sentinel://me:hunter2@localhost#m",
                "--redis=redis-cluster://me:hunter2@localhost",
                "--redis-password=hunter2",
                "--redis-pw hunter2",
            })
    void aPasswordAsAnArgumentIsRefusedAndNotShown(String argument) {
        Ran ran = new ScriptedTerminal()
                .run(("locks ls --verbose " + argument).split(" "))
                .ends(2);
        assertThat(ran.err() + ran.out())
                .contains("is refused: arguments can be read by everybody on this machine")
                .doesNotContain("hunter2");
    }

    @ParameterizedTest
    @ValueSource(strings = {"http://hunter2", "redis-cluster://hunter2:x", "redis://host:hunter2", "hunter2"})
    void whatIsNoAddressIsNotRepeated(String address) {
        Ran argument = new ScriptedTerminal()
                .run("locks", "ls", "--verbose", "--redis", address)
                .ends(2);
        assertThat(argument.err())
                .contains("The address of --redis is none of Redis. It reads redis://host")
                .doesNotContain("hunter2");
        Ran variable = new ScriptedTerminal()
                .with("FENCELINE_REDIS", address)
                .run("locks", "ls")
                .ends(2);
        assertThat(variable.err())
                .contains("The address of FENCELINE_REDIS is none of Redis.")
                .doesNotContain("hunter2");
    }

    @Test
    void aServerThatCannotBeReachedAndOtherWrongInputIsOneLine() throws IOException {
        int free;
        try (ServerSocket socket = new ServerSocket(0)) {
            free = socket.getLocalPort();
        }
        for (String command : new String[] {"locks ls", "locks show a:1", "locks force-release a:1 --yes"}) {
            new ScriptedTerminal()
                    .run((command + " --redis redis://127.0.0.1:" + free).split(" "))
                    .failsWith(3, "127.0.0.1:" + free);
        }
        new ScriptedTerminal()
                .run("locks", "ls")
                .fails(2, "No lock server is named: give --redis redis://host, or set FENCELINE_REDIS.");
        terminal().run("locks", "ls", "--kind", "all").failsWith(2, "'all' is none of fenced, efficiency.");
        terminal().run("locks", "ls", "--limit", "0").failsWith(2, "0 is below 1");
        terminal().run("locks", "ls", "--key-prefix", "a b").failsWith(2, "--key-prefix: ");
        terminal().run("locks", "show", "a b").failsWith(2, "Lock class 'a b' cannot be used");
    }

    /** Two locks, so that in a Cluster of two masters or more nobody has to be lucky. */
    private void seen(String address, Locks locks) throws InterruptedException {
        try (FencedLease order = locks.fenced(ORDER).acquireWithin(Duration.ofSeconds(20));
                FencedLease other = locks.fenced(LockName.of("order", 43)).acquireWithin(Duration.ofSeconds(20))) {
            Ran ls = new ScriptedTerminal()
                    .run("locks", "ls", "--redis", address, "--key-prefix", prefix, "--json")
                    .ends(0);
            assertThat(ls.json().at("/locks")).hasSize(2);
            assertThat(ls.json().at("/locks/0/token").asLong())
                    .isEqualTo(order.token().value());
            assertThat(ls.json().at("/locks/1/token").asLong())
                    .isEqualTo(other.token().value());
            String[] release = {
                "locks", "force-release", "order:42", "--yes", "--redis", address, "--key-prefix", prefix, "--json"
            };
            assertThat(new ScriptedTerminal()
                            .run(release)
                            .ends(0)
                            .json()
                            .at("/released")
                            .asBoolean())
                    .isTrue();
            assertThat(new ScriptedTerminal()
                            .run("locks", "show", "order:42", "--redis", address, "--key-prefix", prefix)
                            .ends(0)
                            .out())
                    .contains("is free");
        }
    }

    private LockOptions options() {
        return LockOptions.builder()
                .keyPrefix(prefix)
                .lease(Duration.ofSeconds(60))
                .restartDelay(Duration.ZERO)
                .build();
    }

    @Test
    void anAddressOfSentinelsLeadsToTheMasterThatTheyName() throws InterruptedException {
        try (EmbeddedServers servers = Servers.embedded()) {
            RedisSentinel redis = servers.sentinel(SentinelSpec.pair());
            String address = redis.sentinels().stream()
                    .map(sentinel -> sentinel.host() + ":" + sentinel.port())
                    .collect(Collectors.joining(",", "redis-sentinel://", "#" + RedisSentinel.MASTER_NAME));
            try (Locks locks = RedisLocks.connect(redis.uri(), options())) {
                seen(address, locks);
            }
        }
    }

    @Test
    void anAddressOfAClusterLeadsToAllOfItsMasters() throws InterruptedException {
        try (EmbeddedServers servers = Servers.embedded()) {
            RedisCluster cluster = servers.cluster(ClusterSpec.threeMasters());
            List<RedisURI> seeds = cluster.uris().stream().map(RedisURI::create).toList();
            List<String> hosts = cluster.masters().stream()
                    .map(master -> master.host() + ":" + master.port())
                    .toList();
            try (Locks locks = RedisLocks.connectCluster(seeds, options())) {
                seen("redis-cluster://" + String.join(",", hosts), locks);
                seen("redis-cluster://" + hosts.get(1), locks);
            }
            new ScriptedTerminal()
                    .run("locks", "ls", "--redis", "redis://" + hosts.get(0))
                    .failsWith(1, "runs in mode 'cluster'", "at a shell by redis-cluster://host:port");
        }
    }

    @Test
    void theDoctorFindsAnUnsafeRedis() {
        try (EmbeddedServers servers = Servers.embedded()) {
            RedisProcess redis = servers.redis(RedisSpec.master());
            redis.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
            Ran ran = new ScriptedTerminal()
                    .with("FENCELINE_REDIS", redis.uri())
                    .run("doctor", "--json")
                    .ends(1);
            assertThat(ran.json().at("/examined").toString()).isEqualTo("[\"redis\"]");
            assertThat(ran.json().at("/findings").toString()).contains("maxmemory-policy");
        }
    }
}
