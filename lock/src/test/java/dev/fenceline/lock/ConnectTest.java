package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisServer;
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.Servers;
import dev.fenceline.testkit.SharedServers;
import io.lettuce.core.RedisURI;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Servers and users that are refused, each with what has to be changed, and never with a password. */
@Tag("server")
class ConnectTest {

    /** As the Javadoc of {@link RedisLocks} says. */
    static final String DOCUMENTED =
            "+eval +evalsha +info +time +get +mget +set +del +pttl +pexpire +zadd +zrange +zrem +zscore"
                    + " +hset +hget +hdel +publish +subscribe";

    private static final EmbeddedServers SERVERS = Servers.embedded();

    private final RedisServer redis = SharedServers.redis();
    private final LockOptions options = Fixture.options().build();

    @AfterAll
    static void stopServers() {
        SERVERS.close();
    }

    @AfterEach
    void noThreadIsLeft() {
        Fixture.eventually("no thread of a lock is left", () -> RedisLocksTest.ourThreads() == 0);
    }

    @Test
    void aReplicaIsRefused() {
        try (RedisProcess master = SERVERS.redis(RedisSpec.master());
                RedisProcess replica = SERVERS.redis(RedisSpec.master().replicaOf(master))) {
            assertThatThrownBy(() -> connect(replica.uri()))
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessageContaining(
                            "Redis at " + replica.host() + ":" + replica.port() + " is a replica (role:slave)")
                    .hasMessageContaining("Connect to the master");
        }
    }

    @Test
    void aNodeOfAClusterIsRefusedWithAndWithoutSlots() {
        RedisSpec node = RedisSpec.master().setting("cluster-enabled", "yes");
        try (RedisProcess cluster = SERVERS.redis(node.setting("cluster-require-full-coverage", "no"))) {
            assertRefusedAsCluster(cluster);
            List<String> everySlot = new ArrayList<>(List.of("CLUSTER", "ADDSLOTS"));
            for (int slot = 0; slot < 16_384; slot++) {
                everySlot.add(Integer.toString(slot));
            }
            cluster.command(everySlot.toArray(String[]::new));
            Fixture.eventually(
                    "the cluster is up",
                    () -> cluster.command("CLUSTER", "INFO").contains("cluster_state:ok"));
            assertRefusedAsCluster(cluster);
        }
    }

    private void assertRefusedAsCluster(RedisProcess cluster) {
        assertThatThrownBy(() -> connect(cluster.uri()))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageContaining("Redis at " + cluster.host() + ":" + cluster.port()
                        + " runs in mode 'cluster' (redis_mode), not 'standalone'")
                .hasMessageContaining("Connect to a Cluster with RedisLocks.connectCluster");
    }

    @Test
    void aServerThatMayEvictLocksIsRefused() {
        try (RedisProcess evicting = SERVERS.redis(RedisSpec.master().setting("maxmemory-policy", "allkeys-lru"))) {
            assertThatThrownBy(() -> connect(evicting.uri()))
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessageContaining("maxmemory-policy 'allkeys-lru'")
                    .hasMessageContaining("Set maxmemory-policy noeviction");
        }
    }

    @Test
    void aWrongOrMissingPasswordIsRefusedAndNotRepeated() {
        try (RedisProcess secured = SERVERS.redis(RedisSpec.master().password("right-horse"))) {
            for (String login : new String[] {":wrong-battery@", "", "somebody:wrong-battery@"}) {
                String uri = "redis://" + login + secured.host() + ":" + secured.port();
                assertThatThrownBy(() -> connect(uri))
                        .isInstanceOf(BackendMisconfiguredException.class)
                        .hasMessageContaining("refused the login")
                        .hasMessageContaining("Check user and password")
                        .satisfies(thrown -> assertThat(everythingPrinted(thrown))
                                .doesNotContain("wrong-battery")
                                .doesNotContain("right-horse"));
            }
            try (Locks locks = RedisLocks.connect(secured.uri(), options)) {
                assertThat(locks.fenced(ACCOUNT).tryAcquire()).hasValueSatisfying(FencedLease::close);
            }
        }
    }

    @Test
    void aPasswordForAServerThatHasNoneIsToldAsSuch() {
        try (RedisProcess open = SERVERS.redis(RedisSpec.master())) {
            String address = open.host() + ":" + open.port();
            assertThatThrownBy(() -> connect("redis://:top-secret@" + address))
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessage("Redis at " + address
                            + " refused the login: a password was sent without a user, and the default user has none. Leave the"
                            + " password out, or name its user, redis://user:password@host:port.")
                    .satisfies(thrown -> assertThat(everythingPrinted(thrown)).doesNotContain("top-secret"));
        }
    }

