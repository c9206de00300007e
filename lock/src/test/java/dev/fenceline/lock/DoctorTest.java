package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.Finding;
import dev.fenceline.Finding.Severity;
import dev.fenceline.LockOptions;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.Servers;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Each unsafe setting, made on a real server and found there. */
@Tag("server")
class DoctorTest {

    private static final EmbeddedServers SERVERS = Servers.embedded();
    private static RedisProcess sound;

    /** With the restart delay that a server without persistence asks for. */
    private final LockOptions options =
            Fixture.options().restartDelay(Duration.ofSeconds(10)).build();

    private final EmbeddedServers own = Servers.embedded();

    @BeforeAll
    static void start() {
        sound = SERVERS.redis(RedisSpec.master().persistent());
    }

    @AfterAll
    static void stop() {
        SERVERS.close();
    }

    @AfterEach
    void stopOwn() {
        own.close();
    }

    private static List<Finding> doctor(String uri, LockOptions options) {
        try (LockInspector inspector = LockInspector.connect(uri, options)) {
            return inspector.doctor();
        }
    }

    private static Finding only(List<Finding> findings) {
        assertThat(findings).hasSize(1);
        return findings.get(0);
    }

    private static String name(RedisProcess redis) {
        return "Redis at " + redis.host() + ":" + redis.port();
    }

    @Test
    void aSoundServerHasNothingToBeFound() {
        assertThat(doctor(sound.uri(), Fixture.options().build())).isEmpty();
        RedisProcess forgetful = own.redis(RedisSpec.master());
        assertThat(doctor(forgetful.uri(), options)).as("with a restart delay").isEmpty();
    }

    @Test
    void aDoctorLeavesNothingBehind() {
        String before = sound.command("DBSIZE");
        assertThat(doctor(sound.uri(), options)).isEmpty();
        assertThat(sound.command("DBSIZE")).isEqualTo(before);
        eventually(
                "its subscription is gone",
                () -> sound.command("PUBSUB", "CHANNELS").isEmpty());
    }

    @Test
    void whatMayEvictIsAnErrorInTheWordsOfTheRefusedConnect() {
        sound.command("CONFIG", "SET", "maxmemory-policy", "volatile-lru");
        try {
            Finding found = only(doctor(sound.uri(), options));
            assertThat(found.code()).isEqualTo("redis-eviction");
            assertThat(found.severity()).isEqualTo(Severity.ERROR);
            assertThat(found.subject()).isEqualTo(name(sound));
            assertThat(found.remedy()).startsWith("Set maxmemory-policy noeviction");
            assertThatThrownBy(() -> RedisLocks.connect(sound.uri(), options))
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessage(found.subject() + " " + found.found() + ". " + found.remedy());
        } finally {
            sound.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
        }
    }

    /** Of a master of its own: the shared one would be one with a replica for a while. */
    @Test
    void aReplicaIsAnError() {
        RedisProcess master = own.redis(RedisSpec.master());
        RedisProcess replica = own.redis(RedisSpec.master().persistent().replicaOf(master));
        Finding found = only(doctor(replica.uri(), options));
        assertThat(found.code()).isEqualTo("redis-replica");
        assertThat(found)
                .hasToString(
                        "ERROR redis-replica: " + name(replica)
                                + " is a replica (role:slave): what is locked there is not locked at its master. Connect to the master.");
    }

    @Test
    void allThatIsWrongIsToldNotOnlyTheFirst() {
        RedisProcess master = own.redis(RedisSpec.master());
        RedisProcess replica = own.redis(RedisSpec.master()
                .persistent()
                .setting("maxmemory-policy", "allkeys-random")
                .replicaOf(master));
        assertThat(doctor(replica.uri(), options))
                .extracting(Finding::code)
                .containsExactly("redis-replica", "redis-eviction");
    }

    @Test
    void aNodeOfAClusterIsAnError() {
        RedisProcess node = own.redis(RedisSpec.master().setting("cluster-enabled", "yes"));
        Finding found = only(doctor(node.uri(), options));
        assertThat(found.code()).isEqualTo("redis-mode");
        assertThat(found.severity()).isEqualTo(Severity.ERROR);
        assertThat(found.remedy())
                .isEqualTo(
                        "Connect to a Cluster with RedisLocks.connectCluster, at a shell by redis-cluster://host:port.");
    }

