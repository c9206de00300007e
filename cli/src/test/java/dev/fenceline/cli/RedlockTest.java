package dev.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.fenceline.FencedLease;
import dev.fenceline.Lease;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.lock.Redlock;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.Servers;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The nodes of Redlock, as an operator sees and marks them. */
@Tag("server")
class RedlockTest {

    private static final EmbeddedServers SERVERS = Servers.embedded();
    private static final List<RedisProcess> NODES =
            Stream.generate(() -> SERVERS.redis(RedisSpec.master())).limit(3).toList();
    private static final LockName ORDER = LockName.of("order", 42);

    private final String prefix = "cli-" + UUID.randomUUID().toString().substring(0, 8);

    @AfterAll
    static void stop() {
        SERVERS.close();
    }

    private static String nodes(List<RedisProcess> nodes) {
        return nodes.stream()
                .map(node -> node.host() + ":" + node.port())
                .collect(Collectors.joining(",", "redis://", ""));
    }

    private ScriptedTerminal terminal() {
        return new ScriptedTerminal().with("FENCELINE_REDLOCK", nodes(NODES));
    }

    private Ran run(String... words) {
        return run(terminal(), words);
    }

    private Ran run(ScriptedTerminal terminal, String... words) {
        return terminal.run(
                Stream.concat(Stream.of("redlock"), Stream.concat(Stream.of(words), Stream.of("--key-prefix", prefix)))
                        .toArray(String[]::new));
    }

    private Locks locks() {
        return Redlock.of(NODES.stream().map(RedisProcess::uri).toArray(String[]::new))
                .options(LockOptions.builder()
                        .keyPrefix(prefix)
                        .application("billing")
                        .lease(Duration.ofSeconds(60))
                        .build())
                .nodeTimeout(Duration.ofMillis(500))
                .connect();
    }

    @Test
    void newNodesAreMarkedOnceAndThenTakePart() {
        assertThat(run("show").ends(0).out().lines())
                .hasSize(3)
                .allSatisfy(line -> assertThat(line)
                        .endsWith(
                                ": never used, or lost its data: grants nothing for one lease once somebody connects"));
        run("first-start")
                .failsWith(
                        2,
                        "This says of 3 nodes that no lock was ever held there.",
                        "locks that are held now can be granted again. Nobody can be asked here",
                        "--yes");
        assertThat(run("first-start", "--yes").ends(0).out())
                .startsWith("Marked as new: all 3 nodes. They grant from now on.");
        assertThat(run("show").ends(0).out().lines())
                .allSatisfy(line -> assertThat(line).endsWith(": takes part"));
        JsonNode again = run("first-start", "--json").ends(0).json();
        assertThat(again.at("/marked").asBoolean()).isFalse();
        assertThat(again.at("/nodes/0/status").asText()).isEqualTo("known");
    }

    @Test
    void aLockIsShownAtEachNode() throws InterruptedException {
        run("first-start", "--yes").ends(0);
        try (Locks locks = locks();
                FencedLease order = locks.fenced(ORDER).acquire();
                Lease nightly =
                        locks.efficiency(LockName.of("report", "nightly")).acquire()) {
            assertThat(run("show", "order:42").ends(0).out())
                    .containsPattern("^Lock 'order:42' \\(fenced\\) is held at [23] of 3 nodes\\.")
                    .contains(
                            "order:42 (fenced) held by billing (host ",
                            "token " + order.token().value() + "/",
                            "its next token is above " + order.token().value());
            JsonNode json = run("show", "report:nightly", "--kind", "efficiency", "--json")
                    .ends(0)
                    .json();
            assertThat(json.at("/nodes").findValuesAsText("application")).contains("billing");
            assertThat(json.at("/nodes/0/counter").isNull()).isTrue();
            assertThat(nightly.isHeld()).isTrue();
            assertThat(run("show", "report:nightly").ends(0).out())
                    .startsWith("Lock 'report:nightly' (fenced) is held at no majority of the 3 nodes.");
        }
    }

    @Test
    void aNodeThatIsAwayHidesNoneOfTheOthersAndIsNotMarkedAround() {
        try (FaultProxy away = FaultProxy.to(NODES.get(2).host(), NODES.get(2).port())) {
            away.refuse();
            ScriptedTerminal terminal = new ScriptedTerminal()
                    .with("FENCELINE_REDLOCK", nodes(NODES.subList(0, 2)) + "," + away.host() + ":" + away.port());
            JsonNode json = run(terminal, "show", "--json").ends(0).json();
            assertThat(json.at("/nodes").findValuesAsText("status")).containsExactly("new", "new", "unknown");
            assertThat(json.at("/nodes/2/trouble").asText()).startsWith("No connection to Redis at ");
            run(terminal, "first-start", "--yes").failsWith(3, "No connection to Redis at ");
            assertThat(run("show").ends(0).out()).doesNotContain("takes part");
        }
    }