    /** Such a server repeats what it was sent. */
    @Test
    void aServerThatDoesNotKnowTheLoginDoesNotMakeUsRepeatThePassword() {
        try (RedisProcess renamed = SERVERS.redis(RedisSpec.master().setting("rename-command", "AUTH zzz"))) {
            for (String login : new String[] {":top-secret@", "joe:top-secret@"}) {
                assertThatThrownBy(() -> connect("redis://" + login + renamed.host() + ":" + renamed.port()))
                        .isInstanceOf(BackendMisconfiguredException.class)
                        .hasMessageContaining(
                                "Redis at " + renamed.host() + ":" + renamed.port() + " refused the login: ERR (")
                        .hasMessageContaining("Check user and password")
                        .satisfies(thrown -> assertThat(everythingPrinted(thrown))
                                .doesNotContain("top-secret")
                                .doesNotContain("joe"));
            }
        }
    }

    @Test
    void aPortWhereNobodyListensIsUnavailable() throws Exception {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        assertThatThrownBy(() -> connect("redis://:secret@localhost:" + port))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("No connection to Redis at localhost:" + port)
                .hasMessageContaining("Nothing was sent; check host, port and whether the server runs")
                .satisfies(thrown -> assertThat(everythingPrinted(thrown)).doesNotContain("secret"));
    }

    @Test
    void aHostThatDoesNotExistIsUnavailable() {
        assertThatThrownBy(() -> connect("redis://no-such-host.invalid:6379"))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("No connection to Redis at no-such-host.invalid:6379")
                .hasMessageContaining("UnknownHostException");
    }