    @Test
    void withoutPersistenceAndRestartDelayARestartForgets() {
        RedisProcess forgetful = own.redis(RedisSpec.master());
        Finding found = only(doctor(forgetful.uri(), Fixture.options().build()));
        assertThat(found.code()).isEqualTo("redis-persistence");
        assertThat(found.severity()).isEqualTo(Severity.WARNING);
        assertThat(found.found())
                .contains("appendonly no")
                .contains("the option restartDelay is 0 s, less than the lease of 10 s");
        LockOptions shorter =
                Fixture.options().restartDelay(Duration.ofMillis(1_500)).build();
        assertThat(only(doctor(forgetful.uri(), shorter)).found()).contains("restartDelay is 1500 ms, less than");
    }

    @Test
    void aLogThatIsNotWrittenToDiskAtOnceIsToldByHowMuchItForgets() {
        LockOptions without = Fixture.options().build();
        try {
            sound.command("CONFIG", "SET", "appendfsync", "everysec");
            Finding second = only(doctor(sound.uri(), without));
            assertThat(second.code()).isEqualTo("redis-fsync");
            assertThat(second.severity()).isEqualTo(Severity.INFO);
            assertThat(second.found()).contains("appendfsync everysec");
            sound.command("CONFIG", "SET", "appendfsync", "no");
            Finding minute = only(doctor(sound.uri(), without));
            assertThat(minute.code()).isEqualTo("redis-fsync");
            assertThat(minute.severity()).isEqualTo(Severity.WARNING);
            assertThat(minute.found()).contains("appendfsync no");
            assertThat(doctor(sound.uri(), options)).as("with a restart delay").isEmpty();
        } finally {
            sound.command("CONFIG", "SET", "appendfsync", "always");
        }
    }

    @Test
    void aReplicaThatNoGrantWaitsForIsToldAndSoIsOneThatIsMissing() {
        RedisProcess master = own.redis(RedisSpec.master().persistent().setting("min-replicas-to-write", "0"));
        RedisProcess replica = own.redis(RedisSpec.master().replicaOf(master));
        master.awaitReplicaInSync();
        List<Finding> findings = doctor(master.uri(), Fixture.options().build());
        assertThat(findings).extracting(Finding::code).containsExactly("redis-failover", "redis-two-masters");
        assertThat(findings).extracting(Finding::severity).containsExactly(Severity.WARNING, Severity.INFO);
        assertThat(findings.get(0).found()).startsWith("has 1 replica, and a grant counts before");
        assertThat(findings.get(1).found()).contains("min-replicas-to-write 0");

        LockOptions waiting = Fixture.options().replicas(1).build();
        assertThat(doctor(master.uri(), waiting)).extracting(Finding::code).containsExactly("redis-two-masters");
        master.command("CONFIG", "SET", "min-replicas-to-write", "1");
        assertThat(doctor(master.uri(), waiting)).isEmpty();
        assertThat(doctor(master.uri(), options)).as("with a restart delay").isEmpty();

        replica.close();
        eventually(
                "the replica is gone",
                () -> master.command("INFO", "replication").contains("connected_slaves:0"));
        List<Finding> without = doctor(master.uri(), waiting);
        assertThat(without).extracting(Finding::code).containsExactly("redis-refuses", "redis-replicas-missing");
        assertThat(without.get(0).found()).contains("NOREPLICAS");
        assertThat(without.get(1).found()).startsWith("has 0 replicas (connected_slaves), and the option replicas = 1");
    }

    @Test
    void memoryThatIsNearlyFullIsAWarningAndMemoryThatIsFullAnError() {
        RedisProcess small = own.redis(RedisSpec.master().persistent());
        Matcher used = Pattern.compile("used_memory:([0-9]+)").matcher(small.command("INFO", "memory"));
        assertThat(used.find()).isTrue();
        // What the doctor's own connections take is some hundred kilobytes.
        long bytes = Long.parseLong(used.group(1));
        small.command("SET", "ballast", "x".repeat(20_000_000));
        small.command("CONFIG", "SET", "maxmemory", Long.toString(bytes + 22_000_000));
        Finding warning = only(doctor(small.uri(), options));
        assertThat(warning.code()).isEqualTo("redis-memory");
        assertThat(warning.severity()).isEqualTo(Severity.WARNING);
        assertThat(warning.found()).contains(" of " + (bytes + 22_000_000) + " bytes (used_memory, maxmemory)");

        small.command("CONFIG", "SET", "maxmemory", Long.toString(bytes + 10_000_000));
        List<Finding> full = doctor(small.uri(), options);
        assertThat(full).extracting(Finding::code).containsExactly("redis-refuses", "redis-memory");
        assertThat(full.get(0).severity()).isEqualTo(Severity.ERROR);
        assertThat(full.get(0).found()).contains("OOM");

        small.command("CONFIG", "SET", "maxmemory", "1gb");
        assertThat(doctor(small.uri(), options)).isEmpty();
    }