    /** It could be asked a moment later, so that all were new then: nobody had said that this is meant. */
    @Test
    void nodesAreNotMarkedUnconfirmedThoughOneCouldNotBeAskedAtFirst() {
        try (FaultProxy flaky = FaultProxy.to(NODES.get(2).host(), NODES.get(2).port())) {
            FaultProxy.Armed looked = flaky.onRequest("EVALSHA").dropRequest(FaultProxy.Cut.RST);
            ScriptedTerminal terminal = new ScriptedTerminal()
                    .with("FENCELINE_REDLOCK", nodes(NODES.subList(0, 2)) + "," + flaky.host() + ":" + flaky.port());
            run(terminal, "first-start")
                    .failsWith(2, "This says of 3 nodes that no lock was ever held there.", "--yes");
            assertThat(looked.fired()).isTrue();
            assertThat(run("show").ends(0).out()).doesNotContain("takes part");
        }
    }

    /** Nobody marked them: they wait, for as long as their programs say, and are told from those that have waited. */
    @Test
    void nodesThatWaitAreToldFromThoseThatHaveWaited() {
        locks().close();
        JsonNode waiting = run("show", "--json", "--lease", "1h").ends(0).json().at("/nodes/0");
        assertThat(waiting.at("/status").asText()).isEqualTo("waiting");
        Instant reborn = Instant.parse(waiting.at("/reborn").asText());
        assertThat(Instant.parse(waiting.at("/waitsUntil").asText())).isEqualTo(reborn.plus(Duration.ofHours(1)));
        assertThat(run("show", "--lease", "1h").ends(0).out())
                .contains(": grants nothing until " + reborn.plus(Duration.ofHours(1))
                        + ", one lease after it was new or reborn at " + reborn);
        String node = prefix + ":v1:{redlock}:node";
        String boot = NODES.get(0).command("HGET", node, "boot");
        NODES.get(0).command("HSET", node, "boot", boot.replaceFirst("\\|\\d+\\|(\\d+)$", "|1000000|$1"));
        assertThat(run("show", "--lease", "1h").ends(0).out())
                .contains(": takes part; it was new or reborn at 1970-01-01T00:00:01Z, and has waited for one lease");
        JsonNode waited = run("show", "--json", "--lease", "1h").ends(0).json().at("/nodes/0");
        assertThat(waited.at("/status").asText()).isEqualTo("known");
        assertThat(waited.at("/waitsUntil").isNull()).isTrue();
    }

    /** Between the look and the marking somebody connected to all of them: they are used now, and wait. */
    @Test
    void nodesThatSomebodyElseUsedMeanwhileAreNotCalledMarked() throws Exception {
        try (FaultProxy slow = FaultProxy.to(NODES.get(2).host(), NODES.get(2).port())) {
            // Of the check before the marking; the look before it sends none.
            FaultProxy.Armed checking = slow.onRequest(prefix + ":v1:probe:").holdRequest();
            ScriptedTerminal terminal = new ScriptedTerminal()
                    .with("FENCELINE_REDLOCK", nodes(NODES.subList(0, 2)) + "," + slow.host() + ":" + slow.port());
            CompletableFuture<Ran> marking =
                    CompletableFuture.supplyAsync(() -> run(terminal, "first-start", "--yes", "--lease", "1h"));
            checking.awaitFired(Duration.ofSeconds(30));
            locks().close();
            checking.letGo();
            assertThat(marking.get(30, TimeUnit.SECONDS).ends(0).out())
                    .startsWith("All 3 nodes were marked or used before; nothing was changed.")
                    .contains(": grants nothing until ");
        }
    }

    /** "Released" would be untrue: the other nodes have the lock still. */
    @Test
    void atOneNodeALockIsShownAsItsShareAndNotTakenFromItsHolder() throws InterruptedException {
        run("first-start", "--yes").ends(0);
        try (Locks locks = locks();
                FencedLease order = locks.fenced(ORDER).acquire()) {
            ScriptedTerminal one =
                    new ScriptedTerminal().with("FENCELINE_REDIS", NODES.get(0).uri());
            Waits.until(
                    "the node has granted it too",
                    Duration.ofSeconds(10),
                    () -> one.run("locks", "show", "order:42", "--key-prefix", prefix)
                            .out()
                            .contains("held by billing"));
            assertThat(one.run("locks", "show", "order:42", "--key-prefix", prefix)
                            .ends(0)
                            .out())
                    .contains(
                            "This server is one node of Redlock, and shows its own share alone",
                            "fenceline redlock show order:42 --kind fenced --nodes redis://one,two,three");
            JsonNode other = one.run("locks", "show", "order:43", "--key-prefix", prefix, "--json")
                    .ends(0)
                    .json();
            assertThat(other.at("/redlockNode").asBoolean()).isTrue();
            one.run("locks", "force-release", "order:42", "--key-prefix", prefix, "--yes")
                    .failsWith(
                            1,
                            "Lock 'order:42' not released: this server is one node of Redlock",
                            "Nothing was changed. Wait until the lease is over, or stop the process that holds it",
                            "delete its key '" + prefix + ":v1:{redlock}:node' first.");
            one.run("locks", "force-release", "order:43", "--key-prefix", prefix, "--yes")
                    .failsWith(1, "Lock 'order:43' not released: this server is one node of Redlock");
            assertThat(run("show", "order:42").ends(0).out())
                    .containsPattern("^Lock 'order:42' \\(fenced\\) is held at [23] of 3 nodes\\.");
            order.requireHeld();
        }
    }