    @Test
    void aServerThatNeverAnswersIsUnavailableWithinSeconds() throws Exception {
        try (ServerSocket mute = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            long start = System.nanoTime();
            assertThatThrownBy(() -> connect("redis://localhost:" + mute.getLocalPort()))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("No connection to Redis at localhost:" + mute.getLocalPort());
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(8));
        }
    }

    @Test
    void textThatIsNoUriIsRefusedWithoutRepeatingIt() {
        for (String uri : new String[] {"redis://user:secret@ho st:port", "http://secret", "secret", ""}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> connect(uri))
                    .withMessageContaining("expected redis://[user:password@]host[:port]")
                    .satisfies(thrown -> assertThat(everythingPrinted(thrown)).doesNotContain("secret"));
        }
    }

    @Test
    void aUriThatNamesNoServerIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RedisLocks.connect(RedisURI.create("redis-socket:///tmp/redis.sock"), options))
                .withMessageContaining("needs the host and port of a server, or of Sentinels");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RedisLocks.connect(
                        RedisURI.builder().withSentinel("localhost").build(), options))
                .withMessageContaining("names Sentinels and no master");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RedisLocks.connectCluster(List.of(), options))
                .withMessageContaining("none was given");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RedisLocks.connectCluster(
                        List.of(RedisURI.create("redis-sentinel://localhost#mymaster")), options))
                .withMessageContaining("names a Sentinel or a socket");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RedisLocks.connectCluster(List.of(RedisURI.create("redis://localhost/3")), options))
                .withMessageContaining("database 0 only, and the URI of localhost:6379 asks for 3");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RedisLocks.connectCluster("http://secret"))
                .withMessageContaining("Not the URI of a Redis Cluster: expected redis://")
                .satisfies(thrown -> assertThat(everythingPrinted(thrown)).doesNotContain("secret"));
    }

    /** What precedes it would be looked up in the name service as a host, and named in messages. */
    @Test
    void halfOfAPasswordThatIsNotEncodedIsNotTakenForAHost() {
        for (String login : List.of("pa#ss@", "pa/ss@", "pa?ss@", "user:pa#ss@")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> RedisLocks.connect("redis://" + login + "localhost"))
                    .withMessageContaining("Not the URI of a Redis server")
                    .withMessageContaining("Special characters in a password are percent-encoded");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> RedisLocks.connectCluster("redis://" + login + "localhost"))
                    .withMessageContaining("Not the URI of a Redis Cluster")
                    .withMessageContaining("Special characters in a password are percent-encoded");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Redlock.connect("redis://one", "redis://" + login + "two", "redis://three"))
                    .withMessageContaining("Special characters in a password are percent-encoded");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "-eval, +eval",
        "-evalsha, +evalsha",
        "-info, +info",
        "-time, +time",
        "-get, +get",
        "-mget, +mget",
        "-set, +set",
        "-del, +del",
        "-pttl, +pttl",
        "-pexpire, +pexpire",
        "-zadd, +zadd",
        "-zrange, +zrange",
        "-zrem, +zrem",
        "-zscore, +zscore",
        "-hset, +hset",
        "-hget, +hget",
        "-hdel, +hdel",
        "-publish, +publish",
        "-subscribe, +subscribe"
    })
    void aUserWithoutAGrantIsToldWhich(String taken, String named) {
        String user = "user" + System.nanoTime();
        redis.command(
                "ACL", "SETUSER", user, "on", ">secret", "~" + options.keyPrefix() + ":v1:*", "&*", "+@all", taken);
        try {
            assertThatThrownBy(() -> connect("redis://" + user + ":secret@" + redis.host() + ":" + redis.port()))
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessageContaining("does not grant this user what locks need. Missing: " + named + ".")
                    .hasMessageContaining("ACL SETUSER")
                    .satisfies(thrown -> assertThat(everythingPrinted(thrown)).doesNotContain("secret"));
        } finally {
            redis.command("ACL", "DELUSER", user);
        }
    }

    @Test
    void theGrantsOfTheDocumentationAreEnough() {
        List<String> user = new ArrayList<>(List.of("ACL", "SETUSER", "lean", "on", ">secret"));
        String keys = options.keyPrefix() + ":v1:*";
        user.addAll(List.of("resetchannels", "~" + keys, "&" + keys));
        user.addAll(List.of(DOCUMENTED.split(" ")));
        redis.command(user.toArray(String[]::new));
        try (Locks locks = RedisLocks.connect("redis://lean:secret@" + redis.host() + ":" + redis.port(), options)) {
            assertThat(locks.fenced(ACCOUNT).tryAcquire()).hasValueSatisfying(lease -> {
                lease.renew();
                assertThat(locks.fenced(ACCOUNT).tryAcquire()).isEmpty();
                lease.close();
            });
            assertThat(locks.efficiency(ACCOUNT).tryAcquire()).isPresent();
        } finally {
            redis.command("ACL", "DELUSER", "lean");
        }
    }

    @Test
    void everythingThatIsMissingIsNamedInOneMessage() {
        String keys = options.keyPrefix() + ":v1:*";
        redis.command(
                "ACL", "SETUSER", "poor", "on", ">secret", "resetchannels", "~" + keys, "+@all", "-zadd", "-mget");
        try {
            assertThatThrownBy(() -> connect("redis://poor:secret@" + redis.host() + ":" + redis.port()))
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessageContaining("Missing: &" + keys + " +mget +zadd.")
                    .hasMessageContaining("ACL SETUSER <user> &" + keys + " +mget +zadd.");
        } finally {
            redis.command("ACL", "DELUSER", "poor");
        }
    }

    @Test
    void aUserWithoutOurKeysIsToldThePattern() {
        redis.command("ACL", "SETUSER", "strange", "on", ">secret", "~other:*", "&*", "+@all");
        try {
            assertThatThrownBy(() -> connect("redis://strange:secret@" + redis.host() + ":" + redis.port()))
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessageContaining("Missing: ~" + options.keyPrefix() + ":v1:*.");
        } finally {
            redis.command("ACL", "DELUSER", "strange");
        }
    }

    @Test
    void aGrantThatIsTakenAwayLaterIsNamedAtTheNextAcquisition() {
        redis.command("ACL", "SETUSER", "fading", "on", ">secret", "~*", "+@all");
        try (Locks locks = RedisLocks.connect("redis://fading:secret@" + redis.host() + ":" + redis.port(), options)) {
            assertThat(locks.fenced(ACCOUNT).tryAcquire()).hasValueSatisfying(FencedLease::close);
            redis.command("ACL", "SETUSER", "fading", "-mget");
            assertThatThrownBy(() -> locks.fenced(ACCOUNT).acquire())
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessageContaining("Lock 'account:42' not acquired")
                    .hasMessageContaining("can't run this command");
        } finally {
            redis.command("ACL", "DELUSER", "fading");
        }
    }

    @Test
    void absurdLeasesAndNamesAreRefusedBeforeAnythingIsSent() {
        for (Duration lease : new Duration[] {Duration.ZERO, Duration.ofSeconds(-1), Duration.ofDays(40_000)}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> LockOptions.builder().lease(lease).build())
                    .withMessageContaining("lease of ")
                    .withMessageContaining("is not between 100 ms and 24 h");
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockName.parse(""))
                .withMessageContaining("A lock name is empty");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockName.of("account", "x".repeat(10_000)))
                .withMessageContaining("at most 512 are allowed");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockOptions.builder().keyPrefix("a{b}").build())
                .withMessageContaining("keyPrefix 'a{b}' cannot be used");
    }

    private void connect(String uri) {
        RedisLocks.connect(uri, options).close();
    }

    private static String everythingPrinted(Throwable thrown) {
        StringWriter text = new StringWriter();
        thrown.printStackTrace(new PrintWriter(text));
        return text.toString();
    }
}