    @Test
    void grantsThatAreMissingAreAnErrorAndWhatMayNotBeLookedAtIsTold() {
        String pattern = options.keyPrefix() + ":v1:*";
        sound.command("ACL", "SETUSER", "lean", "on", ">secret", "resetchannels", "~" + pattern, "&" + pattern);
        sound.command(("ACL SETUSER lean " + ConnectTest.DOCUMENTED).split(" "));
        String uri = "redis://lean:secret@" + sound.host() + ":" + sound.port();
        try {
            Finding unseen = only(doctor(uri, options));
            assertThat(unseen.code()).isEqualTo("redis-unseen");
            assertThat(unseen.severity()).isEqualTo(Severity.INFO);
            assertThat(unseen.subject()).isEqualTo(name(sound));
            assertThat(unseen.found())
                    .startsWith("did not tell CONFIG GET appendfsync, CONFIG GET min-replicas-to-write,"
                            + " so nothing is said of these here; it answered: NOPERM");

            sound.command("ACL", "SETUSER", "lean", "-zadd", "resetchannels", "+config|get");
            Finding missing = only(doctor(uri, options));
            assertThat(missing.code()).isEqualTo("redis-grants");
            assertThat(missing.severity()).isEqualTo(Severity.ERROR);
            assertThat(missing.remedy()).isEqualTo("Give them with ACL SETUSER <user> &" + pattern + " +zadd.");

            sound.command("ACL", "SETUSER", "lean", "&" + pattern, "+zadd", "-info");
            List<Finding> blind = doctor(uri, options);
            assertThat(blind).extracting(Finding::code).containsExactly("redis-grants", "redis-unseen");
            assertThat(blind.get(0).found()).endsWith("Missing: +info");
            assertThat(blind.get(1).found()).startsWith("did not tell INFO persistence,");

            sound.command("ACL", "SETUSER", "lean", "-eval", "-time");
            Finding scripts = doctor(uri, options).get(0);
            assertThat(scripts.code()).isEqualTo("redis-grants");
            assertThat(scripts.found()).contains("+eval");
            assertThat(doctor(uri, options))
                    .allSatisfy(finding -> assertThat(finding.toString()).doesNotContain("secret"));
        } finally {
            sound.command("ACL", "DELUSER", "lean");
        }
    }

    /** Managed services take CONFIG away for everybody. */
    @Test
    void aServerWithoutTheCommandConfigIsLookedAtAsFarAsItGoes() {
        RedisProcess managed = own.redis(RedisSpec.master().persistent().setting("rename-command", "CONFIG zzz"));
        Finding unseen = only(doctor(managed.uri(), Fixture.options().build()));
        assertThat(unseen.code()).isEqualTo("redis-unseen");
        assertThat(unseen.found()).contains("ERR unknown command");
    }

    @Test
    void aClockThatIsFarFromOursIsTold() {
        for (Duration ahead : List.of(Duration.ofHours(1), Duration.ofSeconds(-30))) {
            Finding found = only(withOurClockAheadBy(ahead));
            assertThat(found.code()).isEqualTo("redis-clock");
            assertThat(found.severity()).isEqualTo(Severity.WARNING);
            assertThat(found.subject()).isEqualTo(name(sound));
            assertThat(found.found())
                    .matches(
                            ahead.isNegative()
                                    ? "has a clock that is (30 s|29[0-9]{3} ms) ahead of that of this machine"
                                    : "has a clock that is 3[56][0-9]{2} s behind that of this machine");
        }
        assertThat(withOurClockAheadBy(Duration.ofSeconds(5))).isEmpty();
    }

    private List<Finding> withOurClockAheadBy(Duration ahead) {
        LockClock system = LockClock.system();
        LockClock ours = new LockClock() {
            @Override
            public long nanoTime() {
                return system.nanoTime();
            }

            @Override
            public long wallMicros() {
                return system.wallMicros() + TimeUnit.NANOSECONDS.toMicros(ahead.toNanos());
            }
        };
        try (LockInspector inspector =
                Connecting.inspecting(new Network(null, null), RedisURI.create(sound.uri()), options, ours)) {
            return inspector.doctor();
        }
    }

    @Test
    void aServerThatWentAwayIsAnErrorAndNoException() {
        RedisProcess gone = own.redis(RedisSpec.master());
        try (LockInspector inspector = LockInspector.connect(gone.uri(), options)) {
            gone.kill();
            Finding found = only(inspector.doctor());
            assertThat(found.code()).isEqualTo("redis-unavailable");
            assertThat(found.severity()).isEqualTo(Severity.ERROR);
            assertThat(found.subject()).isEqualTo(name(gone));
        }
        assertThatThrownBy(() -> doctor(gone.uri(), options)).isInstanceOf(BackendUnavailableException.class);
    }
}
