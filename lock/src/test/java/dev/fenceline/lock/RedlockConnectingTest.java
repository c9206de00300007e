package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.Servers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Which nodes make a Redlock, and how a first start is told from a loss of data. */
@Tag("server")
class RedlockConnectingTest {

    private final LockOptions options = Fixture.options().build();
    private final List<RedisProcess> three = FiveServers.NODES.subList(0, 3);

    private String key() {
        return new KeySpace(options.keyPrefix()).node();
    }

    @Test
    void twoAddressesOfOneServerAreRefused() {
        RedisProcess twice = three.get(0);
        try (FaultProxy detour = FaultProxy.to(twice.host(), twice.port())) {
            String other = "redis://" + detour.host() + ":" + detour.port();
            RedlockConnector redlock =
                    Redlock.of(twice.uri(), three.get(1).uri(), other).options(options);
            assertThatThrownBy(redlock::connect)
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessageMatching(
                            "Redis at \\S+ and Redis at \\S+ are one server \\(run_id [0-9a-f]{40}\\), and would have two"
                                    + " votes of what has to be independent\\. Name each server once, by one address\\.");
            LockOptions unmarked = Fixture.options().build();
            assertThatThrownBy(() -> Redlock.of(twice.uri(), three.get(1).uri(), other)
                            .options(unmarked)
                            .firstStart())
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessageContaining("No node was marked: Redis at ")
                    .hasMessageContaining(" are one server. Name each server once.");
            assertThat(twice.command("EXISTS", new KeySpace(unmarked.keyPrefix()).node()))
                    .isEqualTo("0");
        }
    }

    @Test
    void aReplicaOfAnotherNodeIsRefused() {
        try (EmbeddedServers servers = Servers.embedded()) {
            RedisProcess replica = servers.redis(RedisSpec.master().replicaOf(three.get(0)));
            RedlockConnector redlock = Redlock.of(
                            three.get(0).uri(), three.get(1).uri(), replica.uri())
                    .options(options);
            assertThatThrownBy(redlock::connect)
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessageContaining("Redis at " + replica.host() + ":" + replica.port())
                    .hasMessageContaining("replica");
            LockOptions unmarked = Fixture.options().build();
            assertThatThrownBy(() -> redlock.options(unmarked).firstStart())
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessageContaining("Redis at " + replica.host() + ":" + replica.port())
                    .hasMessageContaining("replica");
            assertThat(three.get(0).command("EXISTS", new KeySpace(unmarked.keyPrefix()).node()))
                    .isEqualTo("0");
        }
    }

    /** What the documentation of RedisLocks and Redlock grants, by name. */
    private static final String GRANTS =
            "+eval +evalsha +info +time +get +mget +set +del +pttl +pexpire +zadd +zrange +zrem +zscore"
                    + " +hset +hget +hdel +publish +hmget";

    private RedlockConnector asUser(String grants) {
        List<String> words = new ArrayList<>(
                List.of("ACL", "SETUSER", "locker", "reset", "resetchannels", "on", ">geheim", "-@all"));
        words.addAll(List.of(grants.split(" ", -1)));
        words.add("~" + options.keyPrefix() + ":v1:*");
        words.add("&" + options.keyPrefix() + ":v1:*");
        three.forEach(node -> node.command(words.toArray(String[]::new)));
        return Redlock.of(three.stream()
                        .map(node -> "redis://locker:geheim@" + node.host() + ":" + node.port())
                        .toArray(String[]::new))
                .options(options)
                .nodeTimeout(FiveServers.NODE_TIMEOUT);
    }

    @Test
    void aUserWithTheGrantsThatAreToldCanDoEverything() throws InterruptedException {
        RedlockConnector redlock = asUser(GRANTS).firstStart();
        try (Locks locks = redlock.connect()) {
            try (FencedLease lease = locks.fenced(ACCOUNT).acquire()) {
                lease.renew();
                locks.fenced(ACCOUNT).raiseFloor(lease.token());
            }
            locks.fenced(ACCOUNT).acquire().close();
            locks.efficiency(ACCOUNT)
                    .holdAtLeast(Duration.ofMillis(1))
                    .acquire()
                    .close();
        }
    }