    /** Of two that could not be asked each may have it. */
    @Test
    void aLockIsNotCalledFreeOfAMajorityWhereOthersCouldNotBeAsked() throws InterruptedException {
        run("first-start", "--yes").ends(0);
        try (Locks locks = locks();
                FencedLease order = locks.fenced(ORDER).acquire();
                FaultProxy away =
                        FaultProxy.to(NODES.get(1).host(), NODES.get(1).port());
                FaultProxy gone =
                        FaultProxy.to(NODES.get(2).host(), NODES.get(2).port())) {
            away.refuse();
            gone.refuse();
            String nodes = nodes(NODES.subList(0, 1)) + "," + away.host() + ":" + away.port() + "," + gone.host() + ":"
                    + gone.port();
            assertThat(run(new ScriptedTerminal().with("FENCELINE_REDLOCK", nodes), "show", "order:42")
                            .ends(0)
                            .out())
                    .startsWith("Lock 'order:42' (fenced) may be held: 2 of the 3 nodes could not be asked.");
            assertThat(order.isHeld()).isTrue();
        }
    }

    @Test
    void whereOneWasUsedBeforeItIsNoFirstStart() {
        run("first-start", "--yes").ends(0);
        NODES.get(1).command("DEL", prefix + ":v1:{redlock}:node");
        run("first-start", "--yes")
                .failsWith(
                        1,
                        "No node was marked: ",
                        " were used before, if only by a connect that was refused, so this is no first start, and Redis at "
                                + NODES.get(1).host() + ":" + NODES.get(1).port() + " is new or lost its data.");
    }

    @Test
    void nodesThatCannotBeMeantAreUsage() {
        new ScriptedTerminal()
                .run("redlock", "show")
                .fails(2, "No nodes are named: give --nodes redis://one,two,three, or set FENCELINE_REDLOCK.");
        new ScriptedTerminal()
                .run("redlock", "show", "--nodes", "redis://one,two")
                .fails(
                        2,
                        "The address of --nodes is refused: Redlock needs three nodes or more, since with 2 none may fail, and all of"
                                + " them are to be named. For one server use --redis with the locks commands.");
        new ScriptedTerminal()
                .run("redlock", "show", "--nodes", "redis://one,two,three", "--lease", "0s")
                .failsWith(2, "Invalid value for option '--lease': 0s is not from 1s to 30d.");
        new ScriptedTerminal()
                .run("redlock", "show", "--nodes", "redis://:geheim@one,two,three")
                .failsWith(2, "A login in --nodes");
        new ScriptedTerminal()
                .with("FENCELINE_REDLOCK", "http://geheim@one,two,three")
                .run("redlock", "show")
                .fails(
                        2,
                        "The address of FENCELINE_REDLOCK is none of Redlock. It reads"
                                + " redis://host[:port],host[:port],host[:port],…, with rediss for TLS.");
    }

    /** Behind such a letter a URI has no login any more, and what stands before it would be taken for hosts, and named. */
    @Test
    void aPasswordThatCannotStandInAUriIsNotTakenForHosts() {
        new ScriptedTerminal()
                .with("FENCELINE_REDLOCK", "redis://ge,he,im#nis@one,two,three")
                .run("redlock", "show")
                .fails(
                        2,
                        "The address of FENCELINE_REDLOCK is none of Redlock. It reads"
                                + " redis://host[:port],host[:port],host[:port],…, with rediss for TLS.");
        new ScriptedTerminal()
                .with("FENCELINE_REDIS", "redis://geheim#nis@localhost:1")
                .run("locks", "ls")
                .failsWith(2, "The address of FENCELINE_REDIS is none of Redis. It reads redis://host[:port], ");
    }

    @Test
    void whoeverIsThereIsAskedForAPasswordIfOneIsWanted() {
        try (EmbeddedServers servers = Servers.embedded()) {
            String nodes =
                    nodes(Stream.generate(() -> servers.redis(RedisSpec.master().password("geheim")))
                            .limit(3)
                            .toList());
            ScriptedTerminal terminal =
                    new ScriptedTerminal().with("FENCELINE_REDLOCK", nodes).answering("geheim");
            assertThat(run(terminal, "show").ends(0).out()).contains("never used");
            assertThat(terminal.questions).containsExactly("[hidden] Password of Redis: ");
            run(new ScriptedTerminal().with("FENCELINE_REDLOCK", nodes), "show")
                    .failsWith(3, "No node could be asked: Redis at ", "NOAUTH");
            ScriptedTerminal silent =
                    new ScriptedTerminal().with("FENCELINE_REDLOCK", nodes).with("FENCELINE_REDIS_PASSWORD", "geheim");
            assertThat(run(silent, "first-start", "--yes").ends(0).out()).startsWith("Marked as new: all 3 nodes.");
        }
    }
}