    @Test
    void aGrantThatOnlyRedlockNeedsIsNamedWhenItIsMissing() {
        RedlockConnector redlock = asUser(GRANTS.replace(" +hmget", ""));
        assertThatThrownBy(redlock::connect)
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageContaining(
                        "does not grant this user what locks need. Missing: +hmget. Give them with ACL SETUSER <user>"
                                + " +hmget.")
                .hasMessageNotContaining("geheim");
        RedlockConnector without = asUser(GRANTS.replace(" +hset", ""));
        assertThatThrownBy(without::firstStart)
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageContaining("does not grant this user what locks need. Missing: +hset.");
    }

    @Test
    void whatIsNoSetOfIndependentServersIsRefusedBeforeAnythingIsSent() {
        assertThatThrownBy(() -> Redlock.of("redis://a", "redis://b"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Redlock needs three nodes or more, since with 2 none may fail. Give each node as an argument"
                                + " of its own; for one server use RedisLocks.connect.");
        assertThatThrownBy(() -> Redlock.of("redis://a", "redis://b", "redis://user:secret@a"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("The node a:6379 is there twice, and would have two votes. Name each server once.");
        assertThatThrownBy(() -> Redlock.of("redis://a", "redis://b", "redis-sentinel://c:26379#main"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("the URI of node 3 of 3 names Sentinels or a socket");
        assertThatThrownBy(() -> Redlock.of("redis://a", "redis://b", "http://user:secret@c"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Argument 3 of 3 is not the URI of one node of Redlock: expected"
                        + " redis://[user:password@]host[:port][/database], or rediss:// for TLS, and each node as an argument of"
                        + " its own. Special characters in a password are percent-encoded.");
        assertThatThrownBy(() -> Redlock.connect("redis://user:sec,ret@one,two,three"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Argument 1 of 1 is not the URI of one node of Redlock: ")
                .hasMessageContaining("each node as an argument of its own")
                .hasMessageNotContaining("ret");
        assertThat(Redlock.of("redis://:a,b@one", "redis://two", "redis://three"))
                .as("a comma in a password is none between nodes")
                .isNotNull();
    }

    @Test
    void settingsThatDoNotGoTogetherAreRefused() {
        RedlockConnector redlock = Redlock.of("redis://a", "redis://b", "redis://c");
        LockOptions replicated = Fixture.options().replicas(1).build();
        assertThatThrownBy(() -> redlock.options(replicated))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(
                        "replicas of 1 cannot be waited for: the nodes of Redlock are independent masters");
        assertThatThrownBy(() -> redlock.nodeTimeout(Duration.ofMillis(600)).connect())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "nodeTimeout of 600 ms is not between 1 ms and 500 ms, a quarter of the lease of 10000 ms and half of"
                                + " the commandTimeout of 1000 ms at most.");
        assertThatThrownBy(() -> redlock.nodeTimeout(Duration.ZERO).firstStart())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("nodeTimeout of 0 ms is not between 1 ms and 500 ms");
    }

    @Test
    void aMajorityHasToBeThere() throws InterruptedException {
        try (FaultProxy one = FaultProxy.to(three.get(0).host(), three.get(0).port());
                FaultProxy two = FaultProxy.to(three.get(1).host(), three.get(1).port())) {
            RedlockConnector redlock = Redlock.of(
                            "redis://" + one.host() + ":" + one.port(),
                            "redis://" + two.host() + ":" + two.port(),
                            three.get(2).uri())
                    .options(options)
                    .nodeTimeout(FiveServers.NODE_TIMEOUT)
                    .firstStart();
            one.refuse();
            try (Locks locks = redlock.connect();
                    FencedLease lease = locks.fenced(ACCOUNT).acquire()) {
                lease.requireHeld();
            }
            two.refuse();
            assertThatThrownBy(redlock::connect)
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageStartingWith("No connection to a majority of Redlock over Redis at ")
                    .hasMessageContaining(": 1 of 3 nodes are there, and 2 are needed (No connection to Redis at ")
                    .hasMessageEndingWith("Nothing was sent; check hosts, ports and whether the servers run.");
            assertThatThrownBy(redlock::firstStart)
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("No connection to Redis at ");
        }
    }

    @Test
    void aFirstStartIsOneOfNodesThatWereNeverUsed() {
        RedlockConnector redlock = Redlock.of(FiveServers.uris(three)).options(options);
        var unused = redlock.firstStart();
        assertThat(three)
                .allSatisfy(
                        node -> assertThat(node.command("HGET", key(), "boot")).endsWith("|0|0"));
        // Called again, it changes nothing.
        assertThat(redlock.firstStart()).isSameAs(redlock);
        RedisProcess wiped = three.get(1);
        wiped.command("DEL", key());
        assertThatThrownBy(redlock::firstStart)
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageStartingWith("No node was marked: ")
                .hasMessageContaining(
                        " were used before, if only by a connect that was refused, so this is no first start, and"
                                + " Redis at " + wiped.host() + ":"
                                + wiped.port() + " is new or lost its data.");
        assertThat(wiped.command("EXISTS", key())).isEqualTo("0");
    }

    /** Nothing is lost by that: what was not marked waits once, as it would have without a first start. */
    @Test
    void aFirstStartThatEndsHalfWaySaysWhatWasMarkedAndLeavesTheOthersToTheirWait() throws InterruptedException {
        LockOptions brief = Fixture.options().lease(Duration.ofMillis(500)).build();
        try (FaultProxy away = FaultProxy.to(three.get(2).host(), three.get(2).port())) {
            String third = "redis://" + away.host() + ":" + away.port();
            RedlockConnector redlock = Redlock.of(
                            three.get(0).uri(), three.get(1).uri(), third)
                    .options(brief)
                    .nodeTimeout(Duration.ofMillis(125));
            FaultProxy.Armed dropped = away.onRequest("$4\r\nMARK\r\n").dropRequest(FaultProxy.Cut.RST);
            assertThatThrownBy(redlock::firstStart)
                    .isInstanceOf(OutcomeUnknownException.class)
                    .hasMessageStartingWith("Redis at " + three.get(0).host() + ":"
                            + three.get(0).port()
                            + ", Redis at " + three.get(1).host() + ":"
                            + three.get(1).port()
                            + " were marked as new, and Redis at " + away.host() + ":" + away.port()
                            + " did not answer (the connection to ")
                    .hasMessageEndingWith(
                            "), so it was or was not. A node that was not marked grants nothing for one lease"
                                    + " once somebody connects, and then goes on; leave it to that.");
            assertThat(dropped.fired()).isTrue();
            assertThat(three.get(2).command("EXISTS", new KeySpace(brief.keyPrefix()).node()))
                    .isEqualTo("0");
            assertThatThrownBy(redlock::firstStart)
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessageContaining(
                            " is new or lost its data. It grants nothing for one lease once somebody connects,"
                                    + " and then goes on; leave it to that.");
            try (Locks locks = redlock.connect()) {
                locks.fenced(ACCOUNT).acquire().close();
            }
        }
    }

    @Test
    void connectingAndAFirstStartAreNotInterruptedAndKeepTheFlag() {
        RedlockConnector redlock = Redlock.of(FiveServers.uris(three)).options(options);
        Thread.currentThread().interrupt();
        assertThat(redlock.firstStart()).isSameAs(redlock);
        assertThat(Thread.interrupted()).isTrue();
        Thread.currentThread().interrupt();
        redlock.connect().close();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(three)
                .allSatisfy(
                        node -> assertThat(node.command("HGET", key(), "boot")).endsWith("|0|0"));
    }
}
